# SPDX-License-Identifier: BSD-2-Clause
"""fvm_check.py EXPECTED GAS RECORDS

Whether GAS (txtrace gas --json) and RECORDS (jsonl) of an imported trace have the figures that stand beside a sample.
"""
import collections
import json
import re
import sys

expected, gas = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
records = [json.loads(line) for line in open(sys.argv[3], encoding="utf-8")]
bad = []


def compare(what, found, wanted):
    if found != wanted:
        bad.append(f"{what}: {found}, not {wanted}")


def events():
    return [line["name"] for line in records if line["type"] == "instant"]


def text():
    words = {"gas": "GasCharge", "call": "Call", "ret": "CallReturn", "err": "CallError", "log": "Log", "invoke": "InvokeActor", "ipld": "Ipld"}
    kinds = collections.Counter(name.split(" ")[0] for name in events())
    stray = sum("return without a call" in note for note in expected["notes"])
    kinds["CallReturn"] += stray  # left out
    for kind, cnt in expected["by_kind"].items():
        compare(kind, kinds[words[kind]], cnt)
    spans = [span for span in gas["spans"] if span["kind"] != "timed"]
    compare("spans", len(spans), expected["spans"])
    root = spans[0]
    compare("root", root["total_milligas"], expected["root_total_milligas"])
    compare("names", root["total"], expected["root_total_by_name_milligas"])
    compare("labels", gas["labels"], expected["label_sums"])
    for span, wanted in zip(spans, expected["per_span"]):
        name = "Root" if span["kind"] == "root" else f'{span["number"]}-{"Call" if span["kind"] == "call" else "Span"}({span["name"]})'
        found = {"id": name, "kind": span["kind"], "parent": span["parent"], "closed": span["closed"], "self_milligas": span["self_milligas"],
                 "total_milligas": span["total_milligas"]}
        compare(name, {key: found[key] for key in wanted if key in found}, {key: value for key, value in wanted.items() if key in found})


def lotus():
    depths = {}
    calls = [span for span in gas["spans"] if span["kind"] == "call"]
    for call in calls:
        depths[call["number"]] = 1 if call["parent"] is None else depths[call["parent"]] + 1
    found = [{"call": call["name"], "depth": depths[call["number"]], "exit": call.get("exit_code"), "self": call["self_milligas"] // 1000,
              "total": call["total_milligas"] // 1000, "tt_ns": call["elapsed_ns"]} for call in calls]
    for call, wanted in zip(found, expected["per_call"]):
        compare(wanted["call"], {key: call[key] for key in wanted}, wanted)
    charges = sum(charge["count"] for charge in gas["charges"].values())
    by_name = {name: (charge["compute_milligas"] + charge["other_milligas"]) // 1000 for name, charge in gas["charges"].items()}
    compare("gas by name", by_name, expected["gas_by_name"])
    compare("total", sum(call["self"] for call in found), expected["total_gas"])
    for name, value in {"calls": len(calls), "max_depth": max(depths.values()), "gas_charges": charges, "traces": sum(depth == 1 for depth in depths.values()),
                        "failed_calls": sum(call["exit"] not in (0, None) for call in found), "logs": sum(name.startswith("Log ") for name in events()),
                        "ipld_ops": sum(name.startswith("Ipld ") for name in events()),
                        "invoked_actor_present": sum(name.startswith("InvokeActor ") for name in events()),
                        "read_only_calls": sum(bool(re.match("Call .*read_only: true }$", name)) for name in events())}.items():
        compare(name, value, expected[name])


def timed():
    spans = [span for span in gas["spans"] if span["kind"] == "timed"]
    tags = {line["id"]: line["tag"] for line in records if line["type"] == "span" and line["pid"] == 2}
    attributes = collections.defaultdict(dict)
    for line in records:
        if line["type"] == "attribute" and line["pid"] == 2:
            attributes[line["span"]][line["name"]] = line["value"]
    for span, wanted in zip(spans, expected["spans"], strict=True):
        key, own = str(span["number"]), attributes[str(span["number"])]
        found = {"id": span["number"], "label": span["name"], "parent": f'{own["parent"]} (unknown)' if "parent" in own else span["parent"], "begin": span["begin_ns"],
                 "end": span.get("end_ns"), "method": own["method"], "tag": tags[key]}
        compare(key, {name: found[name] for name in wanted}, wanted)
    sums = {label: {"count": row["count"], "ns": row["ns"]} for label, row in gas["timed"].items() if row["count"]}
    compare("sums", sums, expected["sum_over_label"])
    compare("open", sum(row["unclosed"] for row in gas["timed"].values()), expected["never_ended"])


{"text": text, "lotus-json": lotus, None: timed}[expected.get("form")]()
print("\n".join(bad[:10]))
sys.exit(1 if bad else 0)
