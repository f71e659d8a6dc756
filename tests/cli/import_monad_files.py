# SPDX-License-Identifier: BSD-2-Clause
"""
Monad event rings with known answers, written from the format's description.

import_monad_files.py make FOLDER                             the stories below, and what is wrong with files
import_monad_files.py large EVENTS FILE                       a long execution, for `make bench`
import_monad_files.py mutate SEED COUNT FOLDER FILE...        files that somebody has changed
"""
import pathlib
import random
import struct
import subprocess
import sys

AREA = 2 << 20
CAPACITY = 1 << 16
PAYLOADS = 1 << 27
T = 1_700_000_000_000_000_000
US = 1000
HASH = bytes.fromhex("8933f907c432c98ac0c8db62f9aa164c0c3f1672f41290e4ea3408df6c6723f3")
RECORD_ERROR, BLOCK_START, BLOCK_REJECT, BLOCK_ENTER, BLOCK_EXIT, BLOCK_END, BLOCK_QC, BLOCK_FINALIZED, BLOCK_VERIFIED = range(1, 10)
HEADER_START, HEADER_END, TXN_REJECT, TXN_ENTER, TXN_EXIT, TXN_LOG, TXN_END = 10, 13, 14, 15, 16, 18, 20


class Ring:
    """Numbers and payloads are given out as by a writer."""

    def __init__(self, content=2, schema=HASH, first=1, payload=0, window=0, capacity=CAPACITY):
        self.content, self.schema, self.capacity = content, schema, capacity
        self.next, self.payload, self.window = first, payload, window
        self.slots, self.payloads = {}, []

    def add(self, kind, time_us, payload=b"", words=(), is_finished=True, number=None, size=None):
        taken, self.next = self.next, self.next + 1
        offset = self.payload
        self.payload += (len(payload) + 15) // 16 * 16
        for at, byte in enumerate(payload):
            self.payloads.append(((offset + at) % PAYLOADS, byte))
        shown = (number if number is not None else taken) if is_finished else 0
        self.slots[(taken - 1) % self.capacity] = struct.pack("<QHHIQQ4Q", shown, kind, 0, len(payload) if size is None else size, T + int(time_us * US),
                                                              offset, *(tuple(words) + (0, 0, 0, 0))[:4])
        return taken

    def header(self):
        head = b"RING01" + struct.pack("<H", self.content) + self.schema + struct.pack("<5Q", self.capacity, PAYLOADS, 0, self.next - 1, self.payload)
        return head.ljust(128, b"\0") + struct.pack("<Q", self.window)

    def pieces(self):
        """Offset and bytes of what is not zero; neighbours are one piece."""
        parts = [(0, self.header())] + [(AREA + slot * 64, data) for slot, data in sorted(self.slots.items())]
        parts += [(AREA + self.capacity * 64 + at, bytes([byte])) for at, byte in sorted(self.payloads)]
        joined = []
        for offset, data in parts:
            if joined and joined[-1][0] + len(joined[-1][1]) == offset:
                joined[-1][1].extend(data)
            else:
                joined.append((offset, bytearray(data)))
        return joined

    def write(self, path, length=None):
        whole = AREA + self.capacity * 64 + PAYLOADS
        with open(path, "wb") as out:
            for offset, data in self.pieces():
                out.seek(offset)
                out.write(data)
            out.truncate(whole if length is None else length)


def tag(number):
    return bytes([number]) * 32 + struct.pack("<Q", number)


def example():
    """The worked example of the format's description: number 2 is a hole."""
    ring = Ring(content=1, schema=bytes(32))
    ring.add(2, 0, b"\7" + bytes(7) + struct.pack("<Q", 42))
    ring.add(2, 1, is_finished=False)
    return ring


