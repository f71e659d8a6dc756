# SPDX-License-Identifier: BSD-2-Clause
"""import_sui_files.py make FOLDER | mutate SEED COUNT FOLDER FILE... | large EVENTS FILE

make: small files of Sui's transaction trace with known answers. mutate: FOLDER/0.bin, 1.bin, ..., each one of the FILEs with one to four changes; the
same seed makes the same files. large: batches of 10,000 records, with four event types.
"""
import gzip
import pathlib
import random
import struct
import sys

S, MS, US = 10**9, 10**6, 10**3
T = 1_700_000_000 * S


def uleb(value):
    data = bytearray()
    while value > 0x7f:
        data.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(data) + bytes([value])


def raw_time(variant, seconds, nanos):
    return struct.pack("<BQI", variant, seconds, nanos)


def absolute(ns):
    return raw_time(0, *divmod(ns, S))


def delta(us):
    return struct.pack("<BH", 1, us)


def large(ns):
    return raw_time(2, *divmod(ns, S))


def event(digest, kind):
    """The digest is 32 times this byte."""
    return b"\3" + bytes([digest]) * 32 + uleb(kind)


def frame(payload):
    return struct.pack("<I", len(payload)) + payload


def batch(*records):
    return frame(uleb(len(records)) + b"".join(records))


