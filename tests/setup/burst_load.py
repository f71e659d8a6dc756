#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""
tests/setup/burst_load.py [--seconds N] [--share PERCENT] [--longest MS]

Keeps each CPU busy for half of the time, in random bursts: computes for 1 to
200 ms, then sleeps for as long on average, each CPU independently. Without
--seconds it runs until it is killed. The test suite has to pass beside it:

    tests/setup/burst_load.py & make check; kill $!
"""
import argparse
import os
import random
import signal
import time


def occupy(cpu, options):
    """Until the deadline. Others may get the CPU during a burst; its length is that of the clock."""
    os.sched_setaffinity(0, {cpu})
    chance = random.Random(cpu)
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        burst = chance.uniform(0.001, options.longest / 1000)
        until = time.monotonic() + burst
        while time.monotonic() < until:
            pass
        time.sleep(chance.uniform(0, 2) * burst * (100 - options.share) / options.share)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.strip().splitlines()[0])
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--share", type=float, default=50)
    parser.add_argument("--longest", type=float, default=200)
    options = parser.parse_args()
    if not 0 < options.share <= 100 or options.longest < 1:
        parser.error("the share is 1 to 100 percent, the longest burst at least 1 ms")
    children = []
    signal.signal(signal.SIGTERM, lambda *_: [os.kill(child, signal.SIGTERM) for child in children] and os._exit(0))
    for cpu in sorted(os.sched_getaffinity(0)):
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            occupy(cpu, options)
            os._exit(0)
        children.append(child)
    try:
        for child in children:
            os.waitpid(child, 0)
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
