# SPDX-License-Identifier: BSD-2-Clause
"""export_sui_check.py FILE: how many records each batch has, as the number in front of its payload says; each has to have as many."""
import struct
import sys

BYTES = {0: 13, 1: 3, 2: 13, 3: 34}


def uleb(data, at):
    value = shift = 0
    while data[at] & 0x80:
        value, shift, at = value | (data[at] & 0x7f) << shift, shift + 7, at + 1
    return value | data[at] << shift, at + 1


def counts(data):
    at = 0
    while at < len(data):
        length, = struct.unpack_from("<I", data, at)
        payload, at = data[at + 4:at + 4 + length], at + 4 + length
        count, inside = uleb(payload, 0)
        for _ in range(count):
            inside += BYTES[payload[inside]]
        assert inside == len(payload) == length, (inside, length)
        yield count


with open(sys.argv[1], "rb") as opened:
    print(*counts(opened.read()))