def regular(begin, *events):
    """As the writer does it: events are (ns, digest, type)."""
    records, last = [absolute(begin)], begin
    for time, digest, kind in events:
        records.append(delta((time - last) // US) if (time - last) // US <= 65535 else large(time - last))
        records.append(event(digest, kind))
        last = time
    return batch(*records)


def example():
    """The worked example of the format's description."""
    return batch(absolute(T + 123_456_789), delta(100), event(1, 0))


def two():
    """1 is executed for 500 µs, 2 for 70.5 ms, over a batch's limit. 3 begins and does not complete, 4 completes without a begin."""
    return (regular(T, (T + 100 * US, 1, 0), (T + 200 * US, 2, 0), (T + 600 * US, 1, 1)) +
            regular(T + 700 * US, (T + 700 * US, 3, 0), (T + 70_700 * US, 2, 1), (T + 70_800 * US, 4, 1)))


def four():
    """
    1: enqueued at 0, scheduled at 10, begun at 30, complete at 130 µs. 2 is enqueued alone, 3 also scheduled. 4 begins twice and completes. 5 is not
    enqueued, completes, and is executed again.
    """
    return regular(T, *[(T + us * US, digest, kind) for us, digest, kind in [
        (0, 1, 0), (10, 1, 1), (30, 1, 2), (40, 2, 0), (50, 3, 0), (60, 3, 1), (130, 1, 3), (200, 4, 0), (210, 4, 1), (220, 4, 2), (230, 4, 2),
        (320, 4, 3), (400, 5, 2), (450, 5, 3), (500, 5, 2), (570, 5, 3)]])


def overlap():
    """The second batch begins 200 µs before the first one's end, and the third before that."""
    return (regular(T, (T + 100 * US, 1, 0), (T + 500 * US, 1, 1)) + regular(T + 300 * US, (T + 300 * US, 2, 0), (T + 400 * US, 2, 1)) +
            regular(T + 50 * US, (T + 50 * US, 3, 0), (T + 500 * US, 3, 1)) + regular(T + 500 * US, (T + 500 * US, 4, 0), (T + 600 * US, 4, 1)))


def odd():
    """
    Legal, and not what the writer makes: nanoseconds above a second, a small large delta, two deltas in a row, a time at the end, a step back within
    a batch, a batch without records, one that goes on from the clock of the batch before.
    """
    return (batch(raw_time(0, 1_700_000_000, 1_500_000_000), large(999), event(1, 0), delta(3), delta(4), event(1, 1), delta(9)) +
            batch(absolute(T + 3 * S), delta(5), event(2, 0), delta(7), event(2, 1), absolute(T + 2 * S), event(3, 0), event(3, 1)) +
            batch() + batch(delta(8), event(4, 0), large(2 * S), event(4, 1)) + batch(absolute(T + 9 * S)))


def waits():
    """Of four types, but only the first two occur: each transaction is scheduled 2 µs after it was enqueued."""
    return regular(T, *[(T + number * 100 * US + kind * 2 * US, number + 1, kind) for number in range(10) for kind in (0, 1)])


def bincode():
    """What the writer's first versions made."""
    return struct.pack("<IQIIHI", 0, 1_740_000_000, 5, 1, 100, 3) + b"\1" * 32 + struct.pack("<I", 0)


def damaged(bad):
    """A sound batch, a bad one, a sound one: transactions 1 and 3 are whole, 2 lies in the bad one."""
    return (regular(T, (T + 100 * US, 1, 0), (T + 200 * US, 1, 1)) + bad + regular(T + 500 * US, (T + 600 * US, 3, 0), (T + 700 * US, 3, 1)))


def damages():
    lost = regular(T + 300 * US, (T + 300 * US, 2, 0), (T + 400 * US, 2, 1))
    payload = lost[4:]
    return {
        "type": frame(payload[:-1] + b"\5"),
        "variant": frame(payload[:1] + b"\4" + payload[2:]),
        "left": frame(payload + b"\0"),
        "minimal": frame(b"\x85\0" + payload[1:]),
        "count": frame(b"\xff\xff\xff\xff\x1f" + payload[1:]),
        "short": frame(payload[:-1]),
        "zero": b"\0\0\0\0",
        "time": batch(raw_time(0, 2**63, 0), delta(1), event(2, 0)),
        "sum": batch(absolute(T), raw_time(2, 2**34, 0), event(2, 0)),
        "large": frame(bytes((64 << 20) + 1)),
    }


def write(folder, name, data):
    (folder / name).write_bytes(data)


def make_sets(folder):
    """Transaction 1 begins in file 9 and ends in file 10; 2 begins in file 3, and what ends in file 5 is 3; only the second file of `mixed` has a type 2."""
    halves = regular(T, (T + 100 * US, 1, 0)), regular(T + 200 * US, (T + 200 * US, 1, 1))
    gap = regular(T, (T + 100 * US, 2, 0)), regular(T + 900 * US, (T + 900 * US, 3, 1))
    mixed = regular(T, (T, 1, 0), (T + 10 * US, 1, 1)), regular(T + 20 * US, (T + 20 * US, 1, 2), (T + 50 * US, 1, 3))
    for name, files in {"set": {9: halves[0], 10: halves[1]}, "gap": {3: gap[0], 5: gap[1]}, "mixed": {0: mixed[0], 1: mixed[1]},
                        "broken_set": {0: bincode(), 1: two()}, "late_bincode": {0: two(), 1: bincode()}}.items():
        (folder / name).mkdir()
        for number, data in files.items():
            write(folder / name, f"tx-trace-{number}.bin", data)
        write(folder / name, "z-note.txt", b"no trace")


def make(folder):
    for story in (example, two, four, overlap, odd, waits, bincode):
        write(folder, f"{story.__name__}.bin", story())
    write(folder, "two.bin.gz", gzip.compress(two(), mtime=0))
    write(folder, "cut.bin.gz", gzip.compress(two(), mtime=0)[:-12])
    write(folder, "apart.bin", regular(T, (T + 10 * US, 9, 0), (T + 900 * US, 9, 1)))
    write(folder, "empty.bin", b"")
    write(folder, "cut_length.bin", two() + b"\x33\0")
    write(folder, "cut_batch.bin", two() + example()[:40])
    write(folder, "huge_length.bin", two() + b"\xf0\xff\xff\xff" + example()[4:])
    write(folder, "timeless.bin", batch(delta(1), event(1, 0)) + two())
    for name, bad in damages().items():
        if name != "large":
            write(folder, f"bad_{name}.bin", damaged(bad))
    write(folder, "bad_large.bin.gz", gzip.compress(damaged(damages()["large"]), mtime=0))
    write(folder, "bad_first.bin", damages()["type"] + two())
    write(folder, "other.bin", bytes(range(1, 200)))
    make_sets(folder)


def large_file(count, path):
    """Transactions of 100 µs, ten of which are open at a time."""
    with open(path, "wb") as out:
        events, begin = [], T
        for number in range(count):
            time, step = T + number * 2500, number // 40 * 10 + number % 10
            events.append(delta(2) + b"\3" + struct.pack("<QQ", step, 0x9e3779b97f4a7c15 * step % 2**64) * 2 + bytes([number // 10 % 4]))
            if len(events) == 4999 or number == count - 1:
                out.write(frame(uleb(1 + 2 * len(events)) + absolute(begin) + b"".join(events)))
                events, begin = [], time + 2500


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
            data[at] = random_source.choice([0, 1, 2, 3, 4, 0x7f, 0x80, 0xff])
        elif what == 4 and len(data) > 30:
            data[random_source.randrange(30)] = random_source.choice([0, 1, 2, 3, 0x80, 0xff])
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
elif sys.argv[1] == "large":
    large_file(int(sys.argv[2]), sys.argv[3])
else:
    mutate(int(sys.argv[2]), int(sys.argv[3]), pathlib.Path(sys.argv[4]), sys.argv[5:])
