# SPDX-License-Identifier: BSD-2-Clause
"""What a recorder does while the traced threads sleep: how often it is woken up, and what CPU time it takes."""
import os
import shutil
import subprocess
import time

from figures import row, title
from workload import SAYS_READY, Tool

ROUNDS_MAX = 3
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


def tools_for(bench, pid):
    tools = [Tool(" ".join(["txtrace-bpf", *options]),
                  [bench.recorder_path, "-q", "-p", str(pid), "-o", bench.log, *options], SAYS_READY)
             for options in ([], ["--sched", "ledger"], ["--sched", "off"])]
    if shutil.which("perf"):
        tools.append(Tool("perf sched record", ["perf", "sched", "record", "-o", os.path.join(bench.scratch, "perf.data")], 2))
    return tools


def watch(bench, tool):
    """Wakeups and ns of CPU time a second."""
    process = tool.start(os.path.join(bench.scratch, "tool.log"))
    try:
        time.sleep(SETTLE_S)
        before = wakeups(process.pid)
        time.sleep(SECONDS)
        return [(b - a) / SECONDS for a, b in zip(before, wakeups(process.pid))]
    finally:
        tool.stop(process)


def idle(bench):
    title("A recorder whose 20 threads sleep: its own wakeups a second")
    fifo = os.path.join(bench.scratch, "go")
    os.mkfifo(fifo)
    program = subprocess.Popen([bench.program("sleepers"), "--threads", "20", "--until", fifo])
    found = {}
    try:
        for _ in range(min(bench.rounds, ROUNDS_MAX)):
            for tool in tools_for(bench, program.pid):
                found.setdefault(tool.name, []).append(watch(bench, tool))
    finally:
        program.kill()
        program.wait()
    for name, values in found.items():
        row(name, [cnt for cnt, _ in values], "/s")
        row("  CPU time", [ns / 1e3 for _, ns in values], "us/s")
