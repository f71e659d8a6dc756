# SPDX-License-Identifier: BSD-2-Clause
"""What a begin/end pair costs, by the program's own CPU time with and without a recorder in turns, and by what the recorder says of itself.

cost_truth.py RECORDER READER PROBE_LOOP FOLDER

Prints both; the machine may be busy, so nothing is compared with a limit.
"""
import json
import os
import statistics
import subprocess
import sys
import time

ROUNDS = 6
SECONDS = 0.25


def windows(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file.read().splitlines() if line.endswith("}")]


def cost(path, begin_ns, end_ns, traced):
    inside = [w for w in windows(path) if w["begin_ns"] >= begin_ns and w["end_ns"] <= end_ns and w["traced"] == traced and w["count"]]
    count = sum(w["count"] for w in inside)
    return sum(w["cpu_ns"] for w in inside) / count if count else None


def main():
    recorder, reader, program, folder = sys.argv[1:]
    output, log = os.path.join(folder, "windows.jsonl"), os.path.join(folder, "pairs.txtrace")
    truths, estimates = [], []
    loop = subprocess.Popen([program, "--mode", "begin-end", "--steps", "1000", "--window-ms", "20", "--output", output])
    try:
        for _ in range(ROUNDS):
            begin_ns = time.monotonic_ns()
            time.sleep(SECONDS)
            middle_ns = time.monotonic_ns()
            subprocess.run([recorder, "-q", "-o", log, "-p", str(loop.pid), "-d", str(SECONDS)], check=True)
            end_ns = time.monotonic_ns()
            untraced, traced = cost(output, begin_ns, middle_ns, False), cost(output, middle_ns, end_ns, True)
            told = json.loads(subprocess.run([reader, "report", "--cost", "--json", log], check=True, capture_output=True, text=True).stdout)
            price = told["cost"]["classes"]["span"]
            if untraced and traced and price["run_ns"] is not None:
                truths.append((traced - untraced) / 2)
                estimates.append(price["entry_ns"] + price["run_ns"])
    finally:
        loop.terminate()
        loop.wait()
    if not truths:
        print("no round had windows with and without the recorder")
        return 0
    print(f"a probe added {statistics.median(truths):.0f} ns, by the program's CPU time (median of {len(truths)} rounds, "
          f"{min(truths):.0f} to {max(truths):.0f})")
    print(f"the recorder says {statistics.median(estimates):.0f} ns ({min(estimates):.0f} to {max(estimates):.0f})")
    return 0 if min(estimates) > 0 else 1


sys.exit(main())
