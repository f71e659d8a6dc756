# SPDX-License-Identifier: BSD-2-Clause
"""
What each of the recorder's BPF programs takes, as the kernel measures it (kernel.bpf_stats_enabled), less what it measures of an empty one, which runs at
the same time on the same events: what the machine does otherwise disturbs both alike.
"""
import json
import os
import subprocess
import time

import server_figures
from figures import row, title
from workload import SAYS_READY, Tool, Workload, compare

STATS = "/proc/sys/kernel/bpf_stats_enabled"
SECONDS = 0.7
ROUNDS_MAX = 3


def programs_of(pid):
    """The ids of the BPF programs that a process holds."""
    ids = set()
    for name in os.listdir(f"/proc/{pid}/fdinfo"):
        try:
            with open(f"/proc/{pid}/fdinfo/{name}", encoding="ascii") as file:
                ids |= {int(line.split()[1]) for line in file if line.startswith("prog_id:")}
        except OSError:
            pass
    return ids


def read_programs():
    told = json.loads(subprocess.run(["bpftool", "-j", "prog", "show"], check=True, capture_output=True, text=True).stdout)
    return {program["id"]: program for program in told}


def bytes_of(ids):
    return {program["name"]: program["bytes_jited"] for program in read_programs().values() if program["id"] in ids}


def switch_stats(value):
    with open(STATS, "r+", encoding="ascii") as file:
        before = file.read().strip()
        file.seek(0)
        file.write(value)
    return before


def watch(groups):
    """{group: {program: (ns of a run, runs a second)}} of these ids, over SECONDS."""
    was = switch_stats("1")
    try:
        before = read_programs()
        time.sleep(SECONDS)
        after = read_programs()
    finally:
        switch_stats(was)
    result = {}
    for group, ids in groups.items():
        result[group] = {}
        for number in ids & before.keys() & after.keys():
            runs, ns = (after[number].get(key, 0) - before[number].get(key, 0) for key in ("run_cnt", "run_time_ns"))
            if runs > 100:
                result[group][after[number]["name"]] = (ns / runs, runs / SECONDS)
    return result


class Case:
    """A program that is recorded with some options while another one, maybe, disturbs it; and which BPF programs to look at."""

    def __init__(self, name, command, looks, *options, beside=None, traces_other=False, recorder=None):
        self.name = name
        self.command = command
        self.looks = looks
        self.options = options
        self.beside = beside
        self.traces_other = traces_other
        self.recorder = recorder  # another one than the tree's
        self.found = {look: [] for look in looks}
        self.bytes = {}

    def start(self, bench, command):
        return subprocess.Popen([bench.program(command[0]), *command[1:], "--seconds", "3600"], stdout=subprocess.DEVNULL)

    def run(self, bench):
        running = [self.start(bench, self.command)] + ([self.start(bench, self.beside)] if self.beside else [])
        if self.traces_other:
            running.insert(0, self.start(bench, ["probe_loop", "--mode", "begin-end", "--rate", "10"]))
        what = "switches" if self.command[0] == "pingpong" else "probes"
        floor = bench.floor("floor", what, running[0].pid)
        recorder = Tool("txtrace-bpf", [self.recorder or bench.recorder_path, "-q", "-p", str(running[0].pid), "-o", bench.log, *self.options], SAYS_READY)
        try:
            time.sleep(0.2)
            processes = [(tool, tool.start(os.path.join(bench.scratch, f"{tool.name}.log"))) for tool in (recorder, floor)]
            ids = {tool.name: programs_of(process.pid) for tool, process in processes}
            stats = watch(ids)
            self.bytes = bytes_of(ids["txtrace-bpf"])
            for tool, process in processes:
                tool.stop(process)
        finally:
            for process in running:
                process.kill()
                process.wait()
        empty = sum(ns for ns, _ in stats["floor"].values()) / max(len(stats["floor"]), 1)
        for look in self.looks:
            if look in stats["txtrace-bpf"]:
                self.found[look].append(stats["txtrace-bpf"][look][0] - empty)


PINGPONG = ["pingpong", "--cpu", "1"]
SWITCH = ["on_sched_switch", "on_sched_waking"]


def contexts(bench):
    """What --otel adds to a switch."""
    look = ["on_otel_switch", "on_sched_switch"]
    library = ["--context-library", os.path.join(os.path.dirname(bench.program("pingpong")), "otel_variable.so")]
    return [Case("--otel: a switch of a thread without a context, of a process that publishes", [*PINGPONG, "--context", "none"], look, "--otel"),
            Case("  a thread with the same context as before", [*PINGPONG, "--context", "same"], look, "--otel"),
            Case("    in a library, by module", [*PINGPONG, "--context", "same", *library], look, "--otel"),
            Case("  with a new context: a span ends, another one begins", [*PINGPONG, "--context", "new"], look, "--otel"),
            Case("  an untraced thread", PINGPONG, look, "--otel", traces_other=True)]


