# SPDX-License-Identifier: BSD-2-Clause
"""import_monad_check.py FOLDER SAMPLE

Whether FOLDER/records (jsonl) of an imported log, made with --payloads, have the events that stand beside the sample, with their sizes and payloads, and
its figures; and whether FOLDER/said_of_import tells what is missing.
"""
import collections
import json
import os
import pathlib
import re
import sys

EXECUTION = "8933f907c432c98ac0c8db62f9aa164c0c3f1672f41290e4ea3408df6c6723f3"
SPANS = {"block": ("BLOCK_PERF_EVM_ENTER", "BLOCK_PERF_EVM_EXIT"), "transaction": ("TXN_PERF_EVM_ENTER", "TXN_PERF_EVM_EXIT")}
TYPES = {"COUNTER": 2, "VLT": 3, "type_77": 77, "ACCOUNT_ACCESS": 22, "BLOCK_END": 6, "BLOCK_FINALIZED": 8, "BLOCK_PERF_EVM_ENTER": 4,
         "BLOCK_PERF_EVM_EXIT": 5, "BLOCK_QC": 7, "BLOCK_REJECT": 3, "BLOCK_START": 2, "STORAGE_ACCESS": 23, "TXN_END": 20, "TXN_EVM_OUTPUT": 17,
         "TXN_HEADER_END": 13, "TXN_HEADER_START": 10, "TXN_LOG": 18, "TXN_PERF_EVM_ENTER": 15, "TXN_PERF_EVM_EXIT": 16, "TXN_REJECT": 14}


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def said(text, words):
    found = re.search(re.escape(words) + r": (\d+)", text)
    return int(found[1]) if found else 0


def name_of(name, is_known):
    if name == "RECORD_ERROR":
        return name
    if not is_known:
        return f"type {TYPES[name]}"
    return "reject" if name.endswith("_REJECT") else name


def events_found(records):
    """(time, name) of the instants, begins and ends of spans."""
    found = [(int(record["time_ns"]), record["name"]) for record in records if record["type"] == "instant" and not record["name"].startswith("lost event")]
    for record in records:
        if record["type"] == "span":
            begin, end = SPANS[record["label"]]
            found.append((int(record["begin_ns"]), begin))
            if not record["unfinished"]:
                found.append((int(record["end_ns"]), end))
    return sorted(found)


def compare_events(records, path, is_known):
    wanted, sizes = [], collections.Counter()
    for line in path.read_text(encoding="utf-8").splitlines():
        time, name = line.split()[1:3]
        size = int(re.search(r"size=(\d+)", line)[1])
        wanted.append((int(time), name_of(name, is_known)))
        if size:
            sizes[name_of(name, is_known)] += size
    bad = [] if events_found(records) == sorted(wanted) else ["the events are others"]
    found = collections.Counter()
    for record in records:
        if record["type"] == "attribute" and record["name"].endswith(" bytes"):
            found[record["name"][:-len(" bytes")]] += int(record["value"])
    return bad if found == sizes else bad + [f"sizes: {found}, not {sizes}"]


def compare_spans(records, wanted):
    bad = []
    for label, name in (("block", "block_evm"), ("transaction", "txn_evm")):
        spans = [record for record in records if record["type"] == "span" and record["label"] == label]
        closed = [record["wall_ns"] for record in spans if not record["unfinished"]]
        found = {"closed": len(closed), "ns_sum": sum(closed), "ns_max": max(closed, default=0), "left_open": len(spans) - len(closed)}
        bad += [f"{label}: {key}: {value}, not {wanted[name][key]}" for key, value in found.items() if value != wanted[name][key]]
        bad += [f"{label}: {record}" for record in spans if not record["work_ns"] == record["wall_ns"] == record["unknown_ns"]]
    return bad


def main(folder, sample):
    folder = pathlib.Path(folder)
    records = lines_of(folder / "exact")
    text = (folder / "said_of_import").read_text(encoding="utf-8")
    wanted = json.loads(pathlib.Path(sample + ".expected.json").read_text(encoding="utf-8"))
    is_known = wanted["schema_hash"] == EXECUTION and wanted["content_type"] == 2
    bad = []
    if os.path.exists(sample + ".events.txt"):
        bad += compare_events(records, pathlib.Path(sample + ".events.txt"), is_known)
    if is_known:
        bad += compare_spans(records, wanted["spans"])
    names = collections.Counter(name for _, name in events_found(records))
    by_type = collections.Counter()
    for name, count in wanted["by_type"].items():
        by_type[name_of(name, is_known)] += count
    if names != by_type:
        bad.append(f"types: {names}, not {by_type}")
    payloads = sum(int(record["value"]) for record in records if record["type"] == "attribute" and record["name"].endswith(" bytes"))
    lost = said(text, "holes, numbers that a writer took and did not finish") + said(text, "events behind the end")
    found = {"unreadable": lost, "expired_payloads": said(text, "payloads that were overwritten; their events are there"),
             "time_steps_back": said(text, "events whose time lies before that of the event in front of them, put into order")}
    if not wanted["expired_payloads"]:
        found["payload_bytes"] = payloads
    bad += [f"{key}: {value}, not {wanted[key]}" for key, value in found.items() if value != wanted[key]]
    losses = sum(record["span_event_cnt"] for record in records if record["type"] == "loss")
    errors = wanted["by_type"].get("RECORD_ERROR", 0)
    if losses != lost + wanted["expired_payloads"] + errors + wanted["first_possible_seqno"] - 1:
        bad.append(f"losses: {losses}")
    print("\n".join(bad))
    return bool(bad)


sys.exit(main(sys.argv[1], sys.argv[2]))
