# SPDX-License-Identifier: BSD-2-Clause
"""import_tokio_files.py make FOLDER | mutate SEED COUNT FOLDER FILE... | large RECORDS FILE

make: small TOKIOTRC files with known answers. mutate: FOLDER/0.bin, 1.bin, ..., each one of the FILEs with one to four changes; the same seed makes
the same files. large: of version 6, eight workers.
"""
import pathlib
import random
import struct
import sys


def header(version):
    return b"TOKIOTRC" + struct.pack("<I", version)


def poll(is_end, time, worker, queue=0):
    """Of versions 4 to 6: two codes of each kind, one without the queue."""
    if queue:
        return struct.pack("<BIBB", 6 if is_end else 5, time, worker, queue)
    return struct.pack("<BIB", 1 if is_end else 0, time, worker)


def park(version, time, worker, queue, cpu):
    return struct.pack("<BIBB", 2, time, worker, queue) + (struct.pack("<I", cpu) if version > 4 else b"")


def unpark(version, time, worker, queue, cpu, wait):
    return (struct.pack("<BIBB", 3, time, worker, queue) + (struct.pack("<I", cpu) if version > 4 else b"") +
            (struct.pack("<I", wait) if version > 5 else b""))


def sample(time, depth):
    return struct.pack("<BIB", 4, time, depth)


def story(version):
    """
    Worker 0 parks at 1 ms, is woken at 5 ms (0.3 ms of which it waited), polls from 5.1 to 6.6 ms and parks at 7 ms with 1.6 of 2 ms on a CPU. Worker
    1's events, flushed later, are of the same time. A sample that says 9 at 4 ms stands at the end.
    """
    return header(version) + b"".join([
        park(version, 1000, 0, 3, 100), unpark(version, 5000, 0, 0, 150, 300), poll(False, 5100, 0, 2), poll(True, 6600, 0),
        park(version, 7000, 0, 0, 1750),
        unpark(version, 2000, 1, 0, 0xffffff00, 50), poll(False, 2100, 1), poll(True, 2900, 1), park(version, 3000, 1, 0, 0x2e8),
        sample(4000, 9)])


def text(of):
    return struct.pack("<H", len(of)) + of


def later(version):
    """
    A task, spawned at src/a.rs:7, is polled twice by two workers: from 2 to 3 ms and from 5 to 5.5 ms, in which it ends. What the version has
    besides: a wakeup, two samples of CPU with names for one address, a thread's name, metadata.
    """
    spawn = struct.pack("<B", 6) + (struct.pack("<I", 1000) if version >= 15 else b"") + struct.pack("<IH", 42, 9)
    end = struct.pack("<BI", 11 if version < 16 else 172, *([42] if version == 14 else [5400])) + (b"" if version == 14 else struct.pack("<I", 42))
    parts = [header(version)]
    if version >= 17:
        parts.append(struct.pack("<B", 11) + (struct.pack("<Q", 1) if version == 18 else b"") + struct.pack("<H", 2) + text(b"host") + text(b"example") +
                     text(b"pid") + text(b"77"))
    parts += [struct.pack("<BH", 5, 9) + text(b"src/a.rs:7"), park(6, 1000, 0, 0, 10), spawn, struct.pack("<BIBBIH", 0, 2000, 0, 4, 42, 9)]
    if version >= 13:
        parts += [struct.pack("<BIBIBBQQ", 8, 2500, 0, 4711, 0, 2, 0x1000, 0x2000), struct.pack("<BIBIBBQ", 8, 2600, 0, 4711, 1, 1, 0x2000),
                  struct.pack("<BQ", 9, 0x1000) + text(b"inner") + b"\xff\xff", struct.pack("<BI", 10, 4711) + text(b"tokio-worker")]
    parts.append(struct.pack("<BIB", 1, 3000, 0))
    if version == 9 or version >= 13:
        parts.append(struct.pack("<BIIIB", 7, 4000, 0, 42, 1))
    parts.append(struct.pack("<BIBBIH", 0, 5000, 1, 0, 42, 9))
    if version >= 14:
        parts.append(end)
    parts += [struct.pack("<BIB", 1, 5500, 1), sample(6000, 0)]
    return b"".join(parts)


# ---- TRC ----

I64, F64, BOOL, STRING, BYTES, POOLED_STACK, POOLED, STACK, VARINT, STRINGS, U8, U16, U32, LIST, MAP = range(1, 16)
TRC = b"TRC\0\1"


def varint(value):
    data = bytearray()
    while value > 0x7f:
        data.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(data) + bytes([value])


def long_text(of):
    return struct.pack("<I", len(of)) + of


