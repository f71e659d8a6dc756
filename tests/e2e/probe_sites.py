# SPDX-License-Identifier: BSD-2-Clause
"""probe_sites.py PROGRAM PID: whether the process' probes are as the compiler made them, and nobody holds their semaphore. Status 0, or what is wrong."""
import os
import struct
import sys

import forge_notes

CODE_BYTES = 17  # nop, nop5, nop10, ret


def load_address(pid, program_inode):
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            fields = line.split()
            if int(fields[4]) == program_inode and int(fields[2], 16) == 0:
                return int(fields[0].split("-")[0], 16)
    raise ValueError("the program is not mapped")


def main():
    program, pid = sys.argv[1:]
    with open(program, "rb") as file:
        elf = file.read()
    base = load_address(pid, os.stat(program).st_ino)
    text_at, _, text_address = forge_notes.section(elf, b".text")
    _, _, stapsdt_base = forge_notes.section(elf, b".stapsdt.base")
    wrong = []
    with open(f"/proc/{pid}/mem", "rb") as memory:
        for _, descriptor, _ in forge_notes.notes(elf):
            place, noted_base, semaphore = struct.unpack_from("<QQQ", elf, descriptor)
            shift = stapsdt_base - noted_base
            memory.seek(base + place + shift)
            code, offset = memory.read(CODE_BYTES), place + shift - text_address + text_at
            if code != elf[offset:offset + CODE_BYTES]:
                wrong.append(f"at {place:#x} is {code.hex()}")
            memory.seek(base + semaphore + shift)
            count, = struct.unpack("<H", memory.read(2))
            if count:
                wrong.append(f"the semaphore is {count}")
    print("\n".join(sorted(set(wrong))) or "untouched")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
