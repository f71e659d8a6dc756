# SPDX-License-Identifier: BSD-2-Clause
"""What a program writes to a terminal, read at the terminal's other end."""
import os


def pieces(fd):
    """
    Each piece of it, until the program has closed its end. A read fails then. It also
    fails where the last bytes and the close came between two steps of the kernel's
    read; the next read has those bytes. So two reads in a row must fail.
    """
    failed = 0
    while failed < 2:
        try:
            data = os.read(fd, 65536)
        except OSError:
            data = b""
        failed = 0 if data else failed + 1
        yield data