def blocks():
    """
    Block 7 with transactions 0 and 1, which overlap; 1 is rejected. Block 8 is rejected. Block 9 does not end, and neither does its transaction 2;
    transaction 5 of it ends without a begin, and transaction 2 begins twice. An event's time lies before that of the event in front of it.
    """
    ring = Ring()
    block = ring.add(BLOCK_START, 0, tag(7) + bytes(8), (1,))
    ring.add(BLOCK_ENTER, 10, words=(block,))
    ring.add(TXN_ENTER, 20, words=(block, 1))
    ring.add(HEADER_START, 22, bytes([0xab]) * 32 + bytes(20), (block, 1))
    ring.add(TXN_ENTER, 30, words=(block, 2))
    ring.add(HEADER_END, 23, words=(block, 1))
    ring.add(TXN_LOG, 50, b"l" * 40, (block, 1))
    ring.add(TXN_REJECT, 60, struct.pack("<I", 3), (block, 2))
    ring.add(TXN_EXIT, 70, words=(block, 2))
    ring.add(TXN_END, 80, words=(block, 1))
    ring.add(TXN_EXIT, 90, words=(block, 1))
    ring.add(BLOCK_EXIT, 100, words=(block,))
    ring.add(BLOCK_END, 110, bytes(40), (block,))
    second = ring.add(BLOCK_START, 200, tag(8), (ring.next,))
    ring.add(BLOCK_QC, 205, tag(7) + bytes(16))
    ring.add(BLOCK_ENTER, 210, words=(second,))
    ring.add(BLOCK_REJECT, 220, struct.pack("<I", 9), (second,))
    third = ring.add(BLOCK_START, 300, tag(9), (ring.next,))
    ring.add(BLOCK_FINALIZED, 305, tag(7))
    ring.add(BLOCK_ENTER, 310, words=(third,))
    ring.add(TXN_ENTER, 320, words=(third, 3))
    ring.add(TXN_ENTER, 330, words=(third, 3))
    ring.add(TXN_EXIT, 340, words=(third, 6))
    ring.add(BLOCK_VERIFIED, 400, struct.pack("<Q", 7))
    return ring


def holes():
    """3 and 4 were never finished, 6 has the number that a stalled writer gave it a lap later, the last one was never finished. 5 is a RECORD_ERROR."""
    ring = Ring()
    block = ring.add(BLOCK_START, 0, tag(7), (1,))
    ring.add(BLOCK_ENTER, 10, words=(block,))
    ring.add(TXN_ENTER, 20, words=(block, 1), is_finished=False)
    ring.add(TXN_ENTER, 30, words=(block, 2), is_finished=False)
    ring.add(RECORD_ERROR, 40, struct.pack("<HHIQ", 2, TXN_LOG, 64, 200_000_000) + bytes(64))
    ring.add(TXN_LOG, 45, words=(block, 2), number=2)
    ring.add(TXN_EXIT, 50, words=(block, 1))
    ring.add(BLOCK_EXIT, 60, words=(block,))
    ring.add(TXN_ENTER, 70, words=(block, 2), is_finished=False)
    return ring


def wrap():
    """Numbers and payloads run over the end of their buffers; the first payload has expired. Of the 65,536 numbers that may be there, 6 are."""
    ring = Ring(first=CAPACITY - 2, payload=PAYLOADS - 64, window=PAYLOADS - 60)
    block = ring.add(BLOCK_START, 0, tag(7), (CAPACITY - 2,))
    ring.add(BLOCK_ENTER, 10, words=(block,))
    ring.add(TXN_ENTER, 20, words=(block, 1))
    ring.add(HEADER_START, 30, bytes(range(1, 33)), (block, 1))
    ring.add(TXN_EXIT, 40, words=(block, 1))
    ring.add(BLOCK_EXIT, 50, words=(block,))
    return ring


def other():
    """Of another content: types and words."""
    ring = Ring(content=9, schema=bytes(32))
    ring.add(77, 0, b"abc", (5, 0, 0, 2**64 - 1))
    ring.add(3, 1)
    return ring


def late():
    """A time beyond the year 2262."""
    ring = Ring()
    ring.add(TXN_LOG, 0)
    ring.add(TXN_LOG, 9_000_000_000_000_000)
    ring.add(TXN_LOG, 1)
    return ring


def fields(**changes):
    ring = blocks()
    data = bytearray(ring.header())
    for at, value in changes.items():
        data[int(at[1:]):int(at[1:]) + len(value)] = value
    return bytes(data)


def bad_headers():
    quad = lambda value: struct.pack("<Q", value)
    return {"version": fields(a4=b"02"), "capacity": fields(a40=quad(65537)), "small": fields(a40=quad(1 << 15)), "large": fields(a40=quad(1 << 33)),
            "payload": fields(a48=quad(3 << 27)), "context": fields(a56=quad(12)), "header": fields()[:100]}


