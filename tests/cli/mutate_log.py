# SPDX-License-Identifier: BSD-2-Clause
"""mutate_log.py [--seed N] [--count N] FOLDER LOG...

Logs that lie and whose checksums are right: FOLDER/0.txtrace, 1.txtrace, ..., each one of the LOGs with one to four changes, and then with the
lengths and CRCs that docs/log-format.md asks for. The same seed makes the same files. Prints for each: its name, the log that it is made of, and what
was done to it. Of a LOG, the payloads that can be changed inside are those without compression.
"""
import argparse
import copy
import pathlib
import random
import struct
import sys

SYNC = b"\xf5\xc3TXB\x9a\x00\xff"
END = b"TXEND\r\n\x1a"
U64 = (1 << 64) - 1
# What numbers are stretched to: the limits of the format, of the types that hold them, and one beyond.
EXTREMES = [0, 1, 2, 63, 127, 128, 255, 256, 4095, 4096, 8416, 65535, 65536, 262144, 262145, (1 << 23) + 1, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32,
            (1 << 63) - 1, 1 << 63, U64 - 1, U64]
# What a terminal, a markup language, a shell or a CI system could take for its own.
NASTY = [b"\x1b[2J\x1b]0;x\x07", b"\r\n::error::x", b"</script><script>", b"]]>&<'\"", b"\xe2\x80\xae", b"\xff\xfe\x80", b"\xed\xa0\x80", b"\0\0",
         b"\xc2\x9b31m", b"a;b c\n", b"%n%s{}", b"a,b=c", b"\xe2\x80\xa8"]


def crc_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    return table


