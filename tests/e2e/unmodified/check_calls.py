#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""check_calls.py TRUTH LOG.jsonl: as many spans of each label as the program says it made, as many of them unfinished as were left without a
return; who was called by whom; every ledger balances."""
import collections
import json
import sys

PARENTS = {"middle": {"outer"}, "leaf": {"middle"}, "recurse": {"recurse", ""}, "between": {"catcher"}, "thrower": {"between"}, "after": {"catcher"},
           "outer": {""}, "bank::Account::withdraw": {"bank::move<long>"}, "bank::Account::check": {"bank::Account::withdraw"}, "bank::move<long>": {""}}


def main():
    truth = [json.loads(line) for line in open(sys.argv[1])]
    spans = [record for record in map(json.loads, open(sys.argv[2])) if record["type"] == "span"]
    labels = {span["id"]: span["label"] for span in spans}
    faults = []
    for want in truth:
        mine = [span for span in spans if span["label"] == want["label"]]
        unfinished = sum(span["unfinished"] for span in mine)
        if len(mine) != want["calls"] or unfinished != want["skipped"]:
            faults.append(f"{want['label']}: {len(mine)} spans, {unfinished} unfinished instead of {want['calls']}, {want['skipped']}")
    known = {want["label"] for want in truth}
    faults += [f"a span {label!r} that nobody made" for label in set(labels.values()) - known]
    for span in spans:
        parent = labels.get(span["parent"], "")
        if parent not in PARENTS.get(span["label"], {parent}):
            faults.append(f"{span['label']} was called by {parent!r}")
        if span["on_cpu_ns"] + span.get("stolen_ns", 0) + span["runnable_ns"] + span["blocked_ns"] + span["detached_ns"] + span["unknown_ns"] != span["work_ns"]:
            faults.append(f"{span['label']} {span['id']}: its ledger does not balance")
    for fault, cnt in collections.Counter(faults).items():
        print(f"{cnt} x {fault}")
    print(f"{len(spans)} spans")
    return bool(faults) or not truth


sys.exit(main())
