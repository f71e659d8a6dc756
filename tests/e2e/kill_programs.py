# SPDX-License-Identifier: BSD-2-Clause
"""
python3 kill_programs.py COUNTED FOLDER CNT SEED [LONGEST_MS]

Starts the program COUNTED so many times, one after the other, and kills each with SIGKILL at a random moment within LONGEST_MS after its start, or after its first turn.
Writes a line for each, `PID TURNS`: how many it had ended, as FOLDER/progress says.
"""
import os
import random
import signal
import struct
import subprocess
import sys
import time


def turns_of(path):
    try:
        with open(path, "rb") as file:
            return struct.unpack("<Q", file.read(8))[0]
    except (FileNotFoundError, struct.error):
        return 0


def main():
    counted, folder, cnt, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    longest_s = int(sys.argv[5]) / 1000 if len(sys.argv) > 5 else 0.03
    path = os.path.join(folder, "progress")
    moments = random.Random(seed)
    with open(os.path.join(folder, "killed"), "w", encoding="utf-8") as out:
        for number in range(cnt):
            if os.path.exists(path):
                os.remove(path)
            with subprocess.Popen([counted, "--turns", "1000000000", "--sleep-us", "20", "--progress", path]) as program:
                # every other one once it marks: the later moments of those are in the midst of it for sure
                end_s = time.monotonic() + 5
                while number % 2 and not turns_of(path) and time.monotonic() < end_s:
                    time.sleep(0.0005)
                time.sleep(moments.random() * longest_s)
                program.send_signal(signal.SIGKILL)
            out.write(f"{program.pid} {turns_of(path)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
