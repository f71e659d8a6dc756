# SPDX-License-Identifier: BSD-2-Clause
"""export_ctf_check.py JSONL TEXT SAID

What babeltrace2 --clock-cycles has read from a CTF export, TEXT, and what it said with --clock-seconds of discarded events, SAID, against what the log holds, JSONL. Every event
is compared with all of its fields. Prints what differs; exit status 1 if anything does.
"""
import json
import math
import re
import sys
from collections import Counter

CPU_MAX = 1024
REASONS = ("lock", "disk", "network", "sleep", "page_fault", "pipe", "wait", "stopped", "other", "throttled", "poll")
STATES = {"preempted": 0, "yielded": 0, "blocked": 1, "dead": 64, "unknown": 1024}
NOBODY = {"comm": "(untraced)", "tid": 0, "prio": 0, "state": 0}
TOKEN = re.compile(r'(?:(\w+) = )(?:"((?:[^"\\]|\\.)*)"|([^,}\s]+))')


def visible(text):
    shown = "".join(chr(0x2400 + (0x21 if c == "\x7f" else ord(c))) if c < " " or c == "\x7f" else c for c in text)
    return shown or "-"


def comm_of(name):
    data = visible(name).encode()
    end = min(len(data), 15)
    while len(data) > 15 and end > 0 and data[end] & 0xc0 == 0x80:
        end -= 1
    return data[:end].decode()


# ---- what the reader says ----

def value_of(text):
    if text.startswith("0x"):
        return int(text, 16)
    try:
        return int(text)
    except ValueError:
        return float(f"{float(text):.6g}") if not math.isnan(float(text)) else "nan"


def read_events(path):
    events = []
    with open(path, encoding="utf-8") as file:
        for line in file.read().split("\n"):
            if not line:
                continue
            time, name, rest = re.match(r"\[(\d+)\] \([^)]*\) (?:\S+)? ?([a-z_]+(?::[a-z_]+)?): (.*)$", line).groups()
            fields = {key: value_of(number) if number else re.sub(r"\\(.)", r"\1", quoted) for key, quoted, number in TOKEN.findall(rest)}
            events.append((int(time), name, fields))
    return events


# ---- what it has to say ----

