# SPDX-License-Identifier: BSD-2-Clause
"""import_tokio_files.py make FOLDER | mutate SEED COUNT FOLDER FILE...

make: small TOKIOTRC files with known answers. mutate: FOLDER/0.bin, 1.bin, ..., each one of the FILEs with one to four changes; the same seed makes
the same files.
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


def write(folder, name, data):
    (folder / name).write_bytes(data)


def make(folder):
    for version in (4, 5, 6):
        write(folder, f"story{version}.bin", story(version))
    for version in (8, 9, 13, 14, 15, 16, 17, 18):
        write(folder, f"later{version}.bin", later(version))
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


if sys.argv[1] == "make":
    make(pathlib.Path(sys.argv[2]))
else:
    mutate(int(sys.argv[2]), int(sys.argv[3]), pathlib.Path(sys.argv[4]), sys.argv[5:])
