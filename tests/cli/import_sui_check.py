# SPDX-License-Identifier: BSD-2-Clause
"""import_sui_check.py FOLDER SAMPLE

Whether FOLDER/records (jsonl) of an imported log have the events that stand beside the sample, in the order of time, and give its figures; and whether
FOLDER/report.json and FOLDER/workers.json, which these commands have printed, give them, too.
"""
import collections
import json
import math
import pathlib
import sys

NAMES = {"enqueued": "Enqueued", "scheduled": "Scheduled", "execution begin": "ExecutionBegin", "execution complete": "ExecutionComplete"}
TYPES = {"Enqueued": "enqueued", "Scheduled": "scheduled", "ExecutionBegin": "begin", "ExecutionComplete": "complete"}
SPANS = {"execution": "execution", "waiting for inputs": "enqueued_to_scheduled", "waiting for an executor": "scheduled_to_begin"}


def read_log(path):
    keys, events, spans = {}, [], []
    for line in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        if line["type"] == "open_span":
            keys[line["id"]] = line["key"]
        elif line["type"] == "instant" and line["span"] != "0":
            events.append((line["time_ns"], keys[line["span"]], NAMES[line["name"]]))
        elif line["type"] == "span":
            assert line["work_ns"] == line["wall_ns"] == line["detached_ns"] + line["unknown_ns"], line
            assert line["on_cpu_ns"] == line["runnable_ns"] == line["blocked_ns"] == 0, line
            spans.append(line)
    return events, spans


def figures_of(lengths):
    """Nearest rank."""
    if not lengths:
        return {"n": 0}
    lengths = sorted(lengths)
    rank = {name: lengths[math.ceil(share * len(lengths)) - 1] for name, share in (("p50_ns", 0.5), ("p99_ns", 0.99))}
    return {"n": len(lengths), "sum_ns": sum(lengths), "min_ns": lengths[0], "max_ns": lengths[-1], **rank}


def most_at_once(events):
    is_open, most = set(), 0
    for _, key, name in events:
        if name == "ExecutionBegin":
            is_open.add(key)
        elif name == "ExecutionComplete":
            is_open.discard(key)
        most = max(most, len(is_open))
    return most


def compare(events, spans, report, wanted):
    of = collections.defaultdict(list)
    for line in spans:
        of[line["label"]].append(line)
    completes = {(line["end_ns"], line["key"]) for line in of["transaction"] if not line["unfinished"]}
    found = {
        "events": len(events),
        "transactions": len({key for _, key, _ in events}),
        "by_type": dict(collections.Counter(TYPES[name] for _, _, name in events)),
        "first_ns": events[0][0] if events else None,
        "last_ns": events[-1][0] if events else None,
        "executed": sum(not line["unfinished"] for line in of["execution"]),
        "begun_never_completed": sum(line["unfinished"] for line in of["execution"]),
        "max_concurrent": most_at_once(events),
    }
    found["complete_without_begin"] = len(completes) - found["executed"]
    for label, name in SPANS.items():
        found[name] = figures_of([line["wall_ns"] for line in of[label] if not line["unfinished"]])
    bad = [f"{name}: {value}, not {wanted[name]}" for name, value in found.items() if value != wanted[name]]
    for label, name in SPANS.items():
        bad += compare_report(label, next((row for row in report["labels"] if row["label"] == label), None), wanted[name])
    return bad


def compare_report(label, row, wanted):
    """Quantiles of a report may be off by 0.8 %."""
    if row is None or wanted["n"] == 0:
        return [f"report: {label}: {row}"] if wanted["n"] or (row and row["count"]) else []
    wall = row["wall_ns"]
    exact = {"n": row["count"], "sum_ns": wall["sum"], "min_ns": wall["min"], "max_ns": wall["max"]}
    bad = [f"report: {label}: {name}: {value}, not {wanted[name]}" for name, value in exact.items() if value != wanted[name]]
    for name in ("p50", "p99"):
        if abs(wall[name] - wanted[name + "_ns"]) > 0.008 * wanted[name + "_ns"]:
            bad.append(f"report: {label}: {name}: {wall[name]}, not {wanted[name + '_ns']}")
    return bad


def main(folder, sample):
    folder = pathlib.Path(folder)
    events, spans = read_log(folder / "records")
    with open(sample + ".events.txt", encoding="utf-8") as lines, open(sample + ".expected.json", encoding="utf-8") as expected:
        wanted_events = [(int(time), digest, name) for time, digest, name in map(str.split, lines)]
        wanted = json.load(expected)
    bad = compare(events, spans, json.loads((folder / "report.json").read_text(encoding="utf-8")), wanted)
    counters = json.loads((folder / "workers.json").read_text(encoding="utf-8"))["counters"]
    most = max((counter["max"] for counter in counters if counter["name"] == "executing"), default=0)
    if most != wanted["max_concurrent"]:
        bad.append(f"workers: {most} executing, not {wanted['max_concurrent']}")
    if events != sorted(wanted_events, key=lambda event: event[0]):
        bad.append("the events are others")
    steps = sum(after[0] < before[0] for before, after in zip(wanted_events, wanted_events[1:]))
    said = (folder / "said_of_import").read_text(encoding="utf-8")
    if (f"put into order: {steps}\n" if steps else "put into order") not in said and steps or steps != wanted["backward_steps"]:
        bad.append(f"{steps} steps back")
    print("\n".join(bad))
    return bool(bad)


sys.exit(main(sys.argv[1], sys.argv[2]))
