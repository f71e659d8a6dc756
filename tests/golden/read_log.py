# SPDX-License-Identifier: BSD-2-Clause
"""A second reader of span logs, written from docs/log-format.md alone: prints each record as a line with every member.

read_log.py LOG            the records, as in the .txt files beside the golden logs
read_log.py --index LOG    what the index says, checked against the blocks
read_log.py --layout LOG   every block, section and shape: how a log is made up
"""
import ctypes
import struct
import sys

M = (1 << 64) - 1


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def table_entry(n):
    for _ in range(8):
        n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
    return n


TABLE = [table_entry(n) for n in range(256)]


def require(holds, what):
    if not holds:
        sys.exit(f"read_log.py: {what}")


def unpack_payload(codec, stored, raw_bytes):
    if codec == 0:
        return stored
    out = ctypes.create_string_buffer(raw_bytes)
    if codec == 1:
        zstd = ctypes.CDLL("libzstd.so.1")
        zstd.ZSTD_decompress.restype = ctypes.c_size_t
        length = zstd.ZSTD_decompress(out, ctypes.c_size_t(raw_bytes), stored, ctypes.c_size_t(len(stored)))
    else:
        length = ctypes.CDLL("liblz4.so.1").LZ4_decompress_safe(stored, out, len(stored), raw_bytes)
    require(length == raw_bytes, "a payload does not unpack to what its header says")
    return out.raw


# ---- numbers ----

