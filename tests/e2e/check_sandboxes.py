# SPDX-License-Identifier: BSD-2-Clause
"""
check_sandboxes.py sandboxed LOG.jsonl          200 turns of tests/programs/sandboxed
check_sandboxes.py held TRUTH.jsonl LOG.jsonl   20 spans of tests/programs/ptraced that were held
check_sandboxes.py syscalls LOG.jsonl           50 of its spans with ten system calls each
check_sandboxes.py steps LOG.jsonl              100 of its spans that were stepped through

Prints what it has found. Exit status 1: that is not what the programs did.
"""
import json
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def spans_of(records, label):
    return [record for record in records if record["type"] == "span" and record["label"] == label]


def is_whole(span):
    return not span["lower_bound"] and not span["unfinished"]


def sandboxed(path):
    """Each turn has a span with a tag and an attribute, and in it a child with an event."""
    records = read(path)
    parents, children = spans_of(records, "sandboxed"), spans_of(records, "child")
    ids = {span["id"] for span in parents}
    turns = sorted(record["value"] for record in records if record["type"] == "attribute" and record["name"] == "turn")
    instants = [record["span"] for record in records if record["type"] == "instant" and record["name"] == "working"]
    print(len(parents), "parents,", len(children), "children,", len(turns), "attributes,", len(instants), "events")
    return (len(parents) == len(ids) == len(children) == 200 and {child["parent"] for child in children} == ids and turns == list(range(200)) and
            sorted(instants) == sorted(child["id"] for child in children) and all(span["tag"] == "in=sandbox" for span in parents) and
            all(is_whole(span) for span in parents + children))


def held(truth_path, path):
    """What a span was blocked for is what the program was held for, or more."""
    spans = {span["id"]: span for span in spans_of(read(path), "held")}
    short = [(truth["asked_ns"], spans[truth["id"]]["blocked"]["stopped"]) for truth in read(truth_path)
             if spans[truth["id"]]["blocked"]["stopped"] < truth["asked_ns"]]
    print(len(spans), "spans were held; too short by the log:", short)
    return len(spans) == 20 and not short


def syscalls(path):
    """A stop before each and one behind it: 20 times it left its CPU for that, and for nothing else. What the kernel hid is unknown, in one span of ten."""
    records, wrong, hidden_cnt = read(path), [], 0
    for span in spans_of(records, "syscalls"):
        reasons = [record.get("reason") for record in records if record["type"] == "run" and record["tid"] == span["tid"] and
                   span["begin_ns"] <= record["end_ns"] <= span["end_ns"] and record["left_as"] == "blocked"]
        others = [reason for reason, ns in span["blocked"].items() if ns and reason != "stopped"]
        hidden_cnt += span["unknown_ns"] > 0
        is_all = len(reasons) == 20 or (len(reasons) < 20 and span["unknown_ns"] > 0)
        if set(reasons) != {"stopped"} or not is_all or others or not is_whole(span):
            wrong.append((span["id"], reasons, others))
    print(len(spans_of(records, "syscalls")), "spans,", hidden_cnt, "with a hidden switch, wrong:", wrong)
    return len(spans_of(records, "syscalls")) == 50 and not wrong and hidden_cnt <= 5


def steps(path):
    """Each mark is made once."""
    spans = spans_of(read(path), "stepped")
    print(len(spans), "spans,", len({span["id"] for span in spans}), "ids")
    return len(spans) == len({span["id"] for span in spans}) == 100 and all(span["tag"] == "by=ptrace" and is_whole(span) for span in spans)


sys.exit(not {"sandboxed": sandboxed, "held": held, "syscalls": syscalls, "steps": steps}[sys.argv[1]](*sys.argv[2:]))