def schema(number, name, **fields):
    return (struct.pack("<BH", 1, number) + text(name.encode()) + struct.pack("<BH", 1, len(fields)) +
            b"".join(text(field.encode()) + bytes([kind]) for field, kind in fields.items()))


def event(number, delta, *values):
    """Values are bytes, or numbers for varints."""
    return (struct.pack("<BH", 2, number) + struct.pack("<I", delta)[:3] +
            b"".join(value if isinstance(value, bytes) else varint(value) for value in values))


def base(time):
    return struct.pack("<BQ", 5, time)


def trc_example():
    """The example of the description: base 1 s, one event 1 µs later."""
    return TRC + base(10**9) + schema(0, "PollEndEvent", worker_id=VARINT) + event(0, 1000, 3)


def trc_story():
    """
    Two streams of one file. Worker 0 parks at 1 s, is woken at 1 s + 5,000 ns (300 of which it waited), polls task 42 from + 6,000 to + 9,000 and
    parks at + 10,000 with 4,000 of 5,000 ns on a CPU. Worker 1, in the second stream, enters and leaves the span 77, between + 1,000 and + 2,000, which
    closes at + 3,000. The wall clock is 10^18 ns at 1 s.
    """
    first = (TRC + base(10**9) + struct.pack("<BI", 3, 1) + struct.pack("<I", 5) + long_text(b"src/b.rs:8") +
             schema(0, "WorkerParkEvent", worker_id=VARINT, local_queue=U8, cpu_time_ns=VARINT) +
             schema(1, "WorkerUnparkEvent", worker_id=VARINT, local_queue=VARINT, cpu_time_ns=VARINT, sched_wait_ns=VARINT) +
             schema(2, "PollStartEvent", worker_id=VARINT, local_queue=VARINT, task_id=VARINT, spawn_loc=POOLED) +
             schema(3, "PollEndEvent", worker_id=VARINT) + schema(4, "ClockSyncEvent", realtime_ns=VARINT) +
             schema(5, "TaskTerminateEvent", task_id=VARINT) +
             event(4, 0, 10**18) + event(0, 0, 0, b"\x02", 100) + event(1, 5000, 0, 0, 200, 300) + event(2, 1000, 0, 1, 42, struct.pack("<I", 5)) +
             event(5, 2000, 42) + event(3, 1000, 0) + event(0, 1000, 0, b"\0", 4200))
    nested = (struct.pack("<I", 2) + bytes([LIST]) + struct.pack("<I", 1) + bytes([U8, 7]) + bytes([STRING]) + long_text(b"x"))
    second = (TRC + schema(3, "SpanEnter:app::http::request:src/http.rs:77", worker_id=VARINT, span_id=VARINT, parent_span_id=VARINT | 0x80,
                           span_name=STRING, status=U16) +
              schema(1, "SpanExit:app::http::request:src/http.rs:77", worker_id=VARINT, span_id=VARINT) +
              schema(0, "SpanCloseEvent", span_id=VARINT) +
              schema(9, "Own", a=LIST, b=MAP, c=STRINGS, d=STACK, e=F64 | 0x80, f=BYTES, g=BOOL, h=POOLED_STACK, i=U32, j=I64) +
              base(10**9) + event(3, 1000, 1, 77, b"\0", long_text(b"request"), b"\x01\0") +
              event(9, 100, nested, struct.pack("<IBBBH", 1, U8, 1, U16, 2), struct.pack("<I", 1) + long_text(b"k") + long_text(b"v"),
                    struct.pack("<IQ", 1, 0x1000), b"\0", long_text(b"abc"), b"\1", bytes(4), bytes(4), bytes(8)) +
              struct.pack("<B", 6) + varint(9) + struct.pack("<HH", 1, 0) + text(b"unit") + long_text(b"ns") +
              struct.pack("<BIIIQ", 4, 1, 3, 1, 0x1000) + event(1, 900, 1, 77) + event(0, 1000, 77))
    return first + second


def write(folder, name, data):
    (folder / name).write_bytes(data)


