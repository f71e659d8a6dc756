# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of pprof, Speedscope and CSV compare.

export_profile_check.py pprof FILE               each stack, its labels and its values, a line each, as this reader of the wire format has them; then comments
export_profile_check.py speedscope FILE          each stack of each profile and its weight; what the schema asks for is checked
export_profile_check.py folded FILE FOLDER       the values of either against FOLDER/PART.folded, what `txtrace flame --folded --weight PART` says
export_profile_check.py sums FILE REPORT         of a pprof, per label: what the stacks with it add up to, against `txtrace report --json`
export_profile_check.py csv FILE JSONL           every span of the log with all fields, and nothing else

export_profile_check.py make SEED                a log for make_log: transactions on their threads, so that a label's sums are those of the stacks with it

Prints what is wrong; exit status 1 if anything is.
"""
import csv
import gzip
import json
import random
import sys
from collections import Counter, defaultdict

TYPES = ["on_cpu", "runnable", "blocked", "detached", "unknown", "interrupt", "stolen", "spans"]
UNITS = {"none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"}
PARTS = {"on-cpu": "on_cpu", "runnable": "runnable", "blocked": "blocked", "detached": "detached"}
PROFILES = {"on-CPU": "on_cpu", "runnable": "runnable", "blocked": "blocked", "detached": "detached", "unknown": "unknown", "interrupts": "interrupt", "stolen": "stolen"}


# ---- a log ----

REASONS = ("lock", "disk", "network", "sleep", "page_fault", "pipe", "wait", "stopped", "other", "throttled", "poll")


def make_log(seed):
    rng, number, records = random.Random(int(seed)), 0, []

    def span(tid, depth, begin, parent):
        """A span with its children, one after the other; the account of all."""
        nonlocal number
        number += 1
        mine, at, account = number, begin, Counter()
        for _ in range(rng.randrange(4) if depth < 4 else 0):
            own(account, rng)
            at, inside = span(tid, depth + 1, begin + sum(account.values()), mine)
            account += inside
        own(account, rng)
        at = begin + sum(account.values())
        parts = " ".join(f"{name}_ns={ns}" for name, ns in account.items())
        records.append(f"span begin_ns={begin} end_ns={at} pid=1 tid={tid} end_tid={tid} id={mine} parent={parent} label=\"level{depth}.{rng.randrange(3)}\" "
                       f"work_ns={at - begin} {parts}")
        return at, account

    print('header pid=1 cpus=1 command="made" recorder="made" start_monotonic_ns=1000 start_realtime_ns=1700000000000001000')
    for tid in (11, 12):
        now = 1000
        for _ in range(200):
            now, _ = span(tid, 0, now + rng.randrange(100), 0)
    print("\n".join(records))
    print("summary time_ns=99999999")


def own(account, rng):
    for name in rng.sample(("on_cpu", "runnable", "interrupt", "unknown", *REASONS), 3):
        account[name] += 1 + rng.randrange(1000)


# ---- pprof, without its .proto: numbers of fields are those of the public format ----

def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value, at


def fields(data):
    found, at = defaultdict(list), 0
    while at < len(data):
        key, at = varint(data, at)
        assert key & 7 in (0, 2), f"a wire type {key & 7}"
        value, at = varint(data, at)
        if key & 7 == 2:
            assert at + value <= len(data), "a field beyond the end"
            value, at = data[at:at + value], at + value
        found[key >> 3].append(value)
    return found


def packed(data):
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


class Pprof:
    def __init__(self, path):
        with gzip.open(path) as file:
            top = fields(file.read())
        assert set(top) <= {1, 2, 4, 5, 6, 9, 10, 13, 14}, sorted(top)
        strings = [string.decode() for string in top[6]]
        assert strings[0] == "" and len(set(strings)) == len(strings)
        functions = {one[1][0]: strings[one[2][0]] for one in map(fields, top[5])}
        locations = {one[1][0]: functions[fields(one[4][0])[1][0]] for one in map(fields, top[4])}
        assert 0 not in functions and 0 not in locations and len(functions) == len(top[5])
        types = [(strings[one[1][0]], strings[one[2][0]]) for one in map(fields, top[1])]
        assert types == [(name, "count" if name == "spans" else "nanoseconds") for name in TYPES], types
        assert strings[top[14][0]] == "on_cpu"
        self.time, self.duration = top[9], top[10]
        self.comments = [strings[number] for one in top[13] for number in (packed(one) if isinstance(one, bytes) else [one])]
        self.samples = []
        for one in map(fields, top[2]):
            stack = [locations[number] for number in reversed(packed(one[1][0]))]
            labels = {strings[label[1][0]]: strings[label[2][0]] for label in map(fields, one[3])}
            values = packed(one[2][0])
            assert len(values) == len(TYPES) and stack
            self.samples.append((stack, labels, dict(zip(TYPES, values))))


# ---- Speedscope ----

def read_speedscope(path):
    with open(path, encoding="utf-8") as file:
        top = json.load(file)
    assert top["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert 0 <= top["activeProfileIndex"] < len(top["profiles"]) and isinstance(top["exporter"], str) and isinstance(top["name"], str)
    frames = [frame["name"] for frame in top["shared"]["frames"]]
    assert len(set(frames)) == len(frames) and all(isinstance(name, str) for name in frames)
    for profile in top["profiles"]:
        assert profile["type"] == "sampled" and profile["unit"] in UNITS and isinstance(profile["name"], str)
        assert len(profile["samples"]) == len(profile["weights"])
        assert profile["startValue"] == 0 and profile["endValue"] == sum(profile["weights"])
        yield profile["name"], [([frames[number] for number in sample], weight) for sample, weight in zip(profile["samples"], profile["weights"])]


# ---- commands ----

def show_pprof(path):
    profile = Pprof(path)
    for stack, labels, values in profile.samples:
        print(";".join(stack), " ".join(f"{key}={value}" for key, value in {**labels, **values}.items() if value))
    print("time", *profile.time, "duration", *profile.duration)
    for comment in profile.comments:
        print("comment", comment)


def show_speedscope(path):
    for name, samples in read_speedscope(path):
        for stack, weight in samples:
            print(name, ";".join(stack), weight)


def by_part(path):
    """{part: {stack: ns}}, without the frames of reasons."""
    sums = defaultdict(Counter)
    if path.endswith(".pb.gz"):
        for stack, _, values in Pprof(path).samples:
            for name, value in values.items():
                sums[name][tuple(frame for frame in stack if not frame.startswith("[blocked: "))] += value
    else:
        for name, samples in read_speedscope(path):
            for stack, weight in samples:
                sums[PROFILES.get(name, "all")][tuple(frame for frame in stack if not frame.startswith("[blocked: "))] += weight
    return sums


def check_folded(path, folder):
    sums, total = by_part(path), 0
    for part, name in PARTS.items():
        with open(f"{folder}/{part}.folded", encoding="utf-8") as file:
            wanted = {tuple(line.rsplit(" ", 1)[0].replace("\\x3b", ";").split(";")) if "\\x3b" not in line else line: int(line.rsplit(" ", 1)[1])
                      for line in file.read().splitlines()}
        got = {stack: value for stack, value in sums[name].items() if value}
        assert got == wanted, f"{part}: {got}, not {wanted}"
        total += sum(got.values())
    print(f"{total} ns")
    assert total > 0


def check_sums(path, report):
    with open(report, encoding="utf-8") as file:
        rows = json.load(file)["labels"]
    samples, seen = Pprof(path).samples, 0
    for row in rows:
        under = [(labels, values) for stack, labels, values in samples if row["label"] in stack]
        got = {name: sum(values[name] for _, values in under) for name in TYPES[:5]}
        wanted = {name: row["sum"][name + "_ns"] for name in TYPES[:5]}
        assert got == wanted, f"{row['label']}: {got}, not {wanted}"
        for reason, ns in row["sum"]["blocked"].items():
            there = sum(values["blocked"] for labels, values in under if labels.get("reason") == reason)
            assert there == ns, f"{row['label']}, {reason}: {there}, not {ns}"
        own = sum(values["spans"] for labels, values in under if labels["span_label"] == row["label"])
        assert own == row["count"], f"{row['label']}: {own} spans, not {row['count']}"
        seen += 1
    print(f"{seen} labels")
    assert seen > 2


def visible(text):
    return "".join(chr(0x2400 + (0x21 if c == "\x7f" else ord(c))) if c < " " or c == "\x7f" else c for c in text)


def check_csv(path, jsonl):
    with open(path, "rb") as file:
        data = file.read()
    assert data.count(b"\n") == data.count(b"\r\n") and data.endswith(b"\r\n")
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, strict=True))
    with open(jsonl, encoding="utf-8") as file:
        spans = [line for line in map(json.loads, file) if line["type"] == "span"]
    assert len(rows) == len(spans) > 0, f"{len(rows)} lines, {len(spans)} spans"
    for row, span in zip(rows, spans):
        wanted = {name: str(int(span.get(name, 0))) for name in row if name not in ("label", "tag", "key") and name[:-3] not in span["blocked"]}
        wanted |= {f"{reason}_ns": str(ns) for reason, ns in span["blocked"].items()}
        wanted |= {name: visible(span[name]) for name in ("label", "tag")} | {"key": visible(bytes.fromhex(span.get("key", "")).decode(errors="replace"))}
        assert row == wanted, f"{row}, not {wanted}"
    print(f"{len(rows)} spans")


if __name__ == "__main__":
    {"pprof": show_pprof, "speedscope": show_speedscope, "folded": check_folded, "sums": check_sums, "csv": check_csv,
     "make": make_log}[sys.argv[1]](*sys.argv[2:])
