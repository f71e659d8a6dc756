# SPDX-License-Identifier: BSD-2-Clause
"""forge_notes.py PROGRAM FOLDER: writes a copy of the program for each way to forge its probes' notes, and prints their names. The code is the same."""
import os
import struct
import sys

WILD = (0, 1, 0x7f, (1 << 63), (1 << 64) - 1, (1 << 47) - 1)
ARGUMENTS = (b"8@%rdi", b"-99@%nosuch(%rax,%rbx,16)", b"8@" + b"(" * 64, b"4294967296@18446744073709551616(%rip)", b"\x1b[31m\xff\xfe", b"")


def section(elf, wanted):
    """Offset and size of the section of that name, and its address."""
    table, = struct.unpack_from("<Q", elf, 0x28)
    entry, cnt, names = struct.unpack_from("<HHH", elf, 0x3a)
    names_at, = struct.unpack_from("<Q", elf, table + names * entry + 0x18)
    for i in range(cnt):
        name, _, _, address, offset, size = struct.unpack_from("<IIQQQQ", elf, table + i * entry)
        end = elf.index(b"\0", names_at + name)
        if bytes(elf[names_at + name:end]) == wanted:
            return offset, size, address
    raise ValueError(f"there is no section {wanted}")


def notes(elf):
    """Where each note begins, and its descriptor."""
    at, size, _ = section(elf, b".note.stapsdt")
    end = at + size
    while at < end:
        name_size, size, _ = struct.unpack_from("<III", elf, at)
        descriptor = at + 12 + (name_size + 3 & ~3)
        yield at, descriptor, size
        at = descriptor + (size + 3 & ~3)


def sizes(elf):
    for i, (at, _, _) in enumerate(notes(bytes(elf))):
        if i % 3 == 0:
            struct.pack_into("<I", elf, at + 4, (0xffffffff, 0x7fffffff, 3, 24)[i // 3 % 4])


def owner_sizes(elf):
    first = next(notes(elf))[0]
    struct.pack_into("<I", elf, first, 0xfffffff0)


def places(elf):
    """Anywhere: outside of the file, in the middle of instructions, in data."""
    text, size, address = section(elf, b".text")
    for i, (_, descriptor, _) in enumerate(notes(bytes(elf))):
        inside = address + i * 97 % size
        struct.pack_into("<Q", elf, descriptor, inside if i % 2 else WILD[i // 2 % len(WILD)])


def middles(elf):
    """In the middle of the nops."""
    for i, (_, descriptor, _) in enumerate(notes(bytes(elf))):
        place, = struct.unpack_from("<Q", elf, descriptor)
        struct.pack_into("<Q", elf, descriptor, place + 1 + i % 14)


def semaphores(elf):
    _, size, text = section(elf, b".text")
    for i, (_, descriptor, _) in enumerate(notes(bytes(elf))):
        struct.pack_into("<Q", elf, descriptor + 16, (WILD + (text, text + size // 2))[i % (len(WILD) + 2)])


def bases(elf):
    for i, (_, descriptor, _) in enumerate(notes(bytes(elf))):
        struct.pack_into("<Q", elf, descriptor + 8, WILD[i % len(WILD)])


def arguments(elf):
    """In place: they may not be longer than what is there."""
    for i, (_, descriptor, size) in enumerate(notes(bytes(elf))):
        text = bytes(elf[descriptor + 24:descriptor + size])
        provider, name, old, *_ = text.split(b"\0")
        at = descriptor + 24 + len(provider) + 1 + len(name) + 1
        elf[at:at + len(old)] = ARGUMENTS[i % len(ARGUMENTS)].ljust(len(old), b"x")[:len(old)]


def names(elf):
    """Without an end, or with control characters."""
    for i, (_, descriptor, size) in enumerate(notes(bytes(elf))):
        if i % 2:
            elf[descriptor + 24:descriptor + size] = b"\x1b" * (size - 24)


FORGERIES = (sizes, owner_sizes, places, middles, semaphores, bases, arguments, names)


def main():
    program, folder = sys.argv[1:]
    with open(program, "rb") as file:
        original = file.read()
    for forge in FORGERIES:
        elf = bytearray(original)
        forge(elf)
        path = os.path.join(folder, "forged_" + forge.__name__)
        with open(path, "wb") as file:
            file.write(elf)
        os.chmod(path, 0o755)
        print(path)


if __name__ == "__main__":
    main()
