# SPDX-License-Identifier: BSD-2-Clause
"""import_tokio_figures.py FOLDER EXPECTED.json [unwrapped]

Whether `txtrace workers --json`, `report --by thread --json` and `spans --json` (FOLDER/workers.json, report.json, spans.json) give the figures that
stand beside a sample of Tokio's telemetry, versions 4 to 6. What version 4 does not know is null or 0 of nothing measured, not the reference's 0.
unwrapped: the sample's clock passes 2^32 µs, which its figures take for a step back; those that depend on it are no matter.
"""
import json
import sys


def load(path):
    with open(path, encoding="utf-8") as opened:
        return json.load(opened)


def workers_of(workers, report):
    counters = {(counter["tid"], counter["name"]): counter for counter in workers["counters"]}
    rows = {row["name"]: row for row in report["rows"]}
    names = {row["tid"]: f"{row['thread_name']} {row['tid']}" for row in workers["threads"]}
    found = {}
    for row in workers["threads"]:
        polls = rows.get(names[row["tid"]], {"count": 0})
        woken = row["wakeups"] or {"sleeps": 0, "wakeups": 0, "wait_ns": 0, "longest_wait_ns": 0}
        found[row["thread_name"].split()[1]] = {
            "polls": polls["count"] + ((polls.get("lower_bounds") or {}).get("count") or 0),
            "parks": woken["sleeps"], "unparks": woken["wakeups"], "poll_ns": polls["sum"]["wall_ns"] if polls["count"] else 0,
            "max_local_queue": counters[row["tid"], "local queue"]["max"],
            "sched_wait_ns": woken["wait_ns"], "max_sched_wait_ns": woken["longest_wait_ns"]}
    return found


def compare(workers, report, spans, wanted, is_unwrapped):
    figures = wanted.get("analysis") or wanted["analysis_of_all_files_in_order"]
    woken = [row["wakeups"] for row in workers["threads"] if row["wakeups"]]
    queue = [counter for counter in workers["counters"] if counter["name"] == "global queue"]
    polls = [span["wall_ns"] for span in spans["spans"] if not span["lower_bound"]]
    has_cpu = wanted.get("version") != 4
    found = {
        "workers": workers_of(workers, report),
        "queue_samples": sum(counter["count"] for counter in queue),
        "max_global_queue": max((counter["max"] for counter in queue), default=0),
        "active_periods": sum(row["periods"] for row in woken),
        "parks_gt_10ms": sum(row["sleeps_above_10ms"] for row in woken),
        "sched_waits_gt_100us": sum(row["waits_above_100us"] for row in woken),
        "polls_ge_1ms": sum(ns >= 1_000_000 for ns in polls),
        "polls_gt_1ms": sum(ns > 1_000_000 for ns in polls),
    }
    measured = sum(row["measured_periods"] for row in woken)
    mean = sum(row["mean_ratio"] * row["measured_periods"] for row in woken if row["mean_ratio"] is not None) / measured if measured else None
    if has_cpu:
        found["ratio_ge_095"] = sum(row["periods_95_percent_on_cpu"] for row in woken)
        found["ratio_lt_05"] = sum(row["periods_below_50_percent_on_cpu"] for row in woken)
    if not is_unwrapped:
        found["idle_workers"] = workers["idle_wakeup_count"]
    bad = [f"{name}: {value}, not {figures[name]}" for name, value in found.items() if value != figures[name]]
    if has_cpu and ((mean is None) != (figures["ratio_mean"] is None) or (mean is not None and abs(mean - figures["ratio_mean"]) > 1e-12)):
        bad.append(f"the mean ratio is {mean}, not {figures['ratio_mean']}")
    if not has_cpu and measured:
        bad.append("version 4 has measured periods")
    if queue and abs(queue[0]["mean"] - figures["avg_global_queue"]) > 1e-9:
        bad.append(f"the queue's mean is {queue[0]['mean']}")
    idle = sorted([int(one["thread_name"].split()[1]), one["end_ns"] - one["begin_ns"], one["depth"]] for one in workers["idle_wakeups"])
    for one in figures["idle_first"] if not is_unwrapped else []:
        if one in idle:
            idle.remove(one)
        else:
            bad.append(f"not idle: {one}")
    return bad


problems = compare(*(load(f"{sys.argv[1]}/{name}.json") for name in ("workers", "report", "spans")), load(sys.argv[2]), len(sys.argv) > 3)
print("\n".join(problems))
sys.exit(bool(problems))
