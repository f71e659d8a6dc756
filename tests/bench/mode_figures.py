# SPDX-License-Identifier: BSD-2-Clause
"""What a context switch and a begin/end pair cost in each mode of the scheduler (--sched), and a pair that is left out (--sample, --label)."""
from figures import differences, row, title
from workload import Workload, compare

SWITCH = [("timeline", []), ("ledger", ["--sched", "ledger"]), ("off", ["--sched", "off"])]
PAIR = SWITCH + [("timeline, --sample 1/100", ["--sample", "1/100"]), ("timeline, --label of none", ["--label", "none"]), ("timeline, --flight 64M", ["--flight", "64M"])]


def measure(bench, command, modes):
    workload = Workload([bench.program(command[0])] + command[1:] + ["--seconds", "3600"], bench.scratch)
    tools = [bench.recorder(name, workload.pid, *options) for name, options in modes]
    try:
        return compare(workload, tools, bench.rounds, bench.scratch)
    finally:
        workload.stop()


def modes(bench):
    title("Modes: ns added to a context switch with its wakeup (futex ping-pong on one CPU)")
    base, added = measure(bench, ["pingpong", "--cpu", "1"], SWITCH)
    row("untraced switch", base)
    for name, _ in SWITCH:
        row(name, added[name])
    row("  timeline above ledger, round by round", differences(added["timeline"], added["ledger"]))
    title("Modes: ns added to a begin/end pair in a tight loop")
    base, added = measure(bench, ["probe_loop", "--mode", "begin-end", "--steps", "1000"], PAIR)
    row("untraced loop", base)
    for name, _ in PAIR:
        row(name, added[name])
