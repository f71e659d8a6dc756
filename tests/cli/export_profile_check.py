# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of pprof, Speedscope and CSV compare.

export_profile_check.py pprof FILE               each stack, its labels and its values, a line each, as this reader of the wire format has them; then comments
export_profile_check.py speedscope FILE          each stack of each profile and its weight; what the schema asks for is checked
export_profile_check.py threads FILE JSONL       of a Speedscope file: the spans of each thread's profile against those of the log that nest there
export_profile_check.py firefox FILE JSONL       of a profile of Firefox Profiler: its tables fit together, its markers and samples are the log's spans and states
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
    for profile in top["profiles"][: 1 + len(PROFILES)]:
        assert profile["type"] == "sampled" and profile["unit"] in UNITS and isinstance(profile["name"], str)
        assert len(profile["samples"]) == len(profile["weights"])
        assert profile["startValue"] == 0 and profile["endValue"] == sum(profile["weights"])
        yield profile["name"], [([frames[number] for number in sample], weight) for sample, weight in zip(profile["samples"], profile["weights"])]


def read_evented(path):
    """{thread: [(label, begin, end), ...]} of the profiles of threads, which are read as a stack."""
    with open(path, encoding="utf-8") as file:
        top = json.load(file)
    frames, threads = [frame["name"] for frame in top["shared"]["frames"]], {}
    for profile in top["profiles"][1 + len(PROFILES) :]:
        assert profile["type"] == "evented" and profile["unit"] == "nanoseconds" and profile["name"] not in threads
        stack, now, found = [], profile["startValue"], []
        for event in profile["events"]:
            assert event["at"] >= now, "an event before the one before"
            now = event["at"]
            if event["type"] == "O":
                stack.append((event["frame"], now))
            else:
                frame, begin = stack.pop()
                assert event["type"] == "C" and event["frame"] == frame, "an end that is not the innermost's"
                found.append((frames[frame], begin, now))
        assert not stack and profile["endValue"] >= now
        threads[profile["name"]] = found
    return threads


# ---- commands ----

