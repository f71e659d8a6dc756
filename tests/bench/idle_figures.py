# SPDX-License-Identifier: BSD-2-Clause
"""What a recorder does while the traced threads sleep: how often it is woken up, and what CPU time it takes."""
import os
import subprocess
import time

from figures import row, title
from workload import SAYS_READY, Tool

SETTLE_S = 3
SECONDS = 10


def processes_of(pid):
    """The process and its helpers."""
    found = [pid]
    for process in found:
        with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
            found += [int(child) for child in file.read().split()]
    return found


def wakeups(pid):
    """How often threads of these processes have got a CPU so far, and for how many ns."""
    cnt = ns = 0
    for process in processes_of(pid):
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/schedstat", encoding="ascii") as file:
                spent, _, runs = file.read().split()
            cnt += int(runs)
            ns += int(spent)
    return cnt, ns


def idle(bench):
    title("A recorder whose 20 threads sleep: its own wakeups a second")
    fifo = os.path.join(bench.scratch, "go")
    if not os.path.exists(fifo):
        os.mkfifo(fifo)
    perf = Tool("perf sched record", ["perf", "sched", "record", "-o", os.path.join(bench.scratch, "perf.data")], 2)
    found = {}
    for _ in range(min(bench.rounds, 3)):
        with subprocess.Popen([bench.program("sleepers"), "--threads", "20", "--until", fifo]) as program:
            tools = [Tool("txtrace-bpf" + (f", --sched {mode}" if mode else ""),
                          [bench.recorder_path, "-q", "-p", str(program.pid), "-o", bench.log] + (["--sched", mode] if mode else []), SAYS_READY)
                     for mode in ("", "ledger", "off")] + [perf]
            for tool in tools:
                process = tool.start(os.path.join(bench.scratch, "tool.log"))
                time.sleep(SETTLE_S)
                before = wakeups(process.pid)
                time.sleep(SECONDS)
                after = wakeups(process.pid)
                tool.stop(process)
                found.setdefault(tool.name, []).append([(b - a) / SECONDS for a, b in zip(before, after)])
            program.kill()
    for name, values in found.items():
        row(name, [cnt for cnt, _ in values], "/s")
        row("  CPU time", [ns / 1e3 for _, ns in values], "us/s")
