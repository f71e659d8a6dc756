# SPDX-License-Identifier: BSD-2-Clause
"""
python3 check_ledgers.py TIMELINE.jsonl LEDGER.jsonl

The same events with their switches and wakeups and without: where the latter knows all of a span, its ledger is the same to the nanosecond; where it does not,
no part is more than it was and the rest is unknown. Prints what is wrong; exit status 1 if anything is.
"""
import json
import sys

PARTS = ("on_cpu_ns", "runnable_ns", "detached_ns", "stolen_ns")
FIRM = ("label", "tag", "key", "parent", "begin_ns", "end_ns", "wall_ns", "work_ns", "detached_ns", "lower_bound", "unfinished", "loss", "imbalance", "moved")


def spans_of(path):
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    spans = [line for line in lines if line["type"] == "span"]
    rest = {line["type"] for line in lines}
    return {(span["pid"], span["id"], span["begin_ns"]): span for span in spans}, rest


def parts_of(span):
    return {**{name: span.get(name, 0) for name in PARTS}, **span["blocked"]}


def main():
    timeline, _ = spans_of(sys.argv[1])
    ledger, kinds = spans_of(sys.argv[2])
    problems = []
    same = waiting = partly = 0
    if kinds & {"run", "wake", "other_run"}:
        problems.append(f"there is a timeline: {kinds}")
    if timeline.keys() != ledger.keys():
        problems.append(f"other spans: {timeline.keys() ^ ledger.keys()}")
    for name in timeline.keys() & ledger.keys():
        whole, span = timeline[name], ledger[name]
        full, known = parts_of(whole), parts_of(span)
        for field in FIRM:
            if whole.get(field) != span.get(field):
                problems.append(f"{name}: {field} is {span.get(field)}, not {whole.get(field)}")
        if sum(known.values()) + span["unknown_ns"] != span["work_ns"]:
            problems.append(f"{name} does not balance: {span}")
        if span["unknown_ns"] == whole["unknown_ns"]:
            same += 1
            waiting += whole["blocked_ns"] > 0 and whole["runnable_ns"] > 0
            if known != full:
                problems.append(f"{name}: {known}, not {full}")
        else:
            partly += 1
            problems += [f"{name}: {part} is {known[part]}, more than {full[part]}" for part in full if known[part] > full[part]]
    for line in problems[:20]:
        print(line)
    print(f"{same} spans are the same, {waiting} of them waited; {partly} are known in part")
    return 1 if problems or not waiting else 0


sys.exit(main())
