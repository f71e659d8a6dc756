# SPDX-License-Identifier: BSD-2-Clause
"""What a log takes, in bytes and in time to report on, beside perf sched on the same switches: both record the same program at the same time."""
import json
import os
import re
import shutil
import subprocess

from figures import title
from workload import quartiles

ROUNDS = 3  # of whole reports: perf takes its seconds
MEGABYTES = (10, 100)
LONG_MEGABYTES = 1000
SQL_MEGABYTES = 100
SQL_ROUNDS = 5
QUERIES = {
    "count by label": "SELECT label, count(*) FROM spans GROUP BY label",
    "count and sum by label": "SELECT label, count(*), sum(wall_ns) FROM spans GROUP BY label",
}
KINDS = 500  # times as many labels as the bank has


def quietly(command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)


def info(bench, path):
    out = subprocess.run([os.path.join(bench.build, "txtrace"), "info", "--json", path], check=True, capture_output=True, text=True)
    return json.loads(out.stdout)


class Cost:
    """Seconds of wall time and CPU, and the peak of memory, of one run of a command."""

    def __init__(self, command, scratch):
        times = os.path.join(scratch, "times")
        quietly(["/usr/bin/time", "-o", times, "-f", "%e %U %S %M"] + command)
        with open(times, encoding="ascii") as file:
            wall, user, system, peak = file.read().split()
        self.wall = float(wall)
        self.cpu = float(user) + float(system)
        self.mib = int(peak) / 1024


class Capture:
    """A program recorded by txtrace-bpf and, where there is one, by perf sched record, at once."""

    def __init__(self, bench, name, command):
        self.bench = bench
        self.name = name
        self.log = os.path.join(bench.scratch, name + ".txtrace")
        self.perf_data = None
        tool = [os.path.join(bench.build, "txtrace-bpf"), "-q", "-o", self.log, "--"] + command
        if shutil.which("perf"):
            self.perf_data = os.path.join(bench.scratch, name + ".perf.data")
            tool = ["perf", "sched", "record", "-o", self.perf_data, "--"] + tool
        quietly(tool, env=os.environ | {"TMPDIR": bench.scratch})
        told = info(bench, self.log)
        self.records, self.lost = told["records"], told["losses"]["lost"]
        self.switches = self.records["run"]
        self.perf_switches, self.perf_lost = self._count_perf() if self.perf_data else (0, 0)

    def _count_perf(self):
        out = subprocess.run(["perf", "report", "--stats", "-i", self.perf_data], check=True, capture_output=True, text=True).stdout
        switches = re.search(r"sched:sched_switch stats:.*?SAMPLE events: *(\d+)", out, re.DOTALL)
        lost = re.search(r"LOST events: *(\d+)", out)
        return int(switches.group(1)), int(lost.group(1)) if lost else 0

    def bytes(self):
        return os.path.getsize(self.log)

    def repeat(self, name, *options):
        """A log made of this one: longer, or a part of it."""
        path = os.path.join(self.bench.scratch, name + ".txtrace")
        quietly([os.path.join(self.bench.build, "bench", "log_repeat"), "--in", self.log, "--out", path, *options])
        return path


def captures(bench):
    """Made once for all parts of a run."""
    if not hasattr(bench, "captures"):
        print("  recording ...", flush=True)
        storm = [bench.program("pingpong"), "--cpu", "1", "--switches", "1000000"]
        bank = [bench.program("bank"), "--transactions", "20000", "--rate", "2000"]
        bench.captures = [Capture(bench, "storm", storm), Capture(bench, "bank", bank)]
        for capture in bench.captures:
            perf = f"; perf sched record, at the same time: {capture.perf_switches:,} of the whole system, {capture.perf_lost} times lost some"
            print(f"  {capture.name}: {capture.switches:,} switches, {capture.records['span']:,} spans, {capture.lost:,} events lost, {capture.bytes() / 1e6:.2f} MB"
                  f"{perf if capture.perf_data else '; there is no perf to compare with'}")
    return bench.captures


def figure(name, value, unit, note=""):
    print(f"  {name:<58} {value:9.2f} {unit:<6} {note}".rstrip(), flush=True)


def sizes(bench):
    title("Bytes in the log")
    storm, bank = captures(bench)
    for capture, aim in ((storm, "aim <= 2"), (bank, "aim <= 3.5")):
        sched = capture.repeat("part", "--only", "sched")
        ours = os.path.getsize(sched) / capture.switches
        figure(f"{capture.name}: a switch with its wakeup", ours, "bytes", aim)
        if capture.perf_data:
            theirs = os.path.getsize(capture.perf_data) / capture.perf_switches
            figure("  the same in perf.data", theirs, "bytes", f"ratio {theirs / ours:.0f}")
    spans = bank.repeat("part", "--only", "spans")
    figure("bank: a finished span, all fields and its ledger", os.path.getsize(spans) / bank.records["span"], "bytes", "aim <= 8")
    figure("bank: all (stays, wakeups, marks), for each span", bank.bytes() / bank.records["span"], "bytes")
    command = [bench.program("probe_loop"), "--mode", "begin-end", "--iterations", "500000", "--wait-traced", "10"]
    quietly([os.path.join(bench.build, "txtrace-bpf"), "-q", "-o", bench.log, "--"] + command)
    figure("spans of one label, one after the other", os.path.getsize(bench.log) / 500000, "bytes", "aim <= 8")