def make(folder):
    for version in (4, 5, 6):
        write(folder, f"story{version}.bin", story(version))
    for version in (8, 9, 13, 14, 15, 16, 17, 18):
        write(folder, f"later{version}.bin", later(version))
    # A worker that parks twice, and is woken twice.
    twice = (park(6, 1000, 0, 0, 10), park(6, 2000, 0, 0, 20), unpark(6, 3000, 0, 0, 20, 7), unpark(6, 4000, 0, 0, 30, 8), park(6, 4500, 0, 0, 530))
    write(folder, "twice.bin", header(6) + b"".join(twice))
    write(folder, "trc_example.bin", trc_example())
    write(folder, "trc_story.bin", trc_story())
    write(folder, "trc_cut.bin", trc_story()[:-1])
    write(folder, "trc_tag.bin", trc_example() + b"\x63" + bytes(9))
    write(folder, "trc_type.bin", trc_example() + event(8, 0, 3))
    write(folder, "trc_again.bin", trc_example() + schema(0, "PollEndEvent", worker_id=VARINT) + schema(0, "PollEndEvent", worker_id=U8))
    deep = (struct.pack("<IB", 1, LIST)) * 40
    write(folder, "trc_deep.bin", TRC + schema(9, "Own", a=LIST) + event(9, 0, deep))
    example = header(5) + poll(False, 100, 2) + park(5, 200, 1, 3, 500) + unpark(5, 300, 1, 0, 500, 0) + poll(True, 400, 2) + sample(500, 7)
    write(folder, "example.bin", example)
    write(folder, "empty.bin", b"")
    write(folder, "header.bin", header(6))
    write(folder, "short_header.bin", header(6)[:11])
    write(folder, "cut.bin", example[:-1])
    write(folder, "code.bin", example + b"\x07" + bytes(30))
    # The clock passes 2^32 µs between the two, and worker 1 comes for the first time.
    write(folder, "wrap.bin", header(6) + poll(False, 0xfffffff0, 0) + poll(True, 0x10, 0) + poll(False, 0x20, 1) + poll(True, 0x30, 1))
    # An open poll, one that is replaced, an end without a start.
    write(folder, "odd.bin", header(6) + poll(True, 10, 0) + poll(False, 20, 0) + poll(False, 50, 0) + poll(True, 60, 0) + poll(False, 80, 0) + sample(100, 0))
    for version in (3, 7, 10, 11, 12, 19):
        write(folder, f"refused{version}.bin", header(version) + bytes(40))
    write(folder, "magic.bin", b"TOKIOTRX" + struct.pack("<I", 5) + bytes(40))
    parts = folder / "set"
    parts.mkdir()
    write(parts, "trace.2.bin", header(5) + poll(False, 100, 0))
    write(parts, "trace.10.bin", header(6) + poll(True, 250, 0))  # a poll that ends in the next file
    write(parts, "readme.txt", b"no trace")
    broken = folder / "broken_set"
    broken.mkdir()
    write(broken, "trace.0.bin", header(5) + poll(False, 100, 0) + b"\x63")
    write(broken, "trace.1.bin", header(7) + bytes(20))
    write(broken, "trace.2.bin", header(5) + poll(True, 250, 0))


def change(random_source, data):
    data = bytearray(data)
    for _ in range(random_source.randint(1, 4)):
        at = random_source.randrange(len(data)) if data else 0
        what = random_source.randrange(6)
        if what == 0:
            del data[at:]
        elif what == 1:
            data[at:at] = random_source.randbytes(random_source.randint(1, 40))
        elif what == 2:
            del data[at:at + random_source.randint(1, 40)]
        elif what == 3 and data:
            data[at] = random_source.choice([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 0x7f, 0x80, 0xac, 0xff])
        elif what == 4 and len(data) > 12:
            data[random_source.randrange(12)] = random_source.choice([4, 5, 6, 8, 9, 13, 14, 15, 16, 17, 18, 0])
        elif data:
            data[at] ^= 1 << random_source.randrange(8)
    return bytes(data)


def mutate(seed, count, folder, files):
    random_source = random.Random(seed)
    folder.mkdir()
    for number in range(count):
        data = pathlib.Path(random_source.choice(files)).read_bytes()
        write(folder, f"{number}.bin", change(random_source, data))


def large(count, path):
    """Each time unpark, three polls, park, and now and then a queue sample."""
    records, time, written = [], 0, 0
    with open(path, "wb") as file:
        file.write(header(6))
        while written < count:
            time += 10
            worker = written // 8 % 8
            records += [unpark(6, time, worker, 1, time // 8, 2), poll(False, time + 1, worker, 3), poll(True, time + 3, worker),
                        poll(False, time + 3, worker), poll(True, time + 5, worker), poll(False, time + 6, worker), poll(True, time + 7, worker, 1),
                        park(6, time + 8, worker, 0, time // 8 + 6)]
            written += 8
            if len(records) > 100000:
                file.write(b"".join(records))
                records = [sample(time + 8, written % 200)]
                written += 1
        file.write(b"".join(records))


if sys.argv[1] == "make":
    make(pathlib.Path(sys.argv[2]))
elif sys.argv[1] == "large":
    large(int(sys.argv[2]), sys.argv[3])
else:
    mutate(int(sys.argv[2]), int(sys.argv[3]), pathlib.Path(sys.argv[4]), sys.argv[5:])
