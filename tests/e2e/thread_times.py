# SPDX-License-Identifier: BSD-2-Clause
"""
python3 thread_times.py [--account FILE] LOG.jsonl

For each thread, by its tid: how many stays on a CPU the log has (run_cnt), how often and for how long their records leave
something out between two of them (gap_cnt, ns: a switch that the kernel hid), when the last one ended (last_ns), and what
a hypervisor can have taken from its CPUs while it was on them (stolen_ns, at most; 0 without the scheduler's account).
"""
import argparse
import collections
import json

import sched_account


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--account")
    parser.add_argument("log")
    options = parser.parse_args()
    runs = collections.defaultdict(list)
    with open(options.log, encoding="utf-8") as file:
        for record in map(json.loads, file):
            if record["type"] == "run":
                runs[record["tid"]].append(record)
    first_ns = min((run["begin_ns"] for of_thread in runs.values() for run in of_thread), default=0)
    cpus = sched_account.Account(options.account, set(), first_ns).cpus if options.account else collections.defaultdict(sched_account.Cpu)
    times = {}
    for tid, of_thread in runs.items():
        gaps = [after["begin_ns"] - run["end_ns"] - after["blocked_ns"] - after["runnable_ns"] for run, after in zip(of_thread, of_thread[1:])]
        times[tid] = {"ns": sum(gaps), "gap_cnt": sum(gap > 0 for gap in gaps), "run_cnt": len(of_thread), "last_ns": of_thread[-1]["end_ns"],
                      "stolen_ns": sum(cpus[run["cpu"]].between(run["begin_ns"], run["end_ns"])[1] for run in of_thread)}
    print(json.dumps(times))


main()