def check_evented(path, jsonl):
    """Of spans that cross, the one that begins later is not there."""
    with open(jsonl, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    comms = {record["tid"]: record["comm"] for record in records if record["type"] == "thread" and record["comm"]}
    spans = [span for span in records if span["type"] == "span" and not span["moved"] and not span["detached_ns"]
             and span["end_tid"] in (0, span["tid"])]
    base, wanted = min(span["begin_ns"] for span in spans), {}
    for span in sorted(spans, key=lambda span: (span["begin_ns"], -span["end_ns"])):
        thread = f"{comms.get(span['tid'], '')} {span['tid']}".strip()
        there = wanted.setdefault(thread, [])
        if all(span["begin_ns"] - base >= end or span["end_ns"] - base <= end for _, _, end in there):
            there.append((span["label"], span["begin_ns"] - base, span["end_ns"] - base))
    got = read_evented(path)
    assert {name: Counter(there) for name, there in got.items()} == {name: Counter(there) for name, there in wanted.items()}, (got, wanted)
    print(f"{sum(map(len, got.values()))} spans of {len(got)} threads")
    assert got



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


# ---- Firefox Profiler: the types of its src/types/profile.ts, version 60 ----

def ns(ms):
    return round(ms * 1e6)


def check_table(table, columns, what):
    assert set(table) == {*columns, "length"}, f"{what}: {sorted(table)}"
    for name in columns:
        assert len(table[name]) == table["length"], f"{what}.{name}: {len(table[name])} of {table['length']}"


def read_firefox(path):
    with open(path, encoding="utf-8") as file:
        top = json.load(file)
    shared, categories = top["shared"], top["meta"]["categories"]
    assert top["meta"]["preprocessedProfileVersion"] == 60 and any(one["color"] == "grey" and one["subcategories"][0] == "Other" for one in categories)
    check_table(shared["stackTable"], ("prefix", "frame"), "stackTable")
    check_table(shared["frameTable"], ("address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol", "innerWindowID", "line", "column"), "frameTable")
    check_table(shared["funcTable"], ("name", "isJS", "relevantForJS", "resource", "source", "lineNumber", "columnNumber"), "funcTable")
    strings, stacks = shared["stringArray"], []
    for prefix, frame in zip(shared["stackTable"]["prefix"], shared["stackTable"]["frame"]):
        assert prefix is None or prefix < len(stacks), "a stack before its prefix"
        name = strings[shared["funcTable"]["name"][shared["frameTable"]["func"][frame]]]
        stacks.append((*(() if prefix is None else stacks[prefix]), name))
    types = {schema["name"]: {field["key"] for field in schema["fields"]} for schema in top["meta"]["markerSchema"]}
    for thread in top["threads"]:
        assert isinstance(thread["pid"], str) and isinstance(thread["tid"], int) and isinstance(thread["name"], str)
        check_table(thread["markers"], ("name", "startTime", "endTime", "phase", "category", "data"), "markers")
        samples = dict(thread["samples"])
        assert samples.pop("weightType") == "tracing-ms"
        check_table(samples, ("stack", "time", "weight"), "samples")
        for data, phase, end in zip(*(thread["markers"][name] for name in ("data", "phase", "endTime"))):
            assert set(data) - {"type"} <= types[data["type"]] and phase == (0 if end is None else 1)
        assert all(category < len(categories) for category in thread["markers"]["category"])
    return top, strings, stacks


def nested(spans):
    """How many ns each stack of the spans that nest on a thread has for itself: of those that cross, the one that begins later is not there."""
    sums, stack, now = Counter(), [], None

    def go_to(time):
        nonlocal now
        if stack and time > now:
            sums[tuple(name for name, _ in stack)] += time - now
        now = time
    for span in sorted(spans, key=lambda span: (span["begin_ns"], -span["end_ns"])):
        while stack and stack[-1][1] <= span["begin_ns"]:
            go_to(stack[-1][1])
            stack.pop()
        if stack and stack[-1][1] < span["end_ns"]:
            continue
        go_to(span["begin_ns"])
        stack.append((span["label"], span["end_ns"]))
    while stack:
        go_to(stack[-1][1])
        stack.pop()
    return sums


def check_firefox(path, jsonl):
    top, strings, stacks = read_firefox(path)
    with open(jsonl, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    spans = [record for record in records if record["type"] == "span"]
    runs = [record for record in records if record["type"] == "run"]
    losses = [record for record in records if record["type"] in ("loss", "dropped")]
    got, base, states, missing = Counter(), None, Counter(), 0
    for thread in top["threads"]:
        for name, begin, end, data in zip(*(thread["markers"][column] for column in ("name", "startTime", "endTime", "data"))):
            if data["type"] == "Span":
                got[thread["tid"], strings[name], data["id"], ns(begin), ns(end), ns(data["onCpu"]), ns(data["runnable"]), ns(data["blocked"]),
                    ns(data["detached"]), ns(data["unknown"]), data.get("tag", ""), "account" in data] += 1
            elif data["type"] == "State":
                states[thread["tid"], strings[name].split(":")[0]] += ns(end) - ns(begin)
            missing += data["type"] == "Loss"
    header = next(record for record in records if record["type"] == "header")
    base = header["start_monotonic_ns"] + ns(top["meta"]["startTime"]) - header["start_realtime_ns"] if header["start_realtime_ns"] else None
    first = min(record[name] for record, name in [(span, "begin_ns") for span in spans] +
                [(run, "begin_ns") for run in runs] + [(loss, "first_ns") for loss in losses])
    first = min([first] + [run["begin_ns"] - run["runnable_ns"] - run["blocked_ns"] for run in runs])
    assert base is None or abs(base - first) < 1000, (base, first)  # startTime is a double
    wanted = Counter((span["tid"], span["label"], span["id"], span["begin_ns"] - first, span["end_ns"] - first, span["on_cpu_ns"], span["runnable_ns"],
                      span["blocked_ns"], span["detached_ns"], span["unknown_ns"], span["tag"], span["lower_bound"]) for span in spans)
    assert got == wanted, (wanted - got, got - wanted)
    in_log = Counter()
    for run in runs:
        for name, value in (("running", run["end_ns"] - run["begin_ns"]), ("runnable", run["runnable_ns"]), ("blocked", run["blocked_ns"])):
            in_log[run["tid"], name] += value
    assert +states == +in_log, (states, in_log)
    assert missing == len(losses)
    for thread in top["threads"]:
        mine = [span for span in spans if span["tid"] == thread["tid"] and not span["moved"] and not span["detached_ns"] and span["end_tid"] in (0, span["tid"])]
        sums, now = Counter(), 0
        for stack, time, weight in zip(*(thread["samples"][name] for name in ("stack", "time", "weight"))):
            assert ns(time) == now, "samples with a gap"
            now += ns(weight)
            sums[() if stack is None else stacks[stack]] += ns(weight)
        del sums[()]
        assert sums == nested(mine), (thread["name"], sums, nested(mine))
    print(f"{sum(got.values())} spans, {len(top['threads'])} threads, {len(stacks)} stacks")


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
    {"pprof": show_pprof, "speedscope": show_speedscope, "threads": check_evented, "firefox": check_firefox, "folded": check_folded, "sums": check_sums, "csv": check_csv,
     "make": make_log}[sys.argv[1]](*sys.argv[2:])
