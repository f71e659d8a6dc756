# SPDX-License-Identifier: BSD-2-Clause
"""An endless test program that reports windows of its work, and tools that are switched on and off around it."""
import itertools
import json
import os
import signal
import socket
import statistics
import subprocess
import time


class Workload:
    """A program that appends a line of JSON for every window: begin_ns, end_ns, count, cpu_ns."""

    def __init__(self, command, scratch, window_ms=50):
        self.output = os.path.join(scratch, "windows.jsonl")
        if os.path.exists(self.output):
            os.remove(self.output)
        self.process = subprocess.Popen(command + ["--window-ms", str(window_ms), "--output", self.output])
        self.pid = self.process.pid
        time.sleep(0.3)

    def windows(self):
        with open(self.output) as file:
            text = file.read()
        return [json.loads(line) for line in text.splitlines() if line.endswith("}")]

    def cost(self, begin_ns, end_ns):
        """CPU ns for each iteration in the windows that lie within; None if there is none."""
        inside = [w for w in self.windows() if w["begin_ns"] >= begin_ns and w["end_ns"] <= end_ns and w["count"]]
        count = sum(w["count"] for w in inside)
        return sum(w["cpu_ns"] for w in inside) / count if count else None

    def count(self, begin_ns, end_ns):
        return sum(w["count"] for w in self.windows() if w["begin_ns"] >= begin_ns and w["end_ns"] <= end_ns)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


SAYS_READY = object()  # of a tool that tells a service manager when it traces, as txtrace-bpf does


class Tool:
    """Something that traces a process: started, waited for, stopped."""
    numbers = itertools.count()

    def __init__(self, name, command, is_ready, stop_signal=signal.SIGINT, prepare=None, patience_s=30):
        self.name = name
        self.command = command
        self.is_ready = is_ready  # SAYS_READY, the text that it prints when it traces, or seconds to wait
        self.stop_signal = stop_signal
        self.prepare = prepare  # called in the new process
        self.patience_s = patience_s  # how long a start may take

    def start(self, log):
        """The process, once it traces; log: the file for what it says."""
        with open(log, "w") as out, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(f"\0txtrace-bench-{os.getpid()}-{next(Tool.numbers)}")
            environment = dict(os.environ, NOTIFY_SOCKET="@" + manager.getsockname()[1:].decode())
            process = subprocess.Popen(self.command, stdout=out, stderr=out, env=environment, preexec_fn=self.prepare)
            try:
                self._wait(process, manager, log)
            except RuntimeError:
                process.kill()
                process.wait()
                raise
        return process

    def stop(self, process):
        process.send_signal(self.stop_signal)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:  # some peers do not always hear it
            process.kill()
            process.wait()

    def run(self, seconds, log):
        """Traces for so long; returns the times between which it certainly did."""
        process = self.start(log)
        begin_ns = time.monotonic_ns()
        time.sleep(seconds)
        end_ns = time.monotonic_ns()
        self.stop(process)
        return begin_ns, end_ns

    def _wait_told(self, process, manager, log):
        manager.settimeout(0.1)
        for _ in range(10 * self.patience_s):
            try:
                if manager.recv(4096) == b"READY=1":
                    return
            except socket.timeout:
                if process.poll() is not None:
                    break
        with open(log, errors="replace") as file:
            raise RuntimeError(f"{self.name} did not start: {file.read()[-400:]}")

    def _wait(self, process, manager, log):
        if self.is_ready is SAYS_READY:
            self._wait_told(process, manager, log)
            return
        deadline = time.monotonic() + self.patience_s
        if not isinstance(self.is_ready, str):
            time.sleep(self.is_ready)
            return
        while time.monotonic() < deadline:
            with open(log, errors="replace") as file:
                if self.is_ready in file.read():
                    time.sleep(0.1)
                    return
            if process.poll() is not None:
                break
            time.sleep(0.02)
        with open(log, errors="replace") as file:
            raise RuntimeError(f"{self.name} did not start: {file.read()[-400:]}")


def compare(workload, tools, rounds, scratch, seconds=0.4):
    """For each tool the cost that it adds to an iteration, in every round against the untraced windows just before and after."""
    added = {tool.name: [] for tool in tools}
    base = []
    log = os.path.join(scratch, "tool.log")
    for _ in range(rounds):
        for tool in tools:
            before_ns = time.monotonic_ns()
            time.sleep(seconds / 2)
            quiet_ns = time.monotonic_ns()
            begin_ns, end_ns = tool.run(seconds, log)
            after_ns = time.monotonic_ns()
            time.sleep(seconds / 2 + 0.06)
            costs = [workload.cost(before_ns, quiet_ns), workload.cost(after_ns, time.monotonic_ns())]
            costs = [cost for cost in costs if cost is not None]
            traced = workload.cost(begin_ns, end_ns)
            if costs and traced is not None:
                base.append(statistics.mean(costs))
                added[tool.name].append(traced - statistics.mean(costs))
    return base, added


def quartiles(values):
    """(lower quartile, median, upper quartile)"""
    if len(values) < 2:
        return (values[0],) * 3 if values else (float("nan"),) * 3
    low, middle, high = statistics.quantiles(values, n=4)
    return low, middle, high
