# SPDX-License-Identifier: BSD-2-Clause
"""make_seeds.py TXTRACE FOLDER: inputs to begin with, FOLDER/TARGET/…, made of the golden logs, the recorded streams, and by hand."""
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

SYNC = b"\xf5\xc3TXB\x9a\x00\xff"
ROOT = pathlib.Path(__file__).resolve().parents[2]


def put(folder, target, name, data):
    path = folder / target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def blocks(log):
    """The headers and payloads of a log's blocks."""
    at = struct.unpack_from("<I", log, 12)[0]
    while log[at:at + 8] == SYNC:
        header, stored = struct.unpack_from("<II", log, at + 12)
        yield log[at:at + header], log[at + header:at + header + stored]
        at += header + stored


def logs(txtrace, folder):
    """A log gives itself, itself cut off and itself with a damaged batch; not compressed, also the payloads of its blocks."""
    for path in sorted((ROOT / "tests/golden").glob("*.txtrace")):
        log = path.read_bytes()
        bitten = bytearray(log)
        bitten[len(log) // 3] ^= 0x55
        for target in ("log", "repair"):
            put(folder, target, path.stem, log)
            put(folder, target, path.stem + ".cut", log[:len(log) * 2 // 3])
            put(folder, target, path.stem + ".bitten", bytes(bitten))
        for number in range(7):  # all formats but Tokio's
            put(folder, "export", f"{path.stem}.{number}", bytes([number]) + log)
        put(folder, "seek", path.stem + ".time", struct.pack("<BBQ", 2, 1, 3600000001600) + log)
        put(folder, "seek", path.stem + ".batch", struct.pack("<BBQ", 1, 0, 2) + log)
        with tempfile.TemporaryDirectory() as scratch:
            plain = pathlib.Path(scratch) / "plain.txtrace"
            # Status 1, and a word about it: they have no summary.
            subprocess.run([txtrace, "recompress", "--codec", "none", "-o", plain, path], check=False, capture_output=True)
            payloads(folder, path.stem, plain.read_bytes())


def payloads(folder, name, log):
    put(folder, "log", name + ".plain", log)
    for number, (header, payload) in enumerate(blocks(log)):
        if header[9] == 1:
            put(folder, "batch", f"{name}.{number}", struct.pack("<H", struct.unpack_from("<I", header, 24)[0] & 0xffff) + payload)
        else:
            put(folder, "index", name, payload)


def streams(folder):
    for path in sorted((ROOT / "tests/replay").glob("**/*.stream")):
        put(folder, "stream", path.stem, path.read_bytes()[:8000])


# ---- the wire, as include/txtrace/event.h has it ----

class Wire:
    """The structs and numbers of the header: record("span", kind="BEGIN", id=5) are the bytes of a struct wire_span."""

    WIDTHS = {"uint8_t": "B", "char": "B", "uint16_t": "H", "uint32_t": "I", "int32_t": "i", "uint64_t": "Q"}

    def __init__(self, header):
        text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
        self.numbers = {name: int(number) for name, number in re.findall(r"\b([A-Z_]+)(?: =|) (\d+)\b", text)}
        self.structs = {name: re.findall(r"(\w+) (\w+)(?:\[(\w+)\])?;", body) for name, body in re.findall(r"struct wire_(\w+) \{(.*?)\n\};", text, re.S)}

    def struct(self, of, /, **values):
        """Members that have no value are 0. A member that is a struct or an array is given as bytes."""
        packed = b""
        for kind, member, count in self.structs[of]:
            count = (int(count) if count.isdigit() else self.numbers[count]) if count else None
            if kind == "wire_header":
                packed += values[member]
            elif count:
                packed += values.get(member, b"").ljust(count * struct.calcsize(self.WIDTHS[kind]), b"\0")
            else:
                packed += struct.pack("<" + self.WIDTHS[kind], values.get(member, 0))
        return packed

    def record(self, of, time, kind, /, more=b"", flags=0, tid=11, **values):
        """A record: the struct of this name with its header, and more behind it."""
        size = len(self.struct(of, header=self.struct("header"))) + len(more)
        header = self.struct("header", time_ns=time, tid=tid, tgid=10, kind=self.numbers["WIRE_" + kind], flags=flags, size=size)
        return self.struct(of, header=header, **values) + more

    def span(self, time, kind, number, label=0, on_cpu=0, runnable=0, blocked=0, tid=11):
        """With clocks, if it has been on a CPU."""
        reading = self.struct("clocks", born_ns=100, on_cpu_ns=on_cpu, runnable_ns=runnable, blocked_ns=struct.pack("<Q", blocked)) if on_cpu else b""
        return self.record("span", time, kind, reading, self.numbers["WIRE_HAS_CLOCKS"] if on_cpu else 0, tid, id=number, label=label)

    def thread(self, tid):
        return self.record("thread", 100, "THREAD", flags=self.numbers["WIRE_IS_SEED"], tid=tid, born_ns=100, comm=b"bank", state=1)

    def text(self, time, kind, value):
        return self.record("text", time, kind, value.ljust(64, b"\0"), id=5, name=4, type=5, text_length=len(value))

    def keyed(self, time, kind, key):
        return self.record("key", time, kind, name=4, key_length=len(key), key=key)


def wire(folder):
    w = Wire((ROOT / "include/txtrace/event.h").read_text(encoding="utf-8"))
    streams = {
        "blocked": [w.thread(11), w.span(200, "BEGIN", 5, 4, 100), w.record("switch", 300, "SWITCH", syscall_nr=202, left_as=3),
                    w.record("wake", 500, "WAKE", flags=2, tid=0, wakee_tid=11, wakee_tgid=10, waker_comm=b"swapper"),
                    w.record("switch", 550, "SWITCH", tid=0, next_tid=11, next_tgid=10, next_is_traced=1), w.span(700, "END", 5, 0, 350, 50, 200),
                    w.record("thread_end", 800, "THREAD_EXIT")],
        "handed_over": [w.thread(11), w.thread(12), w.span(200, "BEGIN_DETACHED", 6, 4), w.span(300, "ENTER", 6, 0, 200), w.span(400, "LEAVE", 6),
                        w.span(500, "ENTER", 6, 0, 400, tid=12), w.span(600, "END", 6, tid=12)],
        "marked": [w.thread(11), w.span(200, "BEGIN", 5, 4, 100), w.text(250, "TAG", b"k=1"), w.text(260, "ATTR", b"value"),
                   w.record("mark", 270, "INSTANT", id=5, name=4), w.record("mark", 280, "COUNTER", name=4, value=9),
                   w.record("mark", 290, "LINK", id=5, name=4, value=6), w.span(300, "END", 5), w.record("thread_end", 400, "EXEC", old_tid=11)],
        "by_key": [w.thread(11), *[w.keyed(200 + i, kind, b"key") for i, kind in enumerate(("KEY_BEGIN", "KEY_ENTER", "KEY_INSTANT", "KEY_LEAVE"))],
                   w.record("mark", 240, "KIND_COUNT", id=250, name=1, value=2),  # a loss
                   w.keyed(260, "KEY_END", b"key")],
    }
    for name, records in streams.items():
        put(folder, "wire", name, b"".join(struct.pack("<H", len(record)) + record for record in records))


# ---- ELF files with probes ----

def note(pc, base, semaphore, strings):
    description = struct.pack("<QQQ", pc, base, semaphore) + strings
    return struct.pack("<III8s", 8, len(description), 3, b"stapsdt") + description + b"\0" * (-len(description) % 4)


def elf(folder):
    """Segments of text (file 0x100, address 0x1100) and data (file 0x180), one probe with a semaphore and one without."""
    names = b"\0.note.stapsdt\0.stapsdt.base\0.shstrtab\0"
    notes = note(0x1110, 0x7000, 0x2184, b"txtrace\0begin\0008@%rdi\0") + note(0x1120, 0x7000, 0, b"txtrace\0end\0\0")
    segments = [struct.pack("<IIQQQQQQ", 1, 5, 0x100, 0x1100, 0, 0x40, 0x40, 16), struct.pack("<IIQQQQQQ", 1, 6, 0x180, 0x2180, 0, 0x20, 0x20, 16)]
    names_at = 0x1a0 + len(notes)
    sections_at = names_at + len(names) + -(names_at + len(names)) % 8
    sections = [bytes(64), struct.pack("<IIQQQQIIQQ", 1, 7, 0, 0, 0x1a0, len(notes), 0, 0, 4, 0),
                struct.pack("<IIQQQQIIQQ", 15, 1, 0, 0x7000, 0, 1, 0, 0, 1, 0), struct.pack("<IIQQQQIIQQ", 29, 3, 0, 0, names_at, len(names), 0, 0, 1, 0)]
    for name, machine in {"x86_64": 62, "aarch64": 183}.items():
        image = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, 0, 64, sections_at, 0, 64, 56, 2, 64, 4, 3)
        image = (image + b"".join(segments)).ljust(0x1a0, b"\x90") + notes + names
        put(folder, "elf", name, image.ljust(sections_at, b"\0") + b"".join(sections))


def variable(folder):
    """A program, and a library of each way, with a variable of each thread: symbols (at 0x200), their names, a relocation, sections."""
    names = b"\0otel_thread_ctx_v1\0"
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 0x16, 0, 1, 8, 8)
    for machine, kinds in {62: (0, 16, 18, 36), 183: (0, 1028, 1030, 1031)}.items():
        for kind in kinds:
            relocation = struct.pack("<QQq", 0x2180, 1 << 32 | kind, 0)
            segments = [struct.pack("<IIQQQQQQ", 1, 5, 0x100, 0x1100, 0, 0x80, 0x80, 16), struct.pack("<IIQQQQQQ", 7, 4, 0x180, 0x2180, 0, 0, 0x20, 16)]
            at = [0x200, 0x200 + len(symbols), 0x200 + len(symbols) + len(names)]
            sections_at = at[2] + len(relocation) + -(at[2] + len(relocation)) % 8
            sections = [bytes(64), struct.pack("<IIQQQQIIQQ", 0, 11, 2, 0, at[0], len(symbols), 2, 1, 8, 24), struct.pack("<IIQQQQIIQQ", 0, 3, 2, 0, at[1], len(names), 0, 0, 1, 0),
                        struct.pack("<IIQQQQIIQQ", 0, 4, 2, 0, at[2], len(relocation), 1, 0, 8, 24)]
            image = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3 if kind else 2, machine, 1, 0, 64, sections_at, 0, 64, 56, 2, 64, 4, 0)
            image = (image + b"".join(segments)).ljust(0x200, b"\x90") + symbols + names + relocation
            put(folder, "elf", f"variable_{machine}_{kind}", image.ljust(sections_at, b"\0") + b"".join(sections))