def marks(name, mode, *looks):
    return Case(name, ["probe_loop", "--mode", mode, "--steps", "1000"], looks)


def cases(bench):
    modes = [mode for mode in server_figures.sched_modes(bench) if mode]
    plain = ["--no-futex-names"]
    result = [Case("a switch and its wakeup: default", PINGPONG, SWITCH), Case("  --no-futex-names", PINGPONG, SWITCH, *plain),
              Case("  an untraced neighbour wants the CPU, too", PINGPONG, SWITCH, beside=PINGPONG),
              Case("  --irq", PINGPONG, SWITCH + ["on_local_timer_entry", "on_local_timer_exit"], "--irq"),
              Case("  --stacks off-cpu (8 KiB are copied)", PINGPONG, SWITCH, "--stacks", "off-cpu"),
              Case("  --stacks off-cpu --unwind frame-pointers", PINGPONG, SWITCH, "--stacks", "off-cpu", "--unwind", "frame-pointers")]
    result += [Case(f"  --sched {mode}", PINGPONG, SWITCH, "--sched", mode) for mode in modes if mode == "ledger"]
    result += [Case("somebody else's switch and wakeup, untraced", PINGPONG, SWITCH, traces_other=True),
               marks("a begin and an end, with a label", "begin-end", "on_begin", "on_end"),
               marks("  two spans, one in the other", "nested", "on_begin", "on_end"),
               marks("  a tag of 20 bytes", "tagged", "on_tag"), marks("  an attribute", "attributed", "on_attr"),
               marks("  by key", "keyed", "on_key_begin", "on_key_end"), marks("a counter", "counter", "on_counter")]
    return result


def paths(bench):
    title("What the BPF programs take, ns of a run above an empty one, as the kernel measures them")
    rounds = min(bench.rounds, ROUNDS_MAX)
    print(f"  (medians of {rounds} rounds of {SECONDS} s; the way to a program, a trap or a call, is not in it: part `probes` has it)")
    todo = cases(bench)
    for _ in range(rounds):
        for case in todo:
            case.run(bench)
    for case in todo:
        print(f"  {case.name}")
        for look, values in case.found.items():
            if values:
                row(f"    {look}", values, note=f"{case.bytes.get(look, 0):,} bytes of machine code")


WAYS = ["futex"] + [what + how for what in ("pipe", "socket") for how in ("", "-poll", "-epoll")]


def waits(bench):
    """The reason of a poll is found when it ends, in the wakeup's program. BASE=PATH: another txtrace-bpf, in turns with ours."""
    title("What a switch and a wakeup take by what the threads wait for, ns of a run above an empty one, as the kernel measures them")
    recorders = [("", bench.recorder_path)] + [(" of BASE", path) for path in [os.environ.get("BASE")] if path]
    todo = [Case(way + name, [*PINGPONG, "--by", way], SWITCH, recorder=path) for way in WAYS for name, path in recorders]
    for _ in range(bench.rounds):
        for case in todo:
            case.run(bench)
    for case in todo:
        switch, wakeup = (case.found[look] for look in SWITCH)
        row(case.name + ": switch", switch)
        row("  wakeup", wakeup)


def otel(bench):
    title("What --otel adds to a switch, ns of a run above an empty one, as the kernel measures them (aim: <= 150, in a library <= 300)")
    todo = contexts(bench)
    for _ in range(bench.rounds):
        for case in todo:
            case.run(bench)
    for case in todo:
        row(case.name, case.found["on_otel_switch"])
    row("for comparison: the switch itself", todo[0].found["on_sched_switch"])


def others(bench):
    """A process that runs the same file and is not traced: its marks should cost nothing."""
    title("Of a process that is not traced, while another one that runs the same file is: ns added to an iteration with a begin and an end")
    command = [bench.program("probe_loop"), "--mode", "begin-end", "--steps", "1000", "--seconds", "3600"]
    traced = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    workload = Workload(command, bench.scratch)
    tools = [bench.recorder("ours", traced.pid), Tool("nothing", ["sleep", "3600"], 0.3)]
    try:
        base, added = compare(workload, tools, bench.rounds, bench.scratch)
    finally:
        workload.stop()
        traced.kill()
        traced.wait()
    row("an iteration", base)
    row("while txtrace-bpf traces the other one", added["ours"])
    row("while nobody does: the noise", added["nothing"])
