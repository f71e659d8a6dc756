# SPDX-License-Identifier: BSD-2-Clause
"""
Who used the CPUs, in ns: groups of processes, whatever else the machine does.

A control group's account is exact and knows the children that have ended. It holds what the kernel does on behalf of its processes, BPF programs at
their switches and probes included. What no process is charged for (the switch to the idle task, interrupts of idle CPUs) is the time
that the CPUs were not idle less that of all processes: "nobody". It is the whole machine's, so it means something on a quiet one alone.
"""
import os
import re
import time


def _mounts(kind):
    with open("/proc/self/mounts", encoding="ascii") as file:
        for line in file:
            _, place, fstype, options = line.split()[:4]
            if fstype == "cgroup2" if kind == "cgroup2" else fstype == "cgroup" and kind in options.split(","):
                yield place


def _number(path, pattern=r"(\d+)"):
    with open(path, encoding="ascii") as file:
        return int(re.search(pattern, file.read()).group(1))


class CpuAccount:
    def __init__(self, groups):
        self.root = next(_mounts("cpuacct"), None)
        self.is_v1 = self.root is not None
        if not self.is_v1:
            self.root = next(_mounts("cgroup2"))
        self.parent = os.path.join(self.root, f"txtrace-bench-{os.getpid()}")
        self.places = {group: os.path.join(self.parent, group) for group in groups}
        os.mkdir(self.parent)
        for place in self.places.values():
            os.mkdir(place)

    def enter(self, group):
        """For a new process: it joins the group."""
        procs = os.path.join(self.places[group], "cgroup.procs")

        def join():
            with open(procs, "w", encoding="ascii") as file:
                file.write("0")
        return join

    def _used_ns(self, place):
        if self.is_v1:
            return _number(os.path.join(place, "cpuacct.usage"))
        return _number(os.path.join(place, "cpu.stat"), r"usage_usec (\d+)") * 1000

    def _nobody_ns(self, now_ns):
        try:
            with open("/proc/timer_list", encoding="ascii") as file:
                idle = [int(ns) for ns in re.findall(r"idle_sleeptime *: (\d+) nsecs", file.read())]
        except OSError:
            idle = []
        if not self.is_v1 or not idle:
            return 0
        return len(idle) * now_ns - sum(idle) - self._used_ns(self.root)

    def read(self):
        """{"time": now, group: ns, …, "nobody": ns}; differences of two readings mean something."""
        now_ns = time.monotonic_ns()
        reading = {group: self._used_ns(place) for group, place in self.places.items()}
        return reading | {"time": now_ns, "nobody": self._nobody_ns(now_ns)}

    def close(self):
        for place in [*self.places.values(), self.parent]:
            for _ in range(100):
                try:
                    os.rmdir(place)
                    break
                except OSError:  # somebody in it is still on the way out
                    time.sleep(0.05)