TABLE = crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def leb128(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_leb128(data, at):
    value = shift = 0
    while at < len(data):
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            break
    return value, at


class Block:
    """Of a batch without compression, `sections` is [id, bytes]...; then the payload is made of them."""

    def __init__(self, header, payload):
        self.header, self.payload, self.sections = bytearray(header), payload, None
        self.lies_about_lengths = False
        if header[9] == 1 and header[10] == 0:
            self.sections = self.split(payload)

    @staticmethod
    def split(payload):
        count, at = read_leb128(payload, 0)
        directory = []
        for _ in range(count):
            section, at = read_leb128(payload, at)
            length, at = read_leb128(payload, at)
            directory.append((section, length))
        sections = []
        for section, length in directory:
            sections.append([section, bytes(payload[at:at + length])])
            at += length
        return sections

    def bytes(self):
        payload = self.payload
        if self.sections is not None:
            payload = leb128(len(self.sections)) + b"".join(leb128(section) + leb128(len(data)) for section, data in self.sections)
            payload += b"".join(data for _, data in self.sections)
        if not self.lies_about_lengths:
            struct.pack_into("<I", self.header, 16, len(payload))
            if self.header[10] == 0:
                struct.pack_into("<I", self.header, 20, len(payload))
        struct.pack_into("<I", self.header, 28, crc32c(payload))
        struct.pack_into("<I", self.header, len(self.header) - 4, crc32c(self.header[:-4]))
        return bytes(self.header) + payload


class Log:
    def __init__(self, data):
        length = struct.unpack_from("<I", data, 12)[0]
        self.header = bytearray(data[:length])
        self.blocks, self.footer = [], None
        self.footer_says = {}
        at = length
        while data[at:at + 8] == SYNC:
            header_bytes, stored_bytes = struct.unpack_from("<II", data, at + 12)
            self.blocks.append(Block(data[at:at + header_bytes], data[at + header_bytes:at + header_bytes + stored_bytes]))
            at += header_bytes + stored_bytes
        self.has_footer = data[at:at + 8] == END

    def strings(self):
        """Where the strings of the header begin and end, as far as they do."""
        at, places = 88, []
        while len(places) < 5 and at + 2 < len(self.header):
            length = struct.unpack_from("<H", self.header, at)[0]
            places.append((at + 2, at + 2 + length))
            at += 2 + length
        return places

    def bytes(self):
        struct.pack_into("<I", self.header, 12, len(self.header))
        struct.pack_into("<I", self.header, len(self.header) - 4, crc32c(self.header[:-4]))
        out, index = bytes(self.header), (0, 0)
        for block in self.blocks:
            made = block.bytes()
            if block.header[9] == 2:
                index = (len(out), len(made))
            out += made
        if self.has_footer:
            at, length = (self.footer_says.get(what, said) for what, said in zip(("offset", "length"), index))
            footer = END + struct.pack("<QI", at & U64, length & 0xFFFFFFFF)
            out += footer + struct.pack("<I", crc32c(footer))
        return out


# ---- changes: each takes a log and a source of chance, and says what it did, or None: there was nothing to change ----

def change_number(data, chance):
    """A LEB128 number of these bytes becomes another one: any, or an extreme."""
    starts = [at for at in range(len(data)) if at == 0 or data[at - 1] < 128]
    at = chance.choice(starts)
    _, end = read_leb128(data, at)
    value = chance.choice(EXTREMES) if chance.random() < 0.7 else chance.randrange(1 << chance.randrange(1, 64))
    return data[:at] + leb128(value) + data[end:], f"the number at {at} is {value}"


def batches(log):
    return [block for block in log.blocks if block.sections]


def section_number(log, chance):
    block = chance.choice(batches(log) or [None])
    section = chance.choice([s for s in block.sections if s[1]]) if block else None
    if not section:
        return None
    section[1], what = change_number(section[1], chance)
    return f"section {section[0]}: {what}"


def section_byte(log, chance):
    block = chance.choice(batches(log) or [None])
    section = chance.choice([s for s in block.sections if s[1]]) if block else None
    if not section:
        return None
    data = bytearray(section[1])
    at = chance.randrange(len(data))
    data[at] = chance.choice([0, 1, 127, 128, 223, 224, 241, 242, 255, chance.randrange(256)])
    section[1] = bytes(data)
    return f"section {section[0]}: byte {at} is {data[at]}"


def section_strings(log, chance):
    """Bytes of the names or texts; their lengths stay."""
    found = [s for block in batches(log) for s in block.sections if s[0] in (2, 3) and len(s[1]) > 4]
    if not found:
        return None
    section = chance.choice(found)
    nasty = chance.choice(NASTY)
    count, at = read_leb128(section[1], 0)
    for _ in range(count):
        _, at = read_leb128(section[1], at)
    if len(section[1]) - at < 1:
        return None
    place = at + chance.randrange(len(section[1]) - at)
    section[1] = (section[1][:place] + nasty)[:len(section[1])] + section[1][place + len(nasty):]
    return f"section {section[0]}: {nasty!r} at {place}"


def section_order(log, chance):
    block = chance.choice(batches(log) or [None])
    if not block or len(block.sections) < 2:
        return None
    one, other = chance.sample(range(len(block.sections)), 2)
    how = chance.choice(["drop", "twice", "swap", "rename", "exchange", "empty"])
    what = f"sections {block.sections[one][0]} and {block.sections[other][0]}: {how}"
    if how == "drop":
        del block.sections[one]
    elif how == "twice":
        block.sections.insert(other, list(block.sections[one]))
    elif how == "swap":
        block.sections[one], block.sections[other] = block.sections[other], block.sections[one]
    elif how == "rename":
        block.sections[one][0] = chance.choice([0, 9, 255, 256 + chance.randrange(32768), 65536 + chance.randrange(8192), U64, block.sections[other][0]])
    elif how == "exchange":
        block.sections[one][1], block.sections[other][1] = block.sections[other][1], block.sections[one][1]
    else:
        block.sections[one][1] = b""
    return what


def payload_cut(log, chance):
    """Bytes of a payload as they are, directory included: a length, a count, the end."""
    found = [block for block in log.blocks if len(block.payload) > 2]
    if not found:
        return None
    block = chance.choice(found)
    block.payload, block.sections = block.bytes()[len(block.header):], None
    if chance.random() < 0.3:
        block.payload = block.payload[:chance.randrange(len(block.payload))]
        return f"a payload ends at {len(block.payload)}"
    head, rest = block.payload[:40], block.payload[40:]
    head, what = change_number(head, chance)
    block.payload = head + rest
    return f"a directory: {what}"


def block_numbers(log, chance):
    if not log.blocks:
        return None
    block = chance.choice(log.blocks)
    name, code, at = chance.choice([("major", "B", 8), ("type", "B", 9), ("codec", "B", 10), ("stored", "I", 16), ("raw", "I", 20), ("records", "I", 24),
                                    ("sequence", "Q", 32), ("least", "Q", 40), ("greatest", "Q", 48), ("anchor", "Q", 56), ("real", "Q", 64)])
    value = chance.choice([e for e in EXTREMES if e < 1 << 8 * struct.calcsize(code)])
    if name in ("major", "type", "codec"):
        value = chance.choice([0, 1, 2, 3, 255])
    struct.pack_into("<" + code, block.header, at, value)
    block.lies_about_lengths |= name in ("stored", "raw")
    return f"{name} of a block is {value}"


def block_times(log, chance):
    """All blocks at once: the whole capture is at 0, at the end of time, or spans it."""
    least, greatest = chance.choice([(0, 0), (U64, U64), (0, U64), (U64, 0)])
    for block in log.blocks:
        struct.pack_into("<QQ", block.header, 40, least, greatest)
    return f"all blocks are from {least} to {greatest}"


def block_order(log, chance):
    if len(log.blocks) < 2:
        return None
    one, other = chance.sample(range(len(log.blocks)), 2)
    how = chance.choice(["drop", "twice", "often", "swap", "rename"])
    if how == "drop":
        del log.blocks[one]
    elif how == "twice":
        log.blocks.insert(other, copy.deepcopy(log.blocks[one]))
    elif how == "often":
        log.blocks[other:other] = [copy.deepcopy(log.blocks[one]) for _ in range(50)]
    elif how == "swap":
        log.blocks[one], log.blocks[other] = log.blocks[other], log.blocks[one]
    else:
        log.blocks[one].header[9] = 3 - log.blocks[one].header[9]
    return f"blocks {one} and {other}: {how}"


def header_numbers(log, chance):
    name, code, at = chance.choice([("minor", "H", 10), ("boot id", "Q", 32), ("monotonic", "Q", 48), ("real", "Q", 56), ("pid", "I", 64), ("cpus", "I", 68),
                                    ("part", "I", 72), ("padding", "I", 76), ("sequence", "Q", 80)])
    value = chance.choice([e for e in EXTREMES if e < 1 << 8 * struct.calcsize(code)])
    struct.pack_into("<" + code, log.header, at, value)
    return f"{name} of the file is {value}"


def header_strings(log, chance):
    begin, end = chance.choice(log.strings())
    if chance.random() < 0.3:
        struct.pack_into("<H", log.header, begin - 2, chance.choice([0, 1, 255, 65535]))
        return f"the string at {begin} has another length"
    nasty = chance.choice(NASTY)
    log.header[begin:end] = nasty
    struct.pack_into("<H", log.header, begin - 2, len(nasty))
    return f"the string at {begin} is {nasty!r}"


def index_numbers(log, chance):
    found = [block for block in log.blocks if block.header[9] == 2 and block.payload]
    if not found:
        return None
    block = chance.choice(found)
    block.payload, what = change_number(block.payload, chance)
    return f"the index: {what}"


def footer_places(log, chance):
    if not log.has_footer:
        log.has_footer = True
        return "a footer where there was none"
    size = len(log.bytes())
    if chance.random() < 0.2:
        log.has_footer = False
        return "there is no footer"
    log.footer_says["offset"] = chance.choice([0, 1, len(log.header), size // 2, size - 24, size, size + 1, 1 << 63, U64, chance.randrange(size)])
    if chance.random() < 0.5:
        log.footer_says["length"] = chance.choice([0, 91, 92, 93, size, (1 << 31) - 1, (1 << 32) - 1])
    return f"the footer leads to {log.footer_says}"


CHANGES = [section_number, section_number, section_number, section_byte, section_byte, section_strings, section_strings, section_order, payload_cut, block_numbers,
           block_times, block_order, header_numbers, header_strings, index_numbers, footer_places]


def mutate(log, chance, more):
    """At least one change is made; the same one may undo what another did."""
    done = []
    for _ in range(chance.randrange(1, 5)):
        what = chance.choice(CHANGES)(log, chance)
        if what:
            done.append(what)
    if chance.random() < 0.1:
        other = Log(chance.choice(more))
        for block in other.blocks:
            block.header[72:88] = log.header[16:32]
        log.blocks[-1:-1] = other.blocks
        done.append("with the blocks of another log")
    return done or [header_numbers(log, chance)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("log", type=pathlib.Path, nargs="+")
    options = parser.parse_args()
    contents = [path.read_bytes() for path in options.log]
    for path, data in zip(options.log, contents):
        if Log(data).bytes() != data:
            sys.exit(f"mutate_log.py: '{path}' is not what it is made of")
    for number in range(options.count):
        chance = random.Random(options.seed * 1000003 + number)
        log = Log(contents[number % len(contents)])
        done = mutate(log, chance, contents)
        (options.folder / f"{number}.txtrace").write_bytes(log.bytes())
        print(f"{number} {options.log[number % len(contents)].name}: {'; '.join(done)}")


if __name__ == "__main__":
    main()
