# SPDX-License-Identifier: BSD-2-Clause
"""Traces of tests/programs/trace_chain.c, as the log has them, against what the program sent.

    trace_context_check.py READER LOG PROGRAM-OUTPUT
"""
import json
import subprocess
import sys

READER, LOG, OUTPUT = sys.argv[1:4]


def read(*arguments):
    return json.loads(subprocess.run([READER, *arguments], check=True, stdout=subprocess.PIPE).stdout)


def wrong(request, what):
    sys.exit(f"{request}: {what}")


def check(request):
    _, trace, sent, _ = request["sent"].split("-")
    rows = read("show", "--json", LOG, trace)["spans"]
    labels = [(row["depth"], row["span"]["label"]) for row in rows]
    if labels != [(0, "front"), (1, "call"), (2, "back"), (3, "look up")]:
        wrong(request, f"the tree is {labels}")
    front, call, back, inner = rows
    if call["span_id"] != sent or back["parent_span_id"] != sent:
        wrong(request, f"call is {call['span_id']}, back is below {back['parent_span_id']}")
    if call["parent_span_id"] != front["span_id"] or inner["parent_span_id"] != back["span_id"]:
        wrong(request, "a parent is another one")
    if front["span"]["pid"] == back["span"]["pid"] or front["span"]["pid"] != call["span"]["pid"]:
        wrong(request, "a process is another one")
    if request["came_in"]:
        _, came_trace, came_parent, _ = request["came_in"].split("-")
        if came_trace != trace or front["parent_span_id"] != came_parent:
            wrong(request, f"front is below {front['parent_span_id']}")
    elif front["parent_span_id"] is not None:
        wrong(request, "front has a parent")
    listed = {span["label"] for span in read("spans", "--trace", trace, "--json", LOG)["spans"]}
    if listed != {"front", "call", "back", "look up"}:
        wrong(request, f"spans --trace has {listed}")
    return trace


def main():
    with open(OUTPUT, encoding="utf-8") as lines:
        requests = [json.loads(line) for line in lines]
    traces = [check(request) for request in requests]
    if not requests or len(set(traces)) != len(requests):
        sys.exit(f"{len(set(traces))} traces of {len(requests)} requests")
    rows = {row["name"]: row["count"] for row in read("report", "--by", "trace", "--json", LOG)["rows"]}
    if rows != {trace: 4 for trace in traces}:
        sys.exit(f"report --by trace has {rows}")


main()
