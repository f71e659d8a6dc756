# SPDX-License-Identifier: BSD-2-Clause
"""
python3 hidden_switches.py CPU LOG.jsonl [ACCOUNT]

For how many ns of a capture it is not known who had a CPU, by the scheduler's account (tests/account): from the last
switch that the kernel told of to the next one, if it hid any between them. Without an account: 0.
"""
import json
import sys

import sched_account


def main():
    cpu, log, *account = sys.argv[1:]
    with open(log, encoding="utf-8") as file:
        runs = [record for record in map(json.loads, file) if record["type"] == "run"]
    begin_ns, end_ns = min(run["begin_ns"] for run in runs), max(run["end_ns"] for run in runs)
    hidden = sched_account.Account(account[0], set(), begin_ns).cpus[int(cpu)].hidden if account else []
    print(sched_account.covered(hidden, begin_ns, end_ns))


main()
