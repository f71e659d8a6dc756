# SPDX-License-Identifier: BSD-2-Clause
"""widths_check.py TXTRACE FOLDER COLUMNS...: runs the commands on the logs there, on terminals so wide, and names each line that is wider."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import unicodedata

import terminal

COMMANDS = """report|tree|tail|histogram|workers|concurrency|spans|blocked|blame|neighbours|info|verify|dump|report --cost|report --by reason
report --by thread|blocked --by label|blocked --by reason|neighbours --by thread|concurrency --threads""".replace("\n", "|").split("|")
OTHERS = [["show", "long.txtrace", "3"], ["critical-path", "long.txtrace", "3"], ["show", "tree.txtrace", "1"], ["critical-path", "waits.txtrace", "1"],
          ["diff", "long.txtrace", "--", "waits.txtrace"], ["diff", "waits.txtrace", "--", "long.txtrace"],
          ["check", "long.txtrace", "*.wall.p99 < 1ns; *.blocked.lock.mean < 1ns"],
          ["--help"], ["help", "report"], ["help", "diff"], ["help", "check"]]


def on_terminal(folder, columns, command):
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 1000, columns, 0, 0))
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=child, stderr=subprocess.DEVNULL)
    os.close(child)
    said = b"".join(terminal.pieces(parent))
    os.close(parent)
    process.wait()
    return re.sub(r"\x1b\[[0-9;]*m", "", said.decode(errors="replace").replace("\r\n", "\n"))


def width(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


txtrace, folder, wrong = sys.argv[1], sys.argv[2], 0
os.environ.update(TERM="xterm", TXTRACE_PAGER="")
logs = sorted(name for name in os.listdir(folder) if name.endswith(".txtrace"))
for columns in map(int, sys.argv[3:]):
    for command in [c.split() + [log] for log in logs for c in COMMANDS] + OTHERS:
        out = on_terminal(folder, columns, [os.path.abspath(txtrace)] + command)
        if not out.strip():
            wrong += 1
            print(columns, " ".join(command), "says nothing")
        for line in out.split("\n"):
            if width(line) > columns:
                wrong += 1
                print(columns, " ".join(command), width(line), line)
                break
        if command[0] in ("report", "tree", "tail", "histogram", "concurrency", "spans") and command[-1] == "long.txtrace" and len(command) == 2:
            whole = set(re.findall(r"app::\S*::step\d::run", re.sub(r"\n +", "", out)))
            labels = whole if len(whole) == 6 else set(re.findall(r"(?:^|\s)(a\S*\u2026\S*)", out))
            if len(labels) < 6:
                wrong += 1
                print(columns, " ".join(command), "has labels that are the same:", sorted(labels))
sys.exit(wrong > 0)
