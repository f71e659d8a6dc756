# SPDX-License-Identifier: BSD-2-Clause
"""import_sui_lanes_check.py EXPECTED JSONL WORKERS CHROME [GOLDEN]

EXPECTED: for each object, how many executions took it, their sum, for how long at least one did, and how many at most at once; null: nothing to compare
with. Whether the spans of an imported log say so, whether `txtrace workers --json` has the same maximum, and whether the picture has the same spans on
rows that are called as the object, where no two cross. GOLDEN: what Sui's own converter makes of the same file.
"""
import collections
import json
import sys

expected, log, workers, chrome, *golden = ([json.loads(line) for line in open(path, encoding="utf-8")] if path.endswith(".jsonl")
                                           else json.load(open(path, encoding="utf-8")) for path in sys.argv[1:])
tracks = {line["span"]: line["value"] for line in log if line["type"] == "attribute" and line["name"] == "track"}
keys = {line["id"]: line["key"] for line in log if line["type"] == "span" and line["keyed"]}
of = collections.defaultdict(list)
for line in log:
    if line["type"] == "span" and line["label"] == "object":
        of[tracks[line["id"]]].append(line)
found = {}
for name, spans in of.items():
    done = [(span["begin_ns"], span["end_ns"]) for span in spans if not span["unfinished"]]
    busy, until, edges, now, most = 0, 0, [], 0, 0
    for begin, end in sorted(done):
        busy += max(0, end - max(begin, until))
        until = max(until, end)
    for _, change in sorted(edge for begin, end in done for edge in ((begin, 1), (end, -1))):
        now += change
        most = max(most, now)
    found[name] = {"executions": len(done), "sum_ns": sum(end - begin for begin, end in done), "busy_ns": busy, "max_overlap": most}
assert found and (expected is None or found == expected), (found, expected)

most = {counter["name"]: counter["max"] for counter in workers["counters"] if counter["name"] != "executing"}
assert most == {name: one["max_overlap"] for name, one in found.items()} or any(span["unfinished"] for spans in of.values() for span in spans), most

names = {(event["pid"], event["tid"]): event["args"]["name"] for event in chrome["traceEvents"] if event.get("name") == "thread_name"}
rows, drawn = collections.defaultdict(list), collections.Counter()
for event in chrome["traceEvents"]:
    if event.get("name") != "object":
        continue
    assert event["ph"] == "X", event
    row, begin = (event["pid"], event["tid"]), round(event["ts"] * 1000) + chrome["otherData"]["base_ns"]
    rows[row].append((begin, begin + round(event["dur"] * 1000)))
    drawn[names[row], begin, begin + round(event["dur"] * 1000)] += 1
assert drawn == collections.Counter((name, span["begin_ns"], span["end_ns"]) for name, spans in of.items() for span in spans), drawn
for spans in rows.values():
    spans.sort()
    assert all(a[1] <= b[0] for a, b in zip(spans, spans[1:])), "slices of a row overlap"

for document in golden:
    wanted = collections.Counter((event["tid"], event["ts"], event["args"]["duration_us"]) for event in document["traceEvents"] if event["ph"] == "E")
    got = collections.Counter((name, span["end_ns"] // 1000, span["end_ns"] // 1000 - span["begin_ns"] // 1000)
                              for name, spans in of.items() for span in spans if not span["unfinished"])
    assert got == wanted, (got, wanted)
print(f"{sum(map(len, of.values()))} executions of {len(of)} objects on {len(rows)} rows")