def pack(path):
    subprocess.run(["zstd", "-qf", "--rm", path, "-o", str(path) + ".zst"], check=True)


def make(folder):
    for story in (example, blocks, holes, wrap, other, late):
        story().write(folder / f"{story.__name__}.ring")
    whole = AREA + CAPACITY * 64 + PAYLOADS
    blocks().write(folder / "short.ring", whole - 8)
    blocks().write(folder / "cut.ring", AREA + 64 * 11 + 5)
    blocks().write(folder / "cut_payloads.ring", AREA + CAPACITY * 64 + 32)
    blocks().write(folder / "packed.ring")
    pack(folder / "packed.ring")
    data = (folder / "packed.ring.zst").read_bytes()
    (folder / "torn.ring.zst").write_bytes(data[:len(data) // 2])
    for name, data in bad_headers().items():
        with open(folder / f"bad_{name}.ring", "wb") as out:
            out.write(data)
            if name != "header":
                out.truncate(whole)
    large = Ring(capacity=1 << 32)  # 256 GiB of descriptors, which nobody has written
    large.next = 1 << 40
    large.slots = {}
    with open(folder / "sparse.ring", "wb") as out:
        out.write(large.header())
        out.truncate(AREA + (64 << 32) + PAYLOADS)


def large_file(count, path):
    """Blocks of 200 transactions of 8 events, a third of which have payloads that are used."""
    capacity = 1 << (count - 1).bit_length()
    ring = Ring(capacity=max(capacity, CAPACITY))
    number, slots, payload, time = 1, bytearray(), bytearray(), T
    def add(kind, size, words):
        nonlocal number, time
        slots.extend(struct.pack("<QHHIQQ4Q", number, kind, 0, size, time, len(payload), *words, 0, 0))
        payload.extend(bytes(size + -size % 16))
        number, time = number + 1, time + 1000
    while number + 1604 <= count:
        block = number
        add(BLOCK_START, 48, (block, 0))
        add(BLOCK_ENTER, 0, (block, 0))
        for txn in range(1, 201):
            add(TXN_ENTER, 0, (block, txn))
            add(HEADER_START, 48, (block, txn))
            add(HEADER_END, 0, (block, txn))
        for txn in range(1, 201):
            for kind, size in ((TXN_LOG, 32), (19, 32), (23, 64), (TXN_END, 0), (TXN_EXIT, 0)):
                add(kind, size, (block, txn))
        add(BLOCK_EXIT, 0, (block, 0))
        add(BLOCK_END, 48, (block, 0))
    ring.next, ring.payload = number, len(payload)
    with open(path, "wb") as out:
        out.write(ring.header())
        out.seek(AREA)
        out.write(slots)
        out.seek(AREA + ring.capacity * 64)
        out.write(payload)
        out.truncate(AREA + ring.capacity * 64 + PAYLOADS)


def mutate(seed, count, folder, files):
    """What is changed lies in the header and where something is."""
    source = random.Random(seed)
    folder.mkdir()
    for index in range(count):
        path = pathlib.Path(source.choice(files))
        target = folder / f"{index}.ring"
        subprocess.run(["cp", "--sparse=always", path, target], check=True)
        with open(target, "r+b") as out:
            for _ in range(source.randint(1, 6)):
                area = source.randrange(4)
                at = source.choice([40, 48, 56, 64, 72, 128, 0]) if area == 0 else AREA + source.randrange(64 * 30)
                out.seek(at + source.randrange(8))
                out.write(source.choice([b"\0", b"\1", b"\xff", b"\xff" * 8, bytes(8), source.randbytes(3)]))
            if source.randrange(4) == 0:
                out.truncate(source.choice([source.randrange(200), AREA + source.randrange(2000), AREA + CAPACITY * 64 + source.randrange(4000)]))


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(pathlib.Path(sys.argv[2]))
    elif sys.argv[1] == "large":
        large_file(int(sys.argv[2]), sys.argv[3])
    else:
        mutate(int(sys.argv[2]), int(sys.argv[3]), pathlib.Path(sys.argv[4]), sys.argv[5:])