class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def leb128(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def zigzag(self):
        return unzigzag(self.leb128())

    def take(self, length):
        self.at += length
        require(self.at <= len(self.data), "a length leads beyond its section")
        return self.data[self.at - length:self.at]


def unzigzag(n):
    return -(n + 1 >> 1) if n & 1 else n >> 1


def signed(n):
    n &= M
    return n - (1 << 64) if n >> 63 else n


class Column:
    """Codes, the first byte of which says how many bits of each number are always raw, and the raw bits, the lowest of each byte first."""

    def __init__(self, codes, bits):
        self.codes = Bytes(codes)
        self.low = self.codes.take(1)[0] if codes else 0
        self.bits, self.bit = bits, 0

    def raw(self, count):
        first, shift = divmod(self.bit, 8)
        self.bit += count
        require(self.bit <= len(self.bits) * 8, "a column has too few raw bits")
        return int.from_bytes(self.bits[first:first + 9], "little") >> shift & (1 << count) - 1

    def next(self):
        code = self.codes.take(1)[0]
        if code < 128:
            return code << self.low | self.raw(self.low)
        require(code < 242, "there is no such code")
        count = self.low + (code - 128) // 2 + 6
        require(count <= 62, "a number has too many bits")
        return (2 + (code & 1)) << count | self.raw(count)


class Thread:
    def __init__(self, tid, pid):
        self.tid, self.pid = tid, pid
        self.left = self.ready = self.spanned = self.told = 0
        self.waits, self.waits_for = [], 1
        self.exited = self.current = 0

    def off_cpu(self, begin, stay, parts):
        """Adds to the parts of a ledger what the thread has waited for since begin; it has been on a CPU since stay."""
        last = [(self.left, self.ready, stay, self.waits_for)] if self.left else []
        for left, ready, until, part in self.waits + last:
            parts[part] += max(0, ready - max(left, begin))
            parts[1] += max(0, until - max(ready, begin))


class Batch:
    def __init__(self, payload):
        source = Bytes(payload)
        directory = [(source.leb128(), source.leb128()) for _ in range(source.leb128())]
        self.sections = {}
        for section, length in directory:
            self.sections[section] = source.take(length)
        self.threads = self.read_threads()
        self.names, self.texts = self.read_strings(2), self.read_strings(3)
        self.objects = self.read_objects()
        self.slots = [0] * (self.section(5).leb128() if 5 in self.sections else 0)
        self.shapes = self.read_shapes()
        self.columns = {}
        self.order, self.order_more = self.section(7), self.section(8)
        self.time = self.used = 0
        self.cpu_end, self.mentions, self.sums = {}, {}, {}

    def section(self, number):
        return Bytes(self.sections.get(number, b"\0"))

    def column(self, section):
        return Column(self.sections.get(section, b""), self.sections.get(section + 1, b""))

    def read_threads(self):
        source, tid, pid, threads = self.section(1), 0, 0, []
        for _ in range(source.leb128()):
            tid += source.zigzag()
            pid += source.zigzag()
            threads.append(Thread(tid, pid))
        return threads

    def read_strings(self, number):
        source = self.section(number)
        lengths = [source.leb128() for _ in range(source.leb128())]
        return [source.take(length) for length in lengths]

    def read_objects(self):
        source, value, objects = self.section(4), 0, []
        for _ in range(source.leb128()):
            value = value + source.zigzag() & M
            objects.append(value)
        return objects

    def read_shapes(self):
        source = self.section(6)
        kinds = [source.leb128() for _ in range(source.leb128())]
        counts = [source.leb128() for _ in kinds]
        fields, own = [[] for _ in kinds], 65536
        for field in range(max(counts, default=0)):
            for shape, count in enumerate(counts):
                if field < count:
                    code = source.leb128()
                    section = 256 + kinds[shape] * 128 + field * 2
                    if code == 0:
                        fields[shape].append((section, 0))
                    elif code == 1:
                        fields[shape].append((section, source.zigzag()))
                    elif code == 2:
                        fields[shape].append((own, source.zigzag()))
                        own += 2
                    elif code == 3:
                        fields[shape].append((None, source.leb128()))
                    else:
                        fields[shape].append((None, code - 4))
        return list(zip(kinds, fields))

    def next_number(self, section):
        if section not in self.columns:
            self.columns[section] = self.column(section)
        return self.columns[section].next()

    def next(self):
        """The kind and the fields of the next record."""
        shape = self.order.take(1)[0]
        if shape >= 224:
            shape = 224 + (shape - 224) * 256 + self.order_more.take(1)[0]
        kind, told = self.shapes[shape]
        fields = [(self.next_number(section) if section else 0) + number & M for section, number in told]
        self.time = self.time + (fields[0] if fields else 0) & M
        return kind, fields + [0] * (64 - len(fields))

    def name(self, field):
        return self.names[field - 1] if field else b""

    def text(self, field):
        if field == 0:
            return b""
        if field == 1:
            self.used += 1
            return self.texts[self.used - 1]
        return self.texts[self.used - (field - 1)]

    def id(self, slot, field, own=0):
        if slot == 0:
            return field
        if slot == 1:
            return own - field & M
        self.slots[slot - 3] = self.slots[slot - 3] + field & M
        return self.slots[slot - 3]

    def span_id(self, thread, slot, field, own=0):
        return thread.current + field & M if slot == 2 else self.id(slot, field, own)


    def mention(self, span, time):
        """A moment at which this span was there."""
        known, first = self.mentions.get(place(span, 52), (0, 0))
        if known != span or time < first:
            self.mentions[place(span, 52)] = span, time

    def mentioned(self, span):
        known, first = self.mentions.get(place(span, 52), (0, 0))
        return first if known == span else 0

    def child_sums(self, parent):
        known, parts = self.sums.get(place(parent, 54), (0, [0] * 12))
        return parts if known == parent else [0] * 12


def place(span, shift):
    return (span * 0x9E3779B97F4A7C15 & M) >> shift


# ---- the records ----

def ledger_basis(batch, thread, f, own, begin):
    if f[29] == 1:
        return batch.child_sums(own) + [0, 0]
    parts = [0] * 14
    if f[29] >= 2:
        stay = thread.ready if f[29] == 2 else thread.told if f[29] == 3 else batch.cpu_end.get((f[29] - 4) % 1024, 0)
        thread.off_cpu(begin, stay, parts)
        if begin < thread.left:
            thread.told = stay + f[16] & M
    return parts


REASONS = "lock disk network sleep page_fault pipe wait stopped other throttled poll".split()


def blocked(parts):
    return {name + "_ns": part for name, part in zip(REASONS, parts)}


def read_ledger(batch, thread, f, own, parent, begin, work):
    parts = [number + basis & M for number, basis in zip(f[15:29], ledger_basis(batch, thread, f, own, begin))]
    if f[14]:
        parts[f[14] - 1] = work - sum(part for i, part in enumerate(parts) if i != f[14] - 1) & M
    if parent:
        sums = [sum_ + part & M for sum_, part in zip(batch.child_sums(parent), parts)]
        batch.sums[place(parent, 54)] = parent, sums
    return parts


def read_span(batch, f):
    thread, end = batch.threads[f[1]], batch.time
    label, tag, key = batch.name(f[4]), batch.text(f[5]), batch.text(f[6])
    end_thread = batch.threads[f[2] - 2] if f[2] > 1 else thread
    end_tid = end_thread.tid if f[2] else 0
    own = batch.span_id(end_thread, f[9], f[10])
    parent = batch.span_id(end_thread, f[11], f[12], own)
    end_thread.current = parent or own
    begin = (end - f[8], thread.spanned + f[8], batch.mentioned(own) - f[8])[f[7]] & M
    thread.spanned = end
    if parent:
        batch.mention(parent, begin)
    work = end - begin + f[13] & M
    parts = read_ledger(batch, end_thread, f, own, parent, begin, work)
    return dict(end_ns=end, begin_ns=begin, pid=thread.pid, tid=thread.tid, end_tid=end_tid, id=own, parent=parent, flags=f[3], work_ns=work,
                on_cpu_ns=parts[0], runnable_ns=parts[1], **blocked(parts[2:12] + [f[31]]), detached_ns=parts[12], unknown_ns=parts[13],
                interrupt_ns=f[30], stolen_ns=f[32], stolen_max_ns=f[32] + f[33] & M if f[33] else 0, label=label, tag=tag, key=key)


def read_run(batch, f):
    thread, end, cpu = batch.threads[f[1]], batch.time, f[2] % 1024
    begin = (batch.cpu_end.get(cpu, 0) + f[4], end - f[4], thread.ready + f[4], thread.told + f[4])[f[3]] & M
    runnable = (begin - thread.ready if thread.ready else 0) + f[5] & M
    blocked = (begin - runnable - thread.left if thread.left else 0) + f[6] & M
    if thread.left:
        thread.waits = thread.waits[-7:] + [(thread.left, begin - runnable & M, begin, thread.waits_for)]
    thread.waits_for = 2 + f[8] if f[7] == 3 and f[8] < 10 else 1
    thread.told = 0
    batch.cpu_end[cpu] = thread.left = thread.ready = end
    syscall = f[9] - 2 & 0xFFFFFFFF
    idle = runnable - f[13] & M if f[12] else 0
    wait_end = {"wait_reason": f[14] - 1 & 0xFF, "wait_object": (batch.objects[f[15] - 1] if f[15] else 0) + f[16] & M} if f[14] else {}
    return dict(end_ns=end, begin_ns=begin, pid=thread.pid, tid=thread.tid, cpu=f[2], blocked_ns=blocked, runnable_ns=runnable, left_as=f[7],
                reason=f[8], syscall_nr=syscall - (1 << 32) if syscall >> 31 else syscall, object=(batch.objects[f[10] - 1] if f[10] else 0) + f[11] & M,
                idle_ns=idle, stolen_ns=f[17], idle_stolen_ns=f[18], has_wait_end=int(f[14] != 0), **wait_end)


def read_current_span(batch, thread, slot, field):
    span = batch.span_id(thread, slot, field)
    thread.current = span or thread.current
    return span


def read_wake(batch, f):
    thread, waker = batch.threads[f[1]], batch.threads[f[2]]
    thread.ready = batch.time
    return dict(time_ns=batch.time, pid=thread.pid, tid=thread.tid, waker_pid=waker.pid, waker_tid=waker.tid, cpu=f[3], flags=f[4],
                waker_comm=batch.name(f[5]), span=read_current_span(batch, thread, f[6], f[7]),
                waker_span=read_current_span(batch, waker, f[8], f[9]))


def common(batch, f):
    return dict(time_ns=batch.time, pid=batch.threads[f[1]].pid, tid=batch.threads[f[1]].tid)


def read_thread(batch, f):
    return dict(common(batch, f), seed=f[2] & 1, exit=f[2] >> 1 & 1, comm=batch.name(f[3]))


def read_marked(batch, thread, slot, field):
    thread.current = batch.span_id(thread, slot, field)
    batch.mention(thread.current, batch.time)
    return thread.current


def read_attribute(batch, f):
    value = unzigzag(f[7]) & M if f[2] == 2 else int.from_bytes(f[7].to_bytes(8, "little"), "big") if f[2] == 4 else f[7]
    span = read_marked(batch, batch.threads[f[1]], f[5], f[6])
    return dict(common(batch, f), span=span, value_type=f[2], truncated=f[3], value=value, name=batch.name(f[4]),
                string=batch.text(f[8]))


def read_instant(batch, f):
    span = read_marked(batch, batch.threads[f[1]], f[3], f[4])
    return dict(common(batch, f), span=span, name=batch.name(f[2]))


def read_counter(batch, f):
    return dict(common(batch, f), value=signed(batch.id(f[3], unzigzag(f[4]))), name=batch.name(f[2]))


def read_link(batch, f):
    thread = batch.threads[f[1]]
    begin = batch.span_id(thread, f[3], f[4])
    end = batch.span_id(thread, f[5], f[6], begin)
    thread.current = end
    batch.mention(begin, batch.time)
    batch.mention(end, batch.time)
    return dict(common(batch, f), **{"from": begin}, to=end, name=batch.name(f[2]))


def read_loss(batch, f):
    return dict(last_ns=batch.time, first_ns=batch.time - f[1] & M, cpu=f[2], span_event_cnt=f[3], sched_event_cnt=f[4], pid=f[5], tid=f[6])


def read_open_span(batch, f):
    thread = batch.threads[f[1]]
    label, key, own = batch.name(f[2]), batch.text(f[3]), batch.span_id(thread, f[5], f[6])
    return dict(time_ns=batch.time, begin_ns=batch.time - f[4] & M, pid=thread.pid, tid=thread.tid, id=own, parent=batch.span_id(thread, f[7], f[8], own),
                label=label, key=key, flags=f[9])


ANOMALIES = "end_unknown enter_unknown exit_unknown exit_unentered begin_twice mark_unknown unfinished clock_mismatch imbalance".split()


def read_summary(batch, f):
    return dict(time_ns=batch.time, sent_cnt=f[1], received_cnt=f[2], lost_cnt=f[3], lost_clocks_cnt=f[4], late_cnt=f[5],
                **dict(zip(ANOMALIES, f[6:15])),
                **{"left_out_" + name: cnt for name, cnt in zip(("sample", "label", "short", "no_room", "mark"), f[15:20])})


def read_dropped(batch, f):
    return dict(time_ns=batch.time, first_ns=batch.time - f[1] & M, last_ns=batch.time - f[2] & M, batch_cnt=f[3],
                **{KINDS[kind][0] + "_cnt": cnt for kind, cnt in enumerate(f[4:], 1) if kind in KINDS})


def read_continued(batch, f):
    return dict(time_ns=batch.time, next_part=f[1] & 0xFFFFFFFF)


def read_stay(batch, f):
    thread, end = batch.threads[f[1]], batch.time
    begin = (thread.exited + f[2] if f[7] else end - f[2]) & M
    thread.exited = end
    thread.current = batch.span_id(thread, f[5], f[6])
    return dict(exit_ns=end, enter_ns=begin, span=thread.current, span_pid=thread.pid + f[3] & 0xFFFFFFFF, pid=thread.pid, tid=thread.tid,
                keyed=int(f[4] != 0))


def read_object(batch, f):
    return dict(common(batch, f), reason=f[2], object=f[3], name=batch.text(f[4]))


def read_stack(batch, f):
    return dict(common(batch, f), what=f[2], stack=f[3], weight_ns=f[4], keyed=int(f[5] != 0),
                span=read_current_span(batch, batch.threads[f[1]], f[6], f[7]), span_pid=batch.threads[f[1]].pid + f[8] & 0xFFFFFFFF,
                repeat=int(f[9] != 0))


def read_overlap(batch, f):
    return dict(common(batch, f), span=read_current_span(batch, batch.threads[f[1]], f[3], f[4]), keyed=int(f[2] != 0), on_cpu_ns=f[5],
                runnable_ns=f[6], **blocked(f[7:18]), unknown_ns=f[18], interrupt_ns=f[19], stolen_ns=f[20])


def read_frames(batch, f):
    return dict(time_ns=batch.time, stack=f[1], names=batch.text(f[2]))


def read_other_run(batch, f):
    thread, end = batch.threads[f[1]], batch.time
    begin = (end - f[7], batch.cpu_end.get(f[2] % 1024, 0) + f[7])[f[6]] & M
    moved = batch.threads[f[5] - 1] if f[5] else None
    return dict(end_ns=end, begin_ns=begin, pid=thread.pid, tid=thread.tid, cpu=f[2], flags=f[3], moved_pid=moved.pid if moved else 0,
                moved_tid=moved.tid if moved else 0, stolen_ns=f[8], comm=batch.name(f[4]))


def read_cost(batch, f):
    return dict(time_ns=batch.time, since_ns=batch.time - f[1] & M, event=batch.name(f[2]), event_cnt=f[3], timed_event_cnt=f[4], timed_run_cnt=f[5],
                timed_run_ns=f[6], entry=f[7] & 0xFF, entry_ps=f[8], empty_run_ps=f[9], idle_run_ps=f[10], calibration_cnt=f[11], cpu_ns=f[12],
                ring_bytes=f[13], log_bytes=f[14])


def read_process(batch, f):
    thread = batch.threads[f[1]]
    return dict(time_ns=batch.time, pid=thread.pid, parent_pid=thread.pid + f[4] & 0xFFFFFFFF, inner_pid=thread.pid + f[5] & 0xFFFFFFFF,
                start_ns=batch.time - f[6] & M, reasons=f[3], seed=f[2] & 1, exit=f[2] >> 1 & 1, comm=batch.name(f[7]), exe=batch.text(f[8]),
                command=batch.text(f[9]))


def read_trigger(batch, f):
    return dict(common(batch, f), span=f[7], cause=f[2], keyed=int(f[5] != 0), missed_cnt=f[6], wall_ns=f[8], rule=batch.text(f[3]), label=batch.name(f[4]))


KINDS = {
    1: ("span", read_span), 2: ("run", read_run), 3: ("wake", read_wake), 4: ("thread", read_thread), 5: ("attribute", read_attribute),
    6: ("instant", read_instant), 7: ("counter", read_counter), 8: ("link", read_link), 9: ("loss", read_loss),
    10: ("open_span", read_open_span), 11: ("summary", read_summary), 12: ("dropped", read_dropped), 13: ("continued", read_continued),
    14: ("stay", read_stay), 15: ("object", read_object), 16: ("stack", read_stack), 17: ("frames", read_frames),
    18: ("other_run", read_other_run), 19: ("cost", read_cost), 20: ("process", read_process), 21: ("trigger", read_trigger),
    22: ("overlap", read_overlap),
}


def escape(value):
    if not isinstance(value, bytes):
        return str(value)
    return "".join(chr(byte) if 0x20 < byte < 0x7F and byte != 0x25 else f"%{byte:02x}" for byte in value)


def print_records(batch, record_cnt):
    for _ in range(record_cnt):
        kind, fields = batch.next()
        if kind in KINDS:
            name, read = KINDS[kind]
            print(name, *(f"{key}={escape(value)}" for key, value in sorted(read(batch, fields).items()) if value not in (0, b"")))


# ---- the file ----

def read_header(data):
    require(data[:8] == b"\x89TXLOG\r\n", "this is not a txtrace log")
    major, minor, length = struct.unpack_from("<HHI", data, 8)
    require(major == 1, "this log is of another major version")
    require(crc32c(data[:length - 4]) == struct.unpack_from("<I", data, length - 4)[0], "the header is damaged")
    return length


def blocks(data, at):
    while data[at:at + 8] == b"\xf5\xc3TXB\x9a\x00\xff":
        kind, codec = struct.unpack_from("<BB", data, at + 9)
        length, stored_bytes, raw_bytes, record_cnt, payload_crc = struct.unpack_from("<5I", data, at + 12)
        first_ns, last_ns = struct.unpack_from("<QQ", data, at + 40)
        require(crc32c(data[at:at + length - 4]) == struct.unpack_from("<I", data, at + length - 4)[0], "a block's header is damaged")
        stored = data[at + length:at + length + stored_bytes]
        require(crc32c(stored) == payload_crc, "a payload is damaged")
        yield at, kind, unpack_payload(codec, stored, raw_bytes), record_cnt, first_ns, last_ns
        at += length + stored_bytes
    require(data[at:at + 8] == b"TXEND\r\n\x1a" and len(data) == at + 24, "the log has no end")
    require(crc32c(data[at:at + 20]) == struct.unpack_from("<I", data, at + 20)[0], "the footer is damaged")


def print_index(data):
    listed = list(blocks(data, read_header(data)))
    require(struct.unpack_from("<Q", data, len(data) - 16)[0] == listed[-1][0], "the footer does not point to the index")
    index, offset, first_ns = Bytes(listed[-1][2]), 0, 0
    batches = [block for block in listed if block[1] == 1]
    for _ in range(index.leb128()):
        offset += index.leb128()
        batch_cnt, record_cnt = index.leb128(), index.leb128()
        first_ns = first_ns + index.zigzag() & M
        last_ns = first_ns + index.leb128() & M
        own, batches = batches[:batch_cnt], batches[batch_cnt:]
        require((offset, record_cnt, first_ns, last_ns) ==
                (own[0][0], sum(block[3] for block in own), min(block[4] for block in own), max(block[5] for block in own)),
                "an entry of the index does not fit its batches")
        print(f"batches={batch_cnt} records={record_cnt} first={first_ns} last={last_ns}")
    require(not batches, "batches are missing in the index")
    print(f"other_spans={index.leb128()}")
    for _ in range(index.leb128()):
        span_cnt = index.leb128()
        print(f"spans={span_cnt} label={escape(index.take(index.leb128()))}")


def print_layout(data):
    for at, kind, payload, record_cnt, first_ns, last_ns in blocks(data, read_header(data)):
        print(f"block at={at} type={kind} raw={len(payload)} records={record_cnt} first={first_ns} last={last_ns}")
        if kind == 1:
            batch = Batch(payload)
            for section, content in batch.sections.items():
                print(f"  section {section} length={len(content)} {content[:24].hex(' ')}")
            for number, (of, fields) in enumerate(batch.shapes):
                told = " ".join(f"{section}+{value}" if section else f"={value}" for section, value in fields)
                print(f"  shape {number} kind={of} {told}")


def main():
    with open(sys.argv[-1], "rb") as log:
        data = log.read()
    if sys.argv[1] == "--index":
        print_index(data)
    elif sys.argv[1] == "--layout":
        print_layout(data)
    else:
        for _, kind, payload, record_cnt, _, _ in blocks(data, read_header(data)):
            if kind == 1:
                print_records(Batch(payload), record_cnt)


main()