class Expected:
    def __init__(self, records):
        self.events, self.names, self.switches, self.losses = [], {}, {}, Counter()
        for record in records:
            make = getattr(self, "of_" + record["type"], None)
            if make:
                make(record)
        for cpu, steps in self.switches.items():
            self.add_switches(cpu, steps)
        last = max([time for time, _, _ in self.events], default=0)
        self.add(last, "end", 0, 0, complete=int(records[-1]["complete"]))

    def add(self, time, name, pid, tid, /, **fields):
        context = {"vpid": pid, "vtid": tid, "procname": visible(self.names.get((pid, tid), ""))}
        self.events.append((time, "txtrace:" + name, {**context, **fields}))

    def of_thread(self, r):
        self.names[r["pid"], r["tid"]] = r["comm"]
        self.add(r["time_ns"], "thread", r["pid"], r["tid"], comm=visible(r["comm"]), seed=int(r["seed"]), exit=int(r["exit"]))

    def of_process(self, r):
        self.add(r["time_ns"], "process", r["pid"], r["pid"], parent_pid=r["parent_pid"], inner_pid=r["inner_pid"], start_ns=r["start_ns"], seed=int(r["seed"]),
                 exit=int(r["exit"]), comm=visible(r["comm"]), exe=visible(r["exe"]), command=visible(r["command"]))

    def of_span(self, r):
        key = bytes.fromhex(r.get("key", "")).decode(errors="replace")
        self.add(r["begin_ns"], "span_begin", r["pid"], r["tid"], span=int(r["id"]), parent=int(r["parent"]), label=visible(r["label"]), key=visible(key))
        self.add(r["end_ns"], "span_end", r["pid"], r["end_tid"] or r["tid"], span=int(r["id"]), label=visible(r["label"]), tag=visible(r["tag"]),
                 **{name: int(r[name]) for name in ("lower_bound", "unfinished", "loss", "moved")}, begin_ns=r["begin_ns"], work_ns=r["work_ns"],
                 **{f"{reason}_ns": r["blocked"].get(reason, 0) for reason in REASONS},
                 **{name: r.get(name, 0) for name in ("on_cpu_ns", "runnable_ns", "detached_ns", "unknown_ns", "interrupt_ns", "stolen_ns")})

    def of_open_span(self, r):
        key = bytes.fromhex(r.get("key", "")).decode(errors="replace")
        self.add(r["time_ns"], "open_span", r["pid"], r["tid"], span=int(r["id"]), parent=int(r["parent"]), label=visible(r["label"]), key=visible(key),
                 begin_ns=r["begin_ns"])

    def of_stay(self, r):
        for time, name in ((r["enter_ns"], "enter"), (r["exit_ns"], "exit")):
            self.add(time, name, r["pid"], r["tid"], span=int(r["span"]), span_pid=r["span_pid"])

    def of_attribute(self, r):
        kind, value, more = r["value_type"], r["value"], {}
        if kind == "string":
            value, more = visible(value), {"truncated": int(r["truncated"])}
        elif kind == "pointer":
            value = int(value, 16)
        elif kind == "double":
            value = "nan" if value == "NaN" else float(f"{float(value):.6g}")
        self.add(r["time_ns"], "attribute_" + kind, r["pid"], r["tid"], span=int(r["span"]), name=visible(r["name"]),
                 value=int(value) if kind == "bool" else value, **more)

    def of_instant(self, r):
        self.add(r["time_ns"], "instant", r["pid"], r["tid"], span=int(r["span"]), name=visible(r["name"]))

    def of_counter(self, r):
        self.add(r["time_ns"], "counter", r["pid"], r["tid"], name=visible(r["name"]), value=r["value"])

    def of_link(self, r):
        self.add(r["time_ns"], "link", r["pid"], r["tid"], **{"from": int(r["from"])}, to=int(r["to"]), name=visible(r["name"]))

    def of_object(self, r):
        self.add(r["time_ns"], "object", r["pid"], r["tid"], reason=r["reason"], object=int(r["object"], 16), name=visible(r["name"]))

    def of_run(self, r):
        comm = comm_of(self.names.get((r["pid"], r["tid"]), ""))
        task = {"comm": comm, "tid": r["tid"], "prio": -1, "state": {"disk": 2, "stopped": 4}.get(r.get("reason"), STATES[r["left_as"]])}
        if r["cpu"] < CPU_MAX:
            steps = self.switches.setdefault(r["cpu"], [])
            steps.append((r["begin_ns"], len(steps), "in", task))
            steps.append((r["end_ns"], len(steps), "out", task))
        self.add(r["end_ns"], "run", r["pid"], r["tid"], cpu=r["cpu"] if r["cpu"] < CPU_MAX else -1, begin_ns=r["begin_ns"], blocked_ns=r["blocked_ns"],
                 runnable_ns=r["runnable_ns"], idle_ns=r.get("idle_ns", 0), stolen_ns=r.get("stolen_ns", 0), idle_stolen_ns=r.get("idle_stolen_ns", 0),
                 left_as=r["left_as"], reason=r.get("reason", "-"),
                 syscall_nr=r.get("syscall_nr", -1), object=int(r.get("object", "0x0"), 16), wait_reason=r.get("wait_reason", "-"),
                 wait_object=int(r.get("wait_object", "0x0"), 16))

    # Who leaves at the moment at which the next one comes is switched with it.
    def add_switches(self, cpu, steps):
        left = None
        for time, _, kind, task in sorted(steps, key=lambda step: step[:2]) + [(None, 0, "out", None)]:
            if kind == "in" and left and left[0] == time:
                self.switch(cpu, time, left[1], task)
                left = None
                continue
            if left:
                self.switch(cpu, *left, NOBODY)
            left = (time, task) if kind == "out" else None
            if kind == "in":
                self.switch(cpu, time, NOBODY, task)

    def switch(self, cpu, time, prev, after):
        fields = {f"prev_{name}": prev[name] for name in ("comm", "tid", "prio", "state")} | {f"next_{name}": after[name] for name in ("comm", "tid", "prio")}
        self.events.append((time, "sched_switch", {"cpu_id": cpu, **fields}))

    def of_wake(self, r):
        flags = sum(bit for bit, name in ((1, "interrupt"), (2, "waker_unknown"), (4, "span_keyed"), (8, "waker_span_keyed"), (16, "timer"), (32, "softirq"))
                    if r.get(name))
        fields = {"comm": comm_of(self.names.get((r["pid"], r["tid"]), "")), "tid": r["tid"], "prio": -1, "target_cpu": -1, "pid": r["pid"],
                  "waker_pid": r["waker_pid"], "waker_tid": r["waker_tid"], "waker_comm": visible(r["waker_comm"]), "flags": flags,
                  "span": int(r.get("span", 0)), "waker_span": int(r.get("waker_span", 0))}
        if r["cpu"] < CPU_MAX:
            self.events.append((r["time_ns"], "sched_waking", {"cpu_id": r["cpu"], **fields}))
        else:
            self.add(r["time_ns"], "wake", r["waker_pid"], r["waker_tid"], **fields)

    def of_loss(self, r):
        has_cpu = r["cpu"] < CPU_MAX
        self.add(r["last_ns"], "loss", r.get("pid", 0), r.get("tid", 0), first_ns=r["first_ns"], last_ns=r["last_ns"], cpu=r["cpu"] if has_cpu else -1, span_event_cnt=r["span_event_cnt"],
                 sched_event_cnt=r["sched_event_cnt"])
        self.lose("spans", r["span_event_cnt"] + (0 if has_cpu else r["sched_event_cnt"]), r["first_ns"], r["last_ns"])
        if has_cpu:
            self.lose(f"cpu_{r['cpu']}", r["sched_event_cnt"], r["first_ns"], r["last_ns"])

    def of_dropped(self, r):
        count = sum(r["records"].values())
        self.add(r["time_ns"], "dropped", 0, 0, first_ns=r["first_ns"], last_ns=r["last_ns"], batch_cnt=r["batch_cnt"], record_cnt=count)
        self.lose("spans", count, r["first_ns"], r["last_ns"])

    def lose(self, stream, count, first, last):
        if count:
            self.losses[stream, count, first, last] += 1


