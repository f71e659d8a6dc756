# SPDX-License-Identifier: BSD-2-Clause
"""ftr_files.py make FOLDER | mutate SEED COUNT FOLDER FILE... | large TRANSACTIONS FILE

make: small FTR files with known answers, and damaged ones. mutate: FOLDER/0.ftr, 1.ftr, ..., each one of the FILEs with one to four changes; the same seed
makes the same files. large: two streams, three attributes for each transaction. The encoder is our own, so that it can write what is not allowed.
"""
import pathlib
import random
import struct
import sys

NAMES = ["", "bus", "tlm", "read", "addr", "next", "worker", "thread", "work", "work.events", "name", "parsed", "parent_of", "ratio", "r.exact", "took"]
BOOLEAN, ENUMERATION, INTEGER, UNSIGNED, FLOAT, BITS, LOGIC, FIXED, UFIXED, POINTER, STRING, TIME = range(12)


def head(major, value):
    if value < 24:
        return bytes([major << 5 | value])
    for code, size in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if value < 1 << 8 * size:
            return bytes([major << 5 | code]) + value.to_bytes(size, "big")
    raise ValueError(value)


def number(value):
    return head(0, value) if value >= 0 else head(1, -1 - value)


def raw(data):
    return head(2, len(data)) + data


def text(string):
    data = string if isinstance(string, bytes) else string.encode()
    return head(3, len(data)) + data


def array(*items):
    return head(4, len(items)) + b"".join(items)


def open_array(*items):
    return b"\x9f" + b"".join(items) + b"\xff"


def tag(value, content):
    return head(6, value) + content


def single(value):
    return b"\xfa" + struct.pack(">f", value)


def double(value):
    return b"\xfb" + struct.pack(">d", value)


def info(exponent=-12, seconds=1_700_000_000):
    return tag(6, raw(array(number(exponent), tag(1, number(seconds)))))


def dictionary(names, first=0):
    return tag(8, raw(head(5, len(names)) + b"".join(number(first + i) + text(name) for i, name in enumerate(names))))


def stream(number_, name, kind):
    return tag(16, array(number(number_), number(name), number(kind)))


def generator(number_, name, of):
    return tag(17, array(number(number_), number(name), number(of)))


def directory(*entries):
    return tag(10, raw(open_array(*entries)))


def row(number_, of, begin, end, *attributes):
    return array(tag(6, array(*map(number, (number_, of, begin, end)))), *attributes)


def attribute(when, name, kind, value):
    return tag(7 + when, array(number(name), number(kind), value))


def block(of, begin, end, *rows):
    return tag(12, array(number(of), number(begin), number(end), raw(open_array(*rows))))


def relation(*numbers):
    return array(*map(number, numbers))


def relations(*items):
    return tag(14, raw(open_array(*items)))