def contexts(folder):
    def field(number, data):
        return bytes([number << 3 | 2, len(data)]) + data

    def attribute(key, value):
        return field(1, key) + field(2, field(1, value))
    resource = field(1, field(1, attribute(b"service.name", b"the service")) + field(1, attribute(b"other", b"")))
    put(folder, "context", "tls", resource + field(2, attribute(b"threadlocal.schema_version", b"tlsdesc_v1_dev")))
    put(folder, "context", "other", resource + field(2, attribute(b"threadlocal.schema_version", b"nodejs_v1_dev")))


def traces(folder):
    def field(number, data):
        return bytes([number << 3 | 2, len(data)]) + data
    span = field(1, bytes(range(1, 17))) + field(2, bytes(range(1, 9))) + b"\x39" + struct.pack("<Q", 5) + field(9, field(1, b"k") + field(2, field(1, b"v")))
    put(folder, "traces", "protobuf", field(1, field(1, field(1, b"r")) + field(2, field(2, span) + field(2, span))) + b"\x2a\x00")
    put(folder, "traces", "json", b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"00000000000000a1","startTimeUnixNano":"5",'
        b'"attributes":[{"key":"txtrace.k","value":{"stringValue":"\\"}]"}}]},{"attributes":[]},{}]}],"resource":{"a":[1,null,true]}}]} {"other":-1.5e9}')


