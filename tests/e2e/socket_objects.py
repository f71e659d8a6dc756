# SPDX-License-Identifier: BSD-2-Clause
"""What a log calls the sockets that were waited for: of `txtrace dump -k object` on stdin, one line "DESCRIPTOR NAME" for each, the last name of each, in
which what cannot be printed is \\xHH, as tests/programs/sockets has it."""
import re
import sys

SHORT = {"n": "0a", "e": "1b", "t": "09", "r": "0d"}


def main():
    names = {}
    for line in sys.stdin:
        found = re.search(r'reason=network object=(0x[0-9a-f]+) name="(.*)"$', line)
        if found:
            names[int(found[1], 16)] = re.sub(r"\\([ntre])", lambda one: "\\x" + SHORT[one[1]], found[2])
    for fd, name in sorted(names.items()):
        print(fd, name)


main()
