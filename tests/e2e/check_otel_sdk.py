# SPDX-License-Identifier: BSD-2-Clause
"""check_otel_sdk.py LOG.jsonl SDK.out: what --otel has recorded of tests/e2e/unmodified/otel_sdk.cc, against the spans that the SDK exported.

Every context is that of an exported span, within its times and not longer than it is; every span that slept is there, by its own ids,
with the sleep that its code asks for; who waited for the mutex was blocked by a lock.
"""
import collections
import json
import re
import sys

SLEEPS_NS = {"transfer": 3_000_000, "lock": 2_000_000, "disk": 1_000_000}


def read_spans(path):
    text = open(path, encoding="utf-8").read()
    for part in text.split("\n{\n"):
        fields = dict(re.findall(r"^\{?\s*(\w+)\s*: (\S+)", part, re.M))
        if "span_id" in fields:
            yield fields


def main():
    stays, said, anchor = {}, collections.defaultdict(dict), 0
    for line in open(sys.argv[1], encoding="utf-8"):
        record = json.loads(line)
        if record["type"] == "header":
            anchor = record["start_realtime_ns"] - record["start_monotonic_ns"]
        elif record["type"] == "span" and record["label"] == "otel":
            stays[record["id"]] = record
        elif record["type"] == "attribute":
            said[record["span"]][record["name"]] = record["value"]
    seen = collections.defaultdict(list)
    for number, stay in stays.items():
        seen[tuple(said[number]["traceparent"].split("-")[1:3])].append(stay)
    spans = {(span["trace_id"], span["span_id"]): span for span in read_spans(sys.argv[2])}
    assert spans and set(seen) <= set(spans), (len(spans), set(seen) - set(spans))
    unseen, locks = [], 0
    for ids, span in spans.items():
        begin, length = int(span["start"]) - anchor, int(span["duration"])
        if ids not in seen:
            unseen.append(span["name"])
            continue
        for stay in seen[ids]:
            assert begin - 1_000_000 <= stay["begin_ns"] and stay["end_ns"] <= begin + length + 1_000_000 + stay["on_cpu_ns"], (span, stay)
        slept = sum(stay["blocked"]["sleep"] + stay["runnable_ns"] + stay["unknown_ns"] for stay in seen[ids])
        assert slept >= SLEEPS_NS[span["name"]], (slept, span, seen[ids])
        assert sum(stay["wall_ns"] - stay["on_cpu_ns"] for stay in seen[ids]) <= length + 200_000, (span, seen[ids])
        locks += any(stay["blocked"]["lock"] for stay in seen[ids])
    assert not unseen, f"{len(unseen)} of {len(spans)} spans were never seen"
    assert locks, "nobody waited for the mutex"
    print(f"# {len(spans)} spans, all seen, in {len(stays)} stays; {locks} waited for the mutex")


main()