# ---- names of code, and rules of frames ----

def code(folder):
    """The rules are those of tests/unit/attach/test_unwind_table.c: one function at 0x2000 that keeps a frame pointer, one for aarch64."""
    rules = bytes.fromhex("14000000 00000000 01 7a5200 01 78 10 01 1b 0c0708 9001 0000"
                          "1c000000 1c000000 e00f0000 20000000 00 410e10 8602 430d06 44 8303 00000000 00000000")
    aarch64_rules = bytes.fromhex("10000000 00000000 01 7a5200 04 78 1e 01 1b 0c1f00 20000000 18000000 e40f0000 20000000 00"
                                  "41 2d 0e20 9d04 9e03 41 9302 8801 42 dd de 0e00 00 00000000")
    put(folder, "code", "map", b"\0" + b"1000 100 first\n1000 80 first again\n0x3000 0x8 other\nrubbish\n")
    put(folder, "code", "rules", b"\1" + rules)
    put(folder, "code", "aarch64_rules", b"\1" + aarch64_rules)
    segments = [struct.pack("<IIQQQQQQ", 1, 5, 0x100, 0x1100, 0, 0x200, 0x200, 16),
                struct.pack("<IIQQQQQQ", 0x6474e550, 4, 0x100, 0x1100, 0, 8, 8, 4)]
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    image = (header + b"".join(segments)).ljust(0x100, b"\0") + bytes.fromhex("011b033b") + struct.pack("<i", 4) + rules
    put(folder, "code", "file", b"\2" + image.ljust(0x300, b"\0"))


