# SPDX-License-Identifier: BSD-2-Clause
"""
forge_symbols.py PROGRAM FILE: writes a copy of the program whose symbols take for ever to sort by name. All of them
are at one address, and the name of each is a tail of the same 16 million bytes. The code is the same.
"""
import os
import struct
import sys

SYMBOL_CNT = 100000
NAME_BYTES = 16 << 20
FUNCTION = 0x12  # STB_GLOBAL, STT_FUNC


def section_of_type(elf, wanted):
    """Offset of the header of the first section of that type, and its sh_link."""
    table, = struct.unpack_from("<Q", elf, 0x28)
    entry, cnt = struct.unpack_from("<HH", elf, 0x3a)
    for i in range(cnt):
        at = table + i * entry
        if struct.unpack_from("<I", elf, at + 4)[0] == wanted:
            return at, table + struct.unpack_from("<I", elf, at + 0x28)[0] * entry
    raise ValueError(f"there is no section of type {wanted}")


def main():
    program, path = sys.argv[1:]
    with open(program, "rb") as file:
        elf = bytearray(file.read())
    symbols, names = section_of_type(elf, 2)
    entry, = struct.unpack_from("<Q", elf, 0x18)
    table = b"".join(struct.pack("<IBBHQQ", 1 + i, FUNCTION, 0, 1, entry, 1) for i in range(SYMBOL_CNT))
    struct.pack_into("<QQ", elf, symbols + 0x18, len(elf), len(table))
    elf += table
    struct.pack_into("<QQ", elf, names + 0x18, len(elf), NAME_BYTES + 2)
    elf += b"\0" + b"a" * NAME_BYTES + b"\0"
    with open(path, "wb") as file:
        file.write(elf)
    os.chmod(path, 0o755)


if __name__ == "__main__":
    main()