def codec(bench):
    title("Encoding and decoding, one thread: bytes a record, ns to encode one, millions decoded a second")
    print("  aims: >= 80 with zstd, >= 150 uncompressed", flush=True)
    subprocess.run([os.path.join(bench.build, "bench", "log_codec")] + [capture.log for capture in captures(bench)], check=True)


def ratios(perf, switches, cost):
    """How much longer perf takes for as many switches: by wall time, and by CPU time, which other programs on the machine disturb less."""
    parts = []
    for name, (wall, cpu) in perf.items():
        parts.append(f"{name} {wall * switches / cost.wall:.0f} ({cpu * switches / cost.cpu:.0f} of CPU)")
    return "; ratio: " + ", ".join(parts) if parts else ""


def compare_reports(bench, capture):
    """Whole reports of the same capture, in turn. Returns perf's seconds for a switch: {name: (wall, CPU)}."""
    commands = {"txtrace report": [os.path.join(bench.build, "txtrace"), "report", capture.log]}
    if capture.perf_data:
        commands["perf sched timehist"] = ["perf", "sched", "timehist", "-i", capture.perf_data]
        commands["perf script"] = ["perf", "script", "-i", capture.perf_data]
    costs = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            costs[name].append(Cost(command, bench.scratch))
    print(f"  {capture.name}, as it was captured")
    each = {}
    for name, values in costs.items():
        switches = capture.switches if name == "txtrace report" else capture.perf_switches
        wall, cpu = (quartiles([getattr(cost, what) for cost in values])[1] for what in ("wall", "cpu"))
        each[name] = (wall / switches, cpu / switches)
        figure(f"  {name}", wall, "s", f"{cpu:.2f} s of CPU, {max(cost.mib for cost in values):.0f} MiB at most; a million switches in "
               f"{wall / switches * 1e6:.3f} s")
    del each["txtrace report"]
    return each


def report_long(bench, capture, perf, megabytes, *options):
    path = capture.repeat("long", "--megabytes", str(megabytes), *options)
    costs = [Cost([os.path.join(bench.build, "txtrace"), "report", path], bench.scratch) for _ in range(1 if megabytes > 100 else ROUNDS)]
    cost = min(costs, key=lambda cost: cost.wall)
    records = info(bench, path)["records"]
    what = f"{capture.name}, {KINDS} times as many labels" if options else capture.name
    figure(f"{what}, {megabytes:,} MB", cost.wall, "s", f"{cost.cpu:.2f} s of CPU, {cost.mib:.0f} MiB at most; {sum(records.values()) / 1e6:.0f} M records, "
           f"{sum(records.values()) / cost.cpu / 1e6:.0f} M in a second of CPU{ratios(perf, records['run'], cost)}")
    os.remove(path)


def report(bench):
    title("A whole report: wall time, and the peak of memory (aims: >= 20 times faster than perf, <= 64 MiB)")
    lengths = MEGABYTES + ((LONG_MEGABYTES,) if bench.is_long else ())
    if not bench.is_long:
        print(f"  (a log of {LONG_MEGABYTES:,} MB takes minutes to make: tests/bench/run.sh report)")
    both = captures(bench)
    perf = {capture.name: compare_reports(bench, capture) for capture in both}
    print("  long logs: the capture again and again, each time behind itself (perf.data can't be continued: its ratio is by the million switches)")
    for megabytes in lengths:
        for capture in both:
            report_long(bench, capture, perf[capture.name], megabytes)
        report_long(bench, both[1], {}, megabytes, "--kinds", str(KINDS))


def sql(bench):
    title(f"SQL on a log of {SQL_MEGABYTES} MB: times as long as `txtrace report`, in turn, medians (aim: <= 3)")
    bank = captures(bench)[1]
    path = bank.repeat("asked", "--megabytes", str(SQL_MEGABYTES))
    program = os.path.join(bench.build, "txtrace")
    commands = {"report": [program, "report", path]} | {name: [program, "sql", path, query] for name, query in QUERIES.items()}
    costs = {name: [] for name in commands}
    for _ in range(SQL_ROUNDS):
        for name, command in commands.items():
            costs[name].append(Cost(command, bench.scratch))
    medians = {name: [quartiles([getattr(cost, what) for cost in values])[1] for what in ("wall", "cpu")] for name, values in costs.items()}
    wall, cpu = medians.pop("report")
    for name, (sql_wall, sql_cpu) in medians.items():
        figure(f"bank: {name}", sql_wall / wall, "times", f"{sql_cpu / cpu:.2f} times the CPU time; {sql_wall:.2f} s, report {wall:.2f} s; "
               f"{max(cost.mib for cost in costs[name]):.0f} MiB at most")
    os.remove(path)
