# SPDX-License-Identifier: BSD-2-Clause
"""import_tokio_check.py LOG.jsonl EXPECTED.json [unwrapped]

Whether the records of an imported log give the figures that stand beside the sample, by an analysis of their own. unwrapped: the sample's clock
passes 2^32 µs, which its figures take for a step back; those that depend on it are no matter.
"""
import bisect
import json
import sys


class Worker:
    def __init__(self):
        self.polls = self.parks = self.unparks = self.poll_ns = self.max_local_queue = self.sched_wait_ns = self.max_sched_wait_ns = 0
        self.awake = None  # since when
        self.parked = None
        self.on_cpu = 0
        self.is_known = False

    def figures(self):
        return {name: getattr(self, name) for name in ("polls", "parks", "unparks", "poll_ns", "max_local_queue", "sched_wait_ns", "max_sched_wait_ns")}


class Analysis:
    def __init__(self, lines):
        self.workers, self.names = {}, {}
        self.samples, self.idle, self.periods, self.polls, self.long_parks, self.long_waits = [], [], [], [], 0, 0
        self.times = []
        for line in lines:
            getattr(self, "add_" + line["type"], lambda line: None)(line)

    def worker(self, line):
        return self.workers.setdefault(int(self.names[line["tid"]].split()[1]), Worker())

    def add_thread(self, line):
        self.names[line["tid"]] = line["comm"]

    def add_counter(self, line):
        self.times.append(line["time_ns"])
        if line["name"] == "global queue":
            self.samples.append((line["time_ns"], line["value"]))
        else:
            worker = self.worker(line)
            worker.max_local_queue = max(worker.max_local_queue, line["value"])

    def add_span(self, line):
        if line["keyed"] or line["tag"].startswith("span="):  # a task, a span of the program
            return
        worker = self.worker(line)
        worker.polls += 1
        self.times += [line["begin_ns"]] if line["unfinished"] else [line["begin_ns"], line["end_ns"]]
        if not line["unfinished"]:
            worker.poll_ns += line["wall_ns"]
            self.polls.append(line["wall_ns"])
        assert line["work_ns"] == line["wall_ns"] == line["unknown_ns"], line

    def add_run(self, line):
        worker = self.worker(line)
        self.times.append(line["end_ns"])
        if line["left_as"] != "blocked":
            self.unpark(worker, line)
        else:
            self.park(worker, line)

    def unpark(self, worker, line):
        assert line["begin_ns"] == line["end_ns"], line
        worker.unparks += 1
        worker.sched_wait_ns += line["runnable_ns"]
        worker.max_sched_wait_ns = max(worker.max_sched_wait_ns, line["runnable_ns"])
        self.long_waits += line["runnable_ns"] > 100_000
        if worker.parked is not None:
            idle = line["begin_ns"] - worker.parked
            assert line["blocked_ns"] == max(0, idle - line["runnable_ns"]), line
            self.long_parks += idle > 10_000_000
            at = bisect.bisect_right(self.samples, (line["begin_ns"], float("inf")))
            depth = self.samples[at - 1][1] if at else 0
            if idle > 1_000_000 and depth > 0:
                self.idle.append([int(self.names[line["tid"]].split()[1]), idle, depth])
        worker.awake, worker.parked, worker.is_known = line["begin_ns"], None, line["left_as"] == "preempted"

    def park(self, worker, line):
        worker.parks += 1
        if worker.awake is not None:
            wall, cpu = line["end_ns"] - worker.awake, line["end_ns"] - line["begin_ns"]
            if worker.is_known:
                assert line["runnable_ns"] + cpu == wall, line
            self.periods.append(((cpu / wall if wall else 1.0) if worker.is_known else 0.0, line, worker.awake))
        worker.awake, worker.parked = None, line["end_ns"]


def compare(of, wanted, is_unwrapped):
    figures = wanted.get("analysis") or wanted["analysis_of_all_files_in_order"]
    ratios = [period[0] for period in of.periods]
    found = {
        "workers": {str(number): worker.figures() for number, worker in of.workers.items()},
        "queue_samples": len(of.samples),
        "max_global_queue": max((depth for _, depth in of.samples), default=0),
        "active_periods": len(ratios),
        "ratio_ge_095": sum(ratio >= 0.95 for ratio in ratios),
        "ratio_lt_05": sum(ratio < 0.5 for ratio in ratios),
        "polls_ge_1ms": sum(ns >= 1_000_000 for ns in of.polls),
        "polls_gt_1ms": sum(ns > 1_000_000 for ns in of.polls),
        "parks_gt_10ms": of.long_parks,
        "sched_waits_gt_100us": of.long_waits,
    }
    if not is_unwrapped:
        found["idle_workers"] = len(of.idle)
        found["duration_span_ns"] = max(of.times) - min(of.times) if of.times else 0
    bad = [f"{name}: {value}, not {figures[name]}" for name, value in found.items() if value != figures[name]]
    mean = sum(ratios) / len(ratios) if ratios else None
    if (mean is None) != (figures["ratio_mean"] is None) or (mean is not None and abs(mean - figures["ratio_mean"]) > 1e-12):
        bad.append(f"the mean ratio is {mean}, not {figures['ratio_mean']}")
    if of.samples and abs(sum(depth for _, depth in of.samples) / len(of.samples) - figures["avg_global_queue"]) > 1e-9:
        bad.append("the mean queue")
    left = list(map(tuple, of.idle))
    for idle in map(tuple, figures["idle_first"]):
        if idle not in left:
            bad.append(f"not idle: {idle}")
        else:
            left.remove(idle)
    known = {(int(of.names[line["tid"]].split()[1]), begin, line["end_ns"]): ratio for ratio, line, begin in of.periods}
    for period in figures["active_first"]:
        ratio = known.get((period["worker"], period["start_ns"], period["end_ns"]))
        if ratio is None or abs(ratio - period["ratio"]) > 1e-12:
            bad.append(f"the period {period} has {ratio}")
    return bad


with open(sys.argv[1], encoding="utf-8") as log, open(sys.argv[2], encoding="utf-8") as expected:
    problems = compare(Analysis(map(json.loads, log)), json.load(expected), len(sys.argv) > 3)
print("\n".join(problems))
sys.exit(bool(problems))
