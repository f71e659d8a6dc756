# SPDX-License-Identifier: BSD-2-Clause
"""check_timehist.py TIMEHIST RECORDS: what `perf sched timehist` and the import (jsonl) of the same recording say of each thread.

timehist cuts its numbers to µs: each may be less by one. It has no line for what a thread does when perf has forgotten it at its exit, and guesses where
switches are missing: such threads are left out, and must not be many.
"""
import collections
import json
import re
import sys

LINE = re.compile(r"\s*[\d.]+ \[\d+\]\s+(.*)\[(\d+)(?:/\d+)?\]\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)")


def read_timehist(path):
    """By tid: lines, ns off a CPU, ns of that after the wakeup, ns on it."""
    threads = collections.defaultdict(lambda: [0, 0, 0, 0])
    for match in filter(None, map(LINE.match, open(path, encoding="utf-8", errors="replace"))):
        values = [1] + [round(float(match[i]) * 1e6) for i in (3, 4, 5)]
        threads[int(match[2])] = [a + b for a, b in zip(threads[int(match[2])], values)]
    return threads


def read_log(path):
    threads, unknown = {}, collections.Counter()
    for line in map(json.loads, open(path, encoding="utf-8")):
        if line["type"] == "span":
            unknown[line["tid"]] += line["unknown_ns"]
        elif line["type"] == "run" and line["left_as"] != "unknown":  # the recording's end is no switch
            is_first = line["tid"] not in threads
            thread = threads.setdefault(line["tid"], [0, 0, 0, 0])
            off = line["blocked_ns"] + line["runnable_ns"]
            # timehist has no time off a CPU before the first run, and no delay of what was preempted
            values = [1, 0 if is_first else off, line["runnable_ns"] if line["blocked_ns"] or is_first else 0, line["end_ns"] - line["begin_ns"]]
            threads[line["tid"]] = [a + b for a, b in zip(thread, values)]
    return threads, unknown


def main(timehist, records):
    wanted, (found, unknown) = read_timehist(timehist), read_log(records)
    bad, compared, left_out = [], 0, 0
    sums = [[0] * 4, [0] * 4]
    for tid, there in wanted.items():
        here = found.get(tid, [0] * 4)
        if unknown[tid] or here[0] != there[0]:
            left_out += 1
            continue
        compared += 1
        for i in range(4):
            sums[0][i] += there[i]
            sums[1][i] += here[i]
        if any(abs(a - b) > 1000 * here[0] for a, b in zip(here, there)):
            bad.append(f"{tid}: {here}, not {there}")
    print(f"{compared} threads compared, {left_out} left out; runs, ns off, delayed, on a CPU: timehist {sums[0]}, here {sums[1]}")
    print("\n".join(bad[:20]))
    return bool(bad) or compared < 10


sys.exit(main(sys.argv[1], sys.argv[2]))
