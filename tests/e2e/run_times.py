# SPDX-License-Identifier: BSD-2-Clause
"""How long the BPF programs of a recorder run, as the kernel says and as the log does.

run_times.py kernel PID BPFTOOL PROGRAM...   the mean of what the kernel has timed so far, in ns
run_times.py log JSONL EVENT...              the same by the log's records

Prints "NS RUNS"; exit status 1 if there are none.
"""
import json
import os
import subprocess
import sys


def kernel(pid, bpftool, names):
    run_ns = runs = 0
    for fd in os.listdir(f"/proc/{pid}/fdinfo"):
        try:
            with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii") as file:
                info = dict(line.split(":", 1) for line in file.read().splitlines() if ":" in line)
        except OSError:
            continue
        if "prog_id" not in info or "run_cnt" not in info or int(info["run_cnt"]) == 0:
            continue
        shown = subprocess.run([bpftool, "-j", "prog", "show", "id", info["prog_id"].strip()], check=True, capture_output=True, text=True)
        if json.loads(shown.stdout).get("name", "")[:15] in [name[:15] for name in names]:
            run_ns += int(info["run_time_ns"])
            runs += int(info["run_cnt"])
    return run_ns, runs


def log(path, events):
    with open(path, encoding="utf-8") as file:
        costs = [r for r in map(json.loads, file) if r["type"] == "cost" and r["event"] in events]
    return sum(r["timed_run_ns"] for r in costs), sum(r["timed_run_cnt"] for r in costs)


def main():
    what, *rest = sys.argv[1:]
    run_ns, runs = kernel(rest[0], rest[1], rest[2:]) if what == "kernel" else log(rest[0], rest[1:])
    if not runs:
        print("no runs were timed")
        return 1
    print(run_ns // runs, runs)
    return 0


sys.exit(main())
