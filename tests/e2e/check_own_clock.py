# SPDX-License-Identifier: BSD-2-Clause
"""check_own_clock.py RECORDS SAID TID NS: whether a thread's span (jsonl) tells the CPU time that the thread itself has read.

It was read before the thread's end; a switch stands some 20 us from where the clock is stopped, and stolen time counts in the span alone. Kernels leave
out a switch now and then: what passed until the next one is unknown, which SAID, what the import said, tells.
"""
import json
import sys


def main(path, said, tid, own):
    records = [record for record in map(json.loads, open(path, encoding="utf-8")) if record.get("tid") == tid]
    span = next(record for record in records if record["type"] == "span")
    runs = sum(record["type"] == "run" for record in records)
    on_cpu, unknown, slack = span["on_cpu_ns"], span["unknown_ns"], runs * 60_000
    print(f"{on_cpu} ns on a CPU in {runs} runs, {own} by its own clock; {unknown} unknown, {span['blocked_ns']} blocked")
    is_told = "do not go with the ones before" in open(said, encoding="utf-8").read()
    return not (on_cpu <= own * 1.5 + slack + 20_000_000 and on_cpu + unknown >= own - slack and span["blocked_ns"] + unknown >= 200 * 500_000 and
                (unknown == 0 or is_told))


sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
