#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Records real programs, and prints txtrace's figures next to independent ones."""
import argparse
import os
import platform
import subprocess
import sys
import time

import memcached_trial
import nginx_trial
import node_trial
import openssl_trial
import postgres_trial
import python_trial
import redis_trial
import sqlite_trial
from trial_bench import Bench
from trial_sources import TrialError

TRIALS = {"postgresql": postgres_trial.trial, "redis": redis_trial.trial, "nginx": nginx_trial.trial, "sqlite": sqlite_trial.trial,
          "memcached": memcached_trial.trial, "openssl": openssl_trial.trial, "node": node_trial.trial, "python": python_trial.trial}


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build")
    parser.add_argument("--scratch", required=True, help="an empty folder")
    parser.add_argument("--rounds", type=int, default=3, help="of pairs, traced and not, where cost is measured")
    parser.add_argument("--markdown", help="also write the table to this file, as in docs/benchmarks.md")
    parser.add_argument("programs", nargs="*", help="of " + " ".join(TRIALS))
    options = parser.parse_args()
    for name in options.programs:
        if name not in TRIALS:
            parser.error(f"no trial is called '{name}'; there are {' '.join(TRIALS)}")
    return options


def how_busy():
    """The share of all CPUs that was in use, and of it stolen, over a second, in percent."""
    def read():
        with open("/proc/stat", encoding="ascii") as file:
            return list(map(int, file.readline().split()[1:9]))
    before = read()
    time.sleep(1)
    passed = [after - was for after, was in zip(read(), before)]
    return round((sum(passed) - passed[3] - passed[4]) / sum(passed) * 100), round(passed[7] / sum(passed) * 100)


def print_head(bench):
    version = subprocess.run([bench.recorder_path, "--version"], check=True, capture_output=True, text=True).stdout.split("\n")[0]
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], check=False, capture_output=True, text=True).stdout.strip()
    busy, stolen = how_busy()
    print(f"{version} {commit}, {time.strftime('%d %b %Y, %H:%M UTC', time.gmtime())}, Linux {platform.release()} {platform.machine()}, {os.cpu_count()} CPUs, "
          f"{busy} % of them busy with other programs, {stolen} % stolen")


def main():
    options = parse()
    bench = Bench(options)
    print_head(bench)
    missing = []
    for name in options.programs or TRIALS:
        try:
            TRIALS[name](bench)
        except (TrialError, RuntimeError) as error:  # a tool that does not start is a RuntimeError
            missing.append(f"{name}: {error}")
            print(f"  not tried: {error}", flush=True)
    table = bench.table
    print(f"\n{table.rows} figures, {table.differing} that had to be equal differ, {len(missing)} programs not tried")
    for line in missing:
        print(f"  {line}")
    if options.markdown:
        with open(options.markdown, "w", encoding="utf-8") as file:
            file.write("\n".join(table.lines).strip() + "\n")
    return 1 if table.differing else 2 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
