# SPDX-License-Identifier: BSD-2-Clause
"""A run of a small shop as text for make_log: transactions with known distributions, and changes of known size.

    make_run.py --run 3 [--spans N] [--noise SHARE] [--start SECONDS] [CHANGE=VALUE ...]

A transaction `tx` has a child `parse` (100 us on-CPU) and a child `commit`: 200 us on-CPU, then a wait of 300 us for the futex 0x7f0010, which the span `flush` of
another thread ends, then 40 us until it gets a CPU, 20 us on-CPU. Times are log-normal (sigma 0.2); the run as a whole is a factor of its own slower (--noise: its
standard deviation), the same for all that is on-CPU; another one for what the machine does (five times as noisy).

Changes: factors of parse, commit (on-CPU), lock, runnable; extra=N: so many more children `fsync` of commit, of 50 us on the disk; parse_label=NAME; lower_bounds=SHARE.
Only random() of Python's generator is used, whose numbers are the same in all versions.
"""
import argparse
import math
import random

US = 1000


class Shop:
    def __init__(self, options, changes):
        self.rng = random.Random(options.run * 7919 + 17)
        self.options = options
        self.changes = changes
        self.code = self.normal_factor(options.noise)
        self.machine = self.normal_factor(5 * options.noise)
        self.now = 1_000_000_000 * options.start + 1_000_000
        self.id = 0

    def normal(self):
        return math.sqrt(-2 * math.log(1 - self.rng.random())) * math.cos(2 * math.pi * self.rng.random())

    def normal_factor(self, sigma):
        return math.exp(sigma * self.normal())

    def time(self, us, what, factor):
        return max(1, round(us * US * self.normal_factor(0.2) * factor * float(self.changes.get(what, 1))))

    def new_id(self):
        self.id += 1
        return self.id

    def span(self, label, begin, end, parent=0, tid=11, number=None, **parts):
        flags = "lower_bound,loss" if self.rng.random() < float(self.changes.get("lower_bounds", 0)) else "none"
        fields = " ".join(f"{name}_ns={value}" for name, value in parts.items())
        number = number or self.new_id()
        print(f'span begin_ns={begin} end_ns={end} pid=10 tid={tid} end_tid={tid} id={number} parent={parent} label="{label}" flags={flags} work_ns={end - begin} {fields}')

    def transaction(self):
        tx, commit, flush = self.new_id(), self.new_id(), self.new_id()
        begin = self.now
        parse, work, after = self.time(100, "parse", self.code), self.time(200, "commit", self.code), self.time(20, "after", self.code)
        lock, runnable = self.time(300, "lock", self.code), self.time(40, "runnable", self.machine)
        parsed = begin + parse
        asleep = parsed + work
        awake = asleep + lock
        running = awake + runnable
        end = running + after
        print(f"run begin_ns={begin} end_ns={asleep} pid=10 tid=11 cpu=0 blocked_ns={50 * US} left_as=blocked reason=lock syscall_nr=202 object=0x7f0010")
        self.span(self.changes.get("parse_label", "parse"), begin, parsed, tx, on_cpu=parse)
        print(f'wake time_ns={awake} pid=10 tid=11 waker_pid=10 waker_tid=12 waker_comm="flusher" cpu=1 span={commit} waker_span={flush}')
        print(f"run begin_ns={asleep} end_ns={awake} pid=10 tid=12 cpu=1 left_as=blocked reason=sleep syscall_nr=35")
        self.span("flush", asleep, awake, 0, 12, flush, on_cpu=lock)
        disk = 0
        for _ in range(int(self.changes.get("extra", 0))):
            wait, fsync = self.time(50, "fsync", self.machine), self.new_id()
            print(f"run begin_ns={running} end_ns={end} pid=10 tid=11 cpu=0 blocked_ns={lock if disk == 0 else 0} runnable_ns={runnable} left_as=blocked reason=disk "
                  "syscall_nr=74 object=5")
            print(f"wake time_ns={end + wait} pid=10 tid=11 cpu=0 flags=interrupt span={fsync}")
            self.span("fsync", end, end + wait, commit, 11, fsync, disk=wait)
            lock_before, disk, running = lock, disk + wait, end + wait
            end = running + 1
            print(f"run begin_ns={running} end_ns={end} pid=10 tid=11 cpu=0 blocked_ns={wait} left_as=blocked reason=sleep syscall_nr=35")
            lock = lock_before
            after += 1
        if not disk:
            print(f"run begin_ns={running} end_ns={end} pid=10 tid=11 cpu=0 blocked_ns={lock} runnable_ns={runnable} left_as=blocked reason=sleep syscall_nr=35")
        self.span("commit", parsed, end, tx, number=commit, on_cpu=work + after, lock=lock, runnable=runnable, **({"disk": disk} if disk else {}))
        self.span("tx", begin, end, number=tx, on_cpu=parse + work + after, lock=lock, runnable=runnable, **({"disk": disk} if disk else {}))
        self.now = end + 50 * US

    def run(self):
        print(f'header pid=10 cpus=2 command="shop" host="example" kernel="6.18.5 x86_64" recorder="txtrace-bpf 0.1.0" start_monotonic_ns={1_000_000_000 * self.options.start} '
              'start_realtime_ns=1763725203000000000')
        print(f'thread time_ns={self.now} pid=10 tid=11 comm="worker" seed=1')
        for _ in range(self.options.spans):
            self.transaction()
        print(f"summary time_ns={self.now} sent_cnt=10 received_cnt=10 end_unknown={int(self.changes.get('anomalies', 0))}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--run", type=int, required=True)
    parser.add_argument("--spans", type=int, default=600)
    parser.add_argument("--noise", type=float, default=0.01)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("changes", nargs="*")
    options = parser.parse_args()
    Shop(options, dict(change.split("=", 1) for change in options.changes)).run()


main()
