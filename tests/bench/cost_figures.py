# SPDX-License-Identifier: BSD-2-Clause
"""How near the recorder's estimate of its own cost is to what it costs: both for one iteration of a program, in every round."""
import json
import os
import subprocess
import time

from figures import row, title
from workload import Workload, quartiles

# Name, program and arguments, and the kind of event of which there is one in each iteration.
WORKLOADS = [
    ("a begin/end pair, in a tight loop", ["probe_loop", "--mode", "begin-end", "--steps", "1000"], "begin"),
    ("the same, 5,000 a second, in bursts", ["probe_loop", "--mode", "begin-end", "--steps", "20000", "--rate", "5000"], "begin"),
    ("with a tag", ["probe_loop", "--mode", "tagged", "--steps", "1000"], "begin"),
    ("by key", ["probe_loop", "--mode", "keyed", "--steps", "1000"], "key_begin"),
    ("a switch with its wakeup", ["pingpong", "--cpu", "1"], "switch"),
]


def estimate(bench, event):
    """What the log says that all events cost, for each of one kind."""
    txtrace = os.path.join(bench.build, "txtrace")
    told = json.loads(subprocess.run([txtrace, "report", "--cost", "--json", bench.log], check=True, capture_output=True, text=True).stdout)
    lines = subprocess.run([txtrace, "export", "--format", "jsonl", bench.log], check=True, capture_output=True, text=True).stdout.splitlines()
    costs = [json.loads(line) for line in lines if line.startswith('{"type":"cost"')]
    cnt = sum(cost["event_cnt"] for cost in costs if cost["event"] == event)
    return told["cost"]["total_ns"] / cnt if cnt else None


def cpu_each(windows, is_traced):
    """CPU ns of an iteration, over the windows that were so, and between two that were so too; None: there is none."""
    inside = [w for before, w, after in zip(windows, windows[1:], windows[2:])
              if w["count"] and all(x["traced"] == is_traced for x in (before, w, after))]
    count = sum(w["count"] for w in inside)
    return sum(w["cpu_ns"] for w in inside) / count if count else None


def measure(bench, command, event):
    workload = Workload([bench.program(command[0])] + command[1:] + ["--seconds", "3600"], bench.scratch, 25)
    recorder = [os.path.join(bench.build, "txtrace-bpf"), "-q", "-p", str(workload.pid), "-o", bench.log, "-d", "0.6"]
    truths, estimates = [], []
    try:
        for _ in range(bench.rounds):
            begin_ns = time.monotonic_ns()
            time.sleep(0.3)
            subprocess.run(recorder, check=True)
            time.sleep(0.3)
            windows = [w for w in workload.windows() if w["begin_ns"] >= begin_ns]
            untraced, traced, told = cpu_each(windows, False), cpu_each(windows, True), estimate(bench, event)
            if None not in (untraced, traced, told):
                truths.append(traced - untraced)
                estimates.append(told)
    finally:
        workload.stop()
    return truths, estimates


def cost(bench):
    title("Self-cost: what an iteration takes more while it is traced, and what the log says that tracing it cost")
    for name, command, event in WORKLOADS:
        truths, estimates = measure(bench, command, event)
        row(name + ": measured", truths)
        row("  the log's estimate", estimates)
        _, middle, _ = quartiles([told / truth for told, truth in zip(estimates, truths) if truth > 0])
        print(f"  {'  estimate / measured, median of the rounds':<46} {middle:9.2f}", flush=True)
