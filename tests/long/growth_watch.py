# SPDX-License-Identifier: BSD-2-Clause
"""
growth_watch.py PID SECONDS FOLDER LIMIT_BYTES

Looks at a process, and at its children, for so long: anonymous memory and descriptors of all of them together, and the bytes in FOLDER. The first
quarter of the time is for getting warm. What leaks raises the least of what is seen in a while; so the least of the last quarter is held against the second one's,
and the most likewise, with more allowed. Prints a line for each quarter. Exit status 1: it has grown, or there was more in FOLDER than LIMIT_BYTES.
"""
import os
import sys
import time

PAUSE_S = 0.5
SLACK_KB, SLACK_SHARE = 4096, 0.05
PEAK_KB, PEAK_SHARE = 16384, 0.25
SLACK_FDS = 32  # files that nobody runs any more are let go every ten seconds, all at once


def family(pid):
    found = [pid]
    for parent in found:
        try:
            with open(f"/proc/{parent}/task/{parent}/children", encoding="ascii") as file:
                found += [int(word) for word in file.read().split()]
        except OSError:
            pass
    return found


def anonymous_kb(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("RssAnon:"))


def look(pid):
    """(kB, descriptors); who ends meanwhile counts for nothing."""
    memory_kb = fd_cnt = 0
    for member in family(pid):
        try:
            memory_kb += anonymous_kb(member)
            fd_cnt += len(os.listdir(f"/proc/{member}/fd"))
        except OSError:
            pass
    return memory_kb, fd_cnt


def bytes_in(folder):
    total = 0
    for entry in os.scandir(folder):
        try:
            total += entry.stat().st_size
        except FileNotFoundError:
            pass
    return total


def watch(pid, seconds, folder):
    begin_s, quarters = time.monotonic(), [[] for _ in range(4)]
    while (passed_s := time.monotonic() - begin_s) < seconds:
        memory_kb, fd_cnt = look(pid)
        if not memory_kb:
            sys.exit("the process is gone")
        quarters[int(passed_s * 4 / seconds)].append((memory_kb, fd_cnt, bytes_in(folder)))
        time.sleep(PAUSE_S)
    return quarters


def main(pid, seconds, folder, limit_bytes):
    quarters = watch(pid, seconds, folder)
    rows = []
    for number, samples in enumerate(quarters):
        memory, fds, disk = zip(*samples)
        rows.append((min(memory), max(memory), min(fds), max(fds), max(disk)))
        print(f"quarter {number + 1}: {min(memory):,} to {max(memory):,} kB, {min(fds)} to {max(fds)} descriptors, {max(disk):,} B on disk at most")
    warm, last = rows[1], rows[3]
    wrong = []
    if last[0] > warm[0] * (1 + SLACK_SHARE) + SLACK_KB or last[1] > warm[1] * (1 + PEAK_SHARE) + PEAK_KB:
        wrong.append("memory has grown")
    if last[2] > warm[2] + SLACK_FDS:
        wrong.append("descriptors have grown")
    if max(row[4] for row in rows) > limit_bytes:
        wrong.append("the disk limit was exceeded")
    print("; ".join(wrong) or "nothing has grown")
    sys.exit(1 if wrong else 0)


main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
