# SPDX-License-Identifier: BSD-2-Clause
"""on_terminal.py FOLDER COLUMNS ROWS COMMAND...: runs it there on a terminal of that size, prints what the terminal gets, and ends as the command does."""
import fcntl
import os
import pty
import struct
import sys
import termios

import terminal

folder, columns, rows, command = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    os.chdir(folder)
    os.execvp(command[0], command)
kept = b""  # a return at the end of what was read: its newline may still come
for data in terminal.pieces(fd):
    data = kept + data
    kept = data[-1:] if data.endswith(b"\r") else b""
    os.write(1, data[:len(data) - len(kept)].replace(b"\r\n", b"\n"))
os.write(1, kept)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