# ---- other tools' formats ----

def export_seed(txtrace, folder, number, path):
    """The import of a file, as what is exported in the format of this number."""
    log = path.with_suffix(".txtrace")
    subprocess.run([txtrace, "import", "-o", log, path], check=True, capture_output=True)
    put(folder, "export", f"{number}_{path.stem}", bytes([number]) + log.read_bytes())


def imports(txtrace, folder):
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([sys.executable, ROOT / "tests/cli/import_tokio_files.py", "make", scratch], check=True)
        for path in pathlib.Path(scratch).glob("*.bin"):
            put(folder, "import_tokio", path.stem, path.read_bytes())
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([sys.executable, ROOT / "tests/cli/import_sui_files.py", "make", scratch], check=True)
        for path in pathlib.Path(scratch).glob("*.bin"):
            put(folder, "import_sui", path.stem, (b"\2" if path.stem == "waits" else b"\0") + path.read_bytes())
        for number, name in {10: "four", 11: "odd"}.items():  # as exports: the formats sui and sui2
            log = pathlib.Path(scratch) / "log.txtrace"
            subprocess.run([txtrace, "import", "-o", log, pathlib.Path(scratch) / (name + ".bin")], check=True, capture_output=True)
            put(folder, "export", "sui_" + name, bytes([number]) + log.read_bytes())
            log.unlink()
    put(folder, "sui_lanes", "two", b"# digest  objects\n" + b"01" * 32 + b" 0xa\t0xb # both\r\n" + b"8qbHbw2BbbTHBW1sbeqakYXVKRQM8Ne7pLK7m6CVfeR 0xb\n")
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([sys.executable, ROOT / "tests/cli/ftr_files.py", "make", scratch], check=True)
        for path in pathlib.Path(scratch).glob("*.ftr"):
            put(folder, "import_ftr", path.stem, path.read_bytes())
        for number, name in {12: "whole", 15: "texts"}.items():  # as exports: ftr and ftr-text
            export_seed(txtrace, folder, number, pathlib.Path(scratch) / (name + ".ftr"))
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([sys.executable, ROOT / "tests/cli/fvm_files.py", "make", scratch], check=True)
        for path in pathlib.Path(scratch).iterdir():
            put(folder, "import_fvm", path.name.replace(".", "_"), path.read_bytes()[:16384])
        export_seed(txtrace, folder, 16, pathlib.Path(scratch) / "machine.txt")


def texts(folder):
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([sys.executable, ROOT / "tests/cli/import_perf_files.py", "make", scratch], check=True)
        for path in pathlib.Path(scratch).glob("*.txt"):
            data = path.read_bytes()
            if len(data) < 16000:
                put(folder, "import_perf", path.stem, (b"\1" if path.stem == "pairs" else b"\2" if "ftrace" in path.stem else b"\0") + data)


def rings(folder):
    """As fuzz_import_monad.c takes them apart."""
    sys.path.insert(0, str(ROOT / "tests/cli"))
    import import_monad_files as files
    for story in (files.example, files.blocks, files.holes, files.wrap, files.other, files.late):
        ring = story()
        first = min(ring.slots) if ring.slots else 0
        first = ring.capacity - 3 if story is files.wrap else first
        slots = [ring.slots.get((first + i) % ring.capacity, bytes(64)) for i in range(len(ring.slots))]
        payload = bytearray()
        for at, byte in ring.payloads:
            payload.extend(bytes(max(0, at + 1 - len(payload))) if at < 4096 else b"")
            payload[at:at + 1] = bytes([byte]) if at < 4096 else b""
        for options, length in ((0, 140509184), (1, files.AREA + 64 * 4)):
            put(folder, "import_monad", f"{story.__name__}_{options}",
                struct.pack("<BI", options, length) + ring.header() + struct.pack("<BH", len(slots), first) + b"".join(slots) + bytes(payload))


def main(txtrace, folder):
    folder = pathlib.Path(folder)
    logs(txtrace, folder)
    streams(folder)
    wire(folder)
    elf(folder)
    variable(folder)
    contexts(folder)
    traces(folder)
    code(folder)
    imports(txtrace, folder)
    rings(folder)
    texts(folder)


main(sys.argv[1], sys.argv[2])