def read_losses(path, offset):
    with open(path, encoding="utf-8") as file:
        found = re.findall(r"discarded (\d+) events? between \[([\d.]+)\] and \[([\d.]+)\].*?/(\w+)\"", file.read())
    return Counter((stream, int(count), *(int(time.replace(".", "")) - offset for time in (first, last))) for count, first, last, stream in found)


def main(jsonl, text, said):
    with open(jsonl, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    expected = Expected(records)
    events, problems = read_events(text), []
    if not events or any(a[0] > b[0] for a, b in zip(events, events[1:])):
        problems.append("there are no events, or their times go back")
    wanted, got = (Counter((time, name, tuple(sorted(fields.items(), key=str))) for time, name, fields in list_) for list_ in (expected.events, events))
    problems += [f"missing: {event}" for event in wanted - got] + [f"not in the log: {event}" for event in got - wanted]
    losses = read_losses(said, records[0]["start_realtime_ns"] - records[0]["start_monotonic_ns"])
    if losses != expected.losses:
        problems.append(f"discarded: {losses}, not {expected.losses}")
    print("\n".join(problems[:20]))
    print(f"{len(events)} events, {len({name for _, name, _ in events})} kinds, {sum(losses.values())} losses")
    return 1 if problems else 0


sys.exit(main(*sys.argv[1:]))