def literals(data):
    """An LZ4 block that holds the data as they are."""
    length, begin = len(data), bytes([min(len(data), 15) << 4])
    if length >= 15:
        begin += b"\xff" * ((length - 15) // 255) + bytes([(length - 15) % 255])
    return begin + data


def packed(chunk):
    """The same chunk, compressed. It is one of those above: a tag, perhaps an array of four, and a string."""
    kind, rest = chunk[0], chunk[1:]
    if kind == 0xcc:
        rest, begin = rest[1:], b""
        for _ in range(3):
            size = 1 if rest[0] < 24 else 1 + (1 << rest[0] - 24)
            begin, rest = begin + rest[:size], rest[size:]
    else:
        begin = b""
    size = {24: 1, 25: 2, 26: 4}.get(rest[0] & 31, 0)
    data = rest[1 + size:]
    items = (4 if kind == 0xcc else 1) + 1
    return bytes([kind + 1]) + head(4, items) + begin + number(len(data)) + raw(literals(data))


def file(*chunks, end=b"\xff"):
    return b"\xd9\xd9\xf7\x9f" + b"".join(chunks) + end


ENTRIES = (stream(1, 1, 2), stream(2, 6, 7), generator(3, 3, 1), generator(4, 8, 2), generator(5, 9, 2), generator(6, 3, 2))
ROWS = (row(10, 3, 1000, 5000, attribute(0, 4, UNSIGNED, number(4096)), attribute(2, 15, TIME, number(4001))),
        row(11, 3, 2500, 6000, attribute(1, 13, FLOAT, double(0.1)), attribute(1, 13, FLOAT, single(0.5))),
        row(1 << 61, 3, 7000, 7000))
WORK = (row(20, 5, 4000, 4000, attribute(0, 10, STRING, number(11))),
        row(21, 4, 3000, 9000, attribute(0, 4, INTEGER, number(-7)), attribute(0, 4, UNSIGNED, number(2**40)), attribute(0, 11, BOOLEAN, b"\xf5")),
        row(0, 4, 9000, 9500, attribute(0, 11, BITS, number(11)), attribute(0, 11, POINTER, number(64))))
RELATIONS = (relation(5, 10, 11, 1, 1), relation(12, 21, 20, 2, 2), relation(12, 10, 21), relation(5, 21, 0, 2, 2))
WHOLE = (info(), dictionary(NAMES), directory(*ENTRIES), block(1, 1000, 7000, *ROWS), block(2, 3000, 9500, *WORK), relations(*RELATIONS))


def make(folder):
    damaged = tag(12, array(number(1), number(2000), number(8000), raw(b"\x9f" + ROWS[0] + b"\x83\x01")))
    beyond = dictionary(["x"], 1 << 40)
    # what readers accept, or may meet
    odd = (tag(6, array(number(-12), tag(1, double(1.7e9)))), tag(6, raw(array(number(-12), tag(1, number(1_700_000_001))))),
           block(2, 3000, 9500, *WORK[:2]), tag(12, array(number(1), number(0), number(1), raw(array(*ROWS)))),
           tag(8, raw(b"\xbf" + b"".join(number(i) + text(name) for i, name in reversed(list(enumerate(NAMES)))) + b"\xff")), beyond,
           tag(10, raw(array(*ENTRIES))), tag(14, raw(array(*RELATIONS))))
    values = row(30, 3, 9000, 8000, attribute(0, 4, BOOLEAN, number(1)), attribute(0, 4, 12, array(number(1))), attribute(0, 4, UNSIGNED, text("no")),
                 tag(99, array(number(1), number(2))), attribute(0, 1 << 40, STRING, number(77)), attribute(1, 13, FIXED, b"\xf9\x3e\x00"),
                 attribute(1, 13, UFIXED, number(-3)))
    texts = dictionary(["", b"not \xff UTF-8", 'a "quote"\n', "two words"])
    files = {
        "whole": file(*WHOLE),
        "packed": file(WHOLE[0], *map(packed, WHOLE[1:])),
        "exact": file(info(), dictionary(["", "s", "g", "x", "x.exact", "0.1", "7"]), directory(stream(1, 1, 0), generator(2, 2, 1)),
                      block(1, 0, 1, row(1, 2, 0, 1000, attribute(0, 3, FLOAT, single(0.1)), attribute(0, 4, STRING, number(5)),
                                         attribute(1, 3, FLOAT, single(0.1)), attribute(1, 4, STRING, number(6))))),
        "odd": file(*odd, end=b""),
        "values": file(*WHOLE[:3], block(1, 8000, 9000, values), beyond),
        "femto": file(info(-15), *WHOLE[1:]),
        "texts": file(info(), texts, directory(stream(1, 1, 2), generator(2, 3, 1)), block(1, 0, 1, row(1, 2, 0, 1, attribute(0, 2, STRING, number(2))))),
        "undeclared": file(info(), dictionary(NAMES), block(77, 0, 1, row(1, 5, 0, 1000))),
        "losses": file(info(), dictionary(["", "txtrace.losses", "losses", "loss", "cpu", "span_events", "sched_events", "pid", "tid"]),
                       directory(stream(1, 1, 2), generator(2, 3, 1)),
                       block(1, 0, 1, row(1, 2, 1000, 9000, attribute(0, 4, UNSIGNED, number(3)), attribute(0, 5, UNSIGNED, number(5)),
                                          attribute(0, 6, UNSIGNED, number(7)), attribute(0, 7, UNSIGNED, number(11)),
                                          attribute(0, 8, UNSIGNED, number(13))))),
        "no_info": file(*WHOLE[1:]),
        "empty": file(),
        "after": file(*WHOLE) + b"rubbish",
        "bad_lz4": file(*WHOLE[:3], b"\xcd" + array(number(1), number(2000), number(8000), number(50), raw(b"\xf0rubbish")), *WHOLE[3:]),
        "bad_block": file(*WHOLE[:3], damaged, *WHOLE[4:]),
        "bad_tag": file(*WHOLE[:3], tag(40, array(number(1), open_array(text("x")))), *WHOLE[3:]),
        "bad_shape": file(*WHOLE[:3], tag(12, array(number(1), number(2))), *WHOLE[3:]),
        "bad_item": file(*WHOLE[:4], b"\x1c"),
        "no_chunk": file(*WHOLE[:4], number(7)),
        "cut": file(*WHOLE[:4], WHOLE[4][:-3], end=b""),
        "huge": file(*WHOLE[:4], b"\xcc" + head(4, 4) + number(2) + number(3000) + number(9500) + head(2, 1 << 62), end=b""),
        "overflow": file(*WHOLE[:4], b"\xce" + head(2, (1 << 64) - 1), end=b""),
        "deep": file(*WHOLE[:4], tag(40, b"\x81" * 1000), *WHOLE[4:]),
        "other": b"rubbish",
    }
    for name, data in files.items():
        (pathlib.Path(folder) / (name + ".ftr")).write_bytes(data)
    (pathlib.Path(folder) / "offsets").write_text("".join(f"{name} {value}\n" for name, value in {
        "third": len(file(*WHOLE[:3], end=b"")), "fourth": len(file(*WHOLE[:4], end=b""))}.items()))


def mutate(seed, count, folder, sources):
    rng = random.Random(int(seed))
    folder = pathlib.Path(folder)
    folder.mkdir()
    for number_ in range(int(count)):
        data = bytearray(pathlib.Path(rng.choice(sources)).read_bytes())
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(4, max(5, len(data)))
            what = rng.randrange(4)
            if what == 0:
                data[at:at + 1] = bytes([rng.randrange(256)])
            elif what == 1:
                del data[at:at + rng.randint(1, 40)]
            elif what == 2:
                data[at:at] = rng.choice([b"\xff", b"\x9f", b"\xbf", b"\x1b" + b"\xff" * 8, b"\x5b\xff\xff\xff\xff\xff\xff\xff\xff", rng.randbytes(5)])
            else:
                begin = rng.randrange(4, max(5, len(data)))
                data[at:at] = data[begin:begin + rng.randint(1, 100)]
        (folder / f"{number_}.ftr").write_bytes(data)


def large(count, path):
    with open(path, "wb") as out:
        out.write(file(info(), dictionary(NAMES), directory(*ENTRIES), end=b""))
        for first in range(0, count, 2000):
            for of, gen in ((1, 3), (2, 4)):
                rows = [row(2 * i + of, gen, i * 1_000_000, i * 1_000_000 + 700_000 * of, attribute(0, 4, UNSIGNED, number(i * 64)),
                            attribute(0, 11, STRING, number(6)), attribute(2, 15, TIME, number(i * 1000))) for i in range(first // 2, min(first + 2000, count) // 2)]
                out.write(block(of, first // 2 * 1_000_000, (first + 2000) * 1_000_000, *rows))
        out.write(b"\xff")


if sys.argv[1] == "make":
    make(sys.argv[2])
elif sys.argv[1] == "mutate":
    mutate(*sys.argv[2:5], sys.argv[5:])
else:
    large(int(sys.argv[2]), sys.argv[3])
