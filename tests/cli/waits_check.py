# SPDX-License-Identifier: BSD-2-Clause
"""What txtrace says about waits, against a second computation of the same from `txtrace export -f jsonl`.

waits_check.py random SEED                   a log for make_log: threads of two processes that block, wake each other, and work for spans
waits_check.py blame JSONL BLAME.json        txtrace blame --json
waits_check.py blocked JSONL BLOCKED.json    txtrace blocked --json -n 0

Prints what is wrong; exit status 1 if anything is. docs/attribution.md, "Waits", has the definitions.
"""
import json
import random
import sys
from collections import defaultdict

REASONS = ["lock", "disk", "network", "sleep", "page_fault", "pipe", "wait", "stopped", "other", "poll"]
CALLS = {"lock": [(202, 0x1000), (202, 0x2000), (455, 0x1000), (73, 9)], "disk": [(74, 3), (257, 0)], "network": [(45, 7), (0, 7), (7, 0)],
         "sleep": [(230, 5000000), (35, 5040000), (230, 0)], "page_fault": [(-1, 0)], "pipe": [(0, 5)], "wait": [(61, 0)], "stopped": [(0, 0)],
         "other": [(318, 0), (-2, 0), (500, 0)], "poll": [(232, 4), (7, 0), (7, (3 << 32) + 6), (426, 8)]}
POLL_CALLS = (7, 232, 426)
NAMES = {202: "futex", 7: "poll", 257: "openat", 61: "wait4", 318: "getrandom", 230: "clock_nanosleep", 232: "epoll_wait", 426: "io_uring_enter"}


# ---- random ----

class World:
    """A thread is running, blocked or runnable, and in a stack of spans; records are written when they are finished."""

    def __init__(self, seed):
        self.rng = random.Random(int(seed))
        self.now = 1000
        self.threads = [{"pid": pid, "tid": tid, "state": "running", "since": 1000, "blocked": 0, "runnable": 0, "spans": [], "entered": {}, "comm": f"t{tid}"}
                        for pid, tid in ((10, 10), (10, 11), (10, 12), (20, 20), (20, 21))]
        self.open = {}
        self.keyed_cnt = 0

    def put(self, text):
        print(text)

    def begin(self, thread):
        is_keyed = self.rng.random() < 0.2
        if is_keyed:
            self.keyed_cnt += 1
            key = ("keyed", self.keyed_cnt)
        else:  # the ids of ended spans are used again
            key = (thread["pid"], next(i for i in range(1, 9999) if (thread["pid"], i) not in self.open))
        self.open[key] = {"pid": thread["pid"], "tid": thread["tid"], "begin": self.now, "label": self.rng.choice(["a", "b", "c", "d", "\\e[31m", ""])}
        self.enter(thread, key)
        if self.rng.random() < 0.1:
            self.checkpoint(key)

    def enter(self, thread, key):
        thread["spans"].append(key)
        thread["entered"][key] = self.now

    def checkpoint(self, key):
        span = self.open[key]
        self.put(f'open_span time_ns={self.now} pid={span["pid"]} tid={span["tid"]} id={key[1]} begin_ns={span["begin"]} label="{span["label"]}"'
                 + (' key="k"' if key[0] == "keyed" else ""))

    def end(self, key, by):
        span = self.open.pop(key)
        for thread in self.threads:
            if key in thread["spans"]:
                thread["spans"].remove(key)
                self.put(f'stay enter_ns={thread["entered"][key]} exit_ns={self.now} pid={thread["pid"]} tid={thread["tid"]} span={key[1]}'
                         f' span_pid={span["pid"]} keyed={int(key[0] == "keyed")}')
        wall = self.now - span["begin"]
        self.put(f'span begin_ns={span["begin"]} end_ns={self.now} pid={span["pid"]} tid={span["tid"]} end_tid={by} id={key[1]} label="{span["label"]}"'
                 f' work_ns={wall} unknown_ns={wall}' + (' key="k" flags=keyed' if key[0] == "keyed" else ""))

    def leave(self, thread, how):
        text = (f'run begin_ns={thread["since"]} end_ns={self.now} pid={thread["pid"]} tid={thread["tid"]} blocked_ns={thread["blocked"]}'
                f' runnable_ns={thread["runnable"]} left_as={how}')
        left_for = self.rng.choice(REASONS)
        if how == "blocked":
            reason = left_for
            nr, value = self.rng.choice(CALLS[reason])
            text += f" reason={reason} syscall_nr={nr} object={value}"
        if thread["blocked"] and thread.get("polls"):  # what ended it told what it was for
            reason, value = self.rng.choice([("network", 7), ("pipe", (1 << 32) + 5), ("sleep", 0), ("sleep", 9), ("poll", 4)])
            text += f" wait_reason={reason} wait_object={value}"
        thread["polls"] = how == "blocked" and left_for == "poll"
        if self.rng.random() < 0.97:  # a stay may be missing: then the reason of the block is
            self.put(text)
        thread.update(state="blocked" if how == "blocked" else "runnable", since=self.now, blocked=0, runnable=0)

    def wake(self, thread):
        others = [other for other in self.threads if other["state"] == "running"]
        kind = self.rng.random()
        fields = ""
        flags = []
        top = thread["spans"][-1] if thread["spans"] else None
        if top:
            fields += f" span={top[1]}"
            flags += ["span_keyed"] * (top[0] == "keyed")
        if kind < 0.3 or not others:
            flags += ["interrupt", *self.rng.choice([[], ["timer"], ["softirq"]])]
        else:
            waker = self.rng.choice(others)
            fields += f' waker_pid={waker["pid"]} waker_tid={waker["tid"]} waker_comm="{waker["comm"]}"'
            top = waker["spans"][-1] if waker["spans"] and kind > 0.4 else None
            if kind < 0.4:
                flags.append("waker_unknown")
            if top:
                fields += f" waker_span={top[1]}"
                flags += ["waker_span_keyed"] * (top[0] == "keyed")
        if self.rng.random() < 0.95:  # a wakeup may be missing
            self.put(f'wake time_ns={self.now} pid={thread["pid"]} tid={thread["tid"]}{fields}' + (f' flags={",".join(flags)}' if flags else ""))
        thread.update(state="runnable", blocked=self.now - thread["since"], since=self.now)

    def step(self):
        self.now += self.rng.randrange(1, 60)
        thread = self.rng.choice(self.threads)
        choice = self.rng.random()
        if thread["state"] == "blocked":
            if choice < 0.1 and thread["spans"]:  # somebody else ends the span that it is in
                self.end(thread["spans"][-1], 10)
            else:
                self.wake(thread)
        elif thread["state"] == "runnable":
            if choice < 0.1:  # a wakeup that ends nothing
                self.put(f'wake time_ns={self.now} pid={thread["pid"]} tid={thread["tid"]} flags=interrupt')
                return
            thread.update(state="running", runnable=self.now - thread["since"], since=self.now)
        elif choice < 0.3:
            self.begin(thread)
        elif choice < 0.65 and thread["spans"]:
            self.end(thread["spans"][-1], thread["tid"])
        elif choice < 0.7 and self.open:  # works for a span of somebody else
            key = self.rng.choice([key for key in self.open if key[0] in ("keyed", thread["pid"])] or [None])
            if key and key not in thread["spans"]:
                self.enter(thread, key)
        else:
            self.leave(thread, self.rng.choice(["blocked", "blocked", "preempted"]))


def random_log(seed):
    world = World(seed)
    print('header pid=10 cpus=2 command="random" kernel="6.18.5 x86_64" start_monotonic_ns=900')
    for _ in range(4000):
        world.step()
    print(f"summary time_ns={world.now}")


# ---- the second computation: all records at hand, looked up by where they stand ----

class Log:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.lines = [json.loads(line) for line in file]
        self.ends, self.checkpoints = defaultdict(list), defaultdict(list)
        for at, line in enumerate(self.lines):
            if line["type"] == "span":
                self.ends[("keyed" if line["keyed"] else line["pid"], line["id"])].append((at, line["label"]))
            elif line["type"] == "open_span":
                self.checkpoints[("keyed" if "key" in line else line["pid"], line["id"])].append((at, line["label"]))

    def label(self, at, scope, span):
        """Of the span that has this id at this place: what its own record says, or else its checkpoint; else None."""
        for end, label in self.ends[scope, span]:
            if end > at:
                return label or None
        last_end = max([end for end, _ in self.ends[scope, span]], default=-1)
        for place, label in self.checkpoints[scope, span]:
            if place > last_end and label:
                return label
        return None

    def span_after(self, at, scope, span):
        return next((self.lines[end] for end, _ in self.ends[scope, span] if end > at), None)

    def parties(self, at):
        wake = self.lines[at]
        waiter = waker = ("no_span", None)
        if wake["span"] != "0":
            waiter = ("span", self.label(at, "keyed" if wake["span_keyed"] else wake["pid"], wake["span"]))
        if wake["waker_unknown"]:
            waker = ("unknown", None)
        elif wake["interrupt"]:
            waker = ("timer" if wake["timer"] else "softirq" if wake["softirq"] else "interrupt", None)
        elif wake["waker_span"] != "0":
            waker = ("span", self.label(at, "keyed" if wake["waker_span_keyed"] else wake["waker_pid"], wake["waker_span"]))
        elif wake["waker_tid"] or wake["waker_comm"]:
            waker = ("thread", wake["waker_comm"] or None)
        else:
            waker = ("unknown", None)
        return waiter, waker

    def waits(self):
        """(ns, the record of the stay before or None, the place of the wakeup or None, pid)"""
        before, wakes = {}, defaultdict(list)
        for at, line in enumerate(self.lines):
            if line["type"] not in ("wake", "run"):
                continue
            thread = (line["pid"], line["tid"])
            if line["type"] == "wake":
                wakes[thread].append(at)
                continue
            if line["blocked_ns"]:
                end = line["begin_ns"] - line["runnable_ns"]
                last = before.get(thread)
                # Where stays are missing there may be several: the first one after the stay before, and the last one, are looked at.
                first = [place for place in wakes[thread] if not last or self.lines[place]["time_ns"] > last["end_ns"]][:1]
                found = [place for place in first + wakes[thread][-1:] if self.lines[place]["time_ns"] == end]
                is_told = last and last["left_as"] == "blocked" and last["end_ns"] == end - line["blocked_ns"]
                if "wait_reason" in line and last:
                    last = dict(last, reason=line["wait_reason"], object=line["wait_object"])
                yield line["blocked_ns"], last if is_told else None, found[0] if found else None, line["pid"]
            before[thread] = line
            wakes[thread] = []


def object_of(run):
    """(kind, value) as `txtrace blocked` names it."""
    if run is None or run["syscall_nr"] == -2:
        return ("unknown", None)
    number, value = run["syscall_nr"], int(run["object"], 16)
    if run["reason"] == "stopped":
        return ("none", None)
    if number == -1:
        return ("memory", None)
    if number in (202, 455):
        return ("futex", hex(value))
    if number in (73, 74, 45, 0, *POLL_CALLS) and (value or (number != 7 and run["reason"] != "sleep")):
        return ("fd", value & 0xFFFFFFFF)
    if number in (35, 230) and value:
        return ("sleep", int(str(value)[:2]) * 10 ** (len(str(value)) - 2))
    return ("syscall", number)


def expected_sums(log, key_of):
    sums = defaultdict(lambda: [0, 0, 0])
    totals = defaultdict(lambda: [0, 0])
    for ns, run, wake, pid in log.waits():
        waiter, waker = log.parties(wake) if wake is not None else (("unseen", None), ("unseen", None))
        place = {"unseen": "unseen", "no_span": "in_no_span"}.get(waiter[0], "in_spans")
        for name in ("all", place):
            totals[name][0] += 1
            totals[name][1] += ns
        for key in key_of(run, waiter, waker, pid):
            sums[key][0] += 1
            sums[key][1] += ns
            sums[key][2] = max(sums[key][2], ns)
    return sums, totals


problems = []


def same(what, got, wanted):
    for key in sorted(set(got) | set(wanted), key=str):
        if got.get(key) != wanted.get(key):
            problems.append(f"{what} {key}: txtrace says {got.get(key)}, it is {wanted.get(key)}")


def party(said):
    return (said["kind"], said["name"])


def check_totals(said, totals):
    same("totals", {name: [part["count"], part["ns"]] for name, part in said["waits"].items() if part["count"]}, dict(totals))


def check_blame(log, said):
    def key_of(run, waiter, waker, _):
        return [(waiter, waker)] if waiter[0] == "span" else []

    sums, totals = expected_sums(log, key_of)
    same("pair", {(party(pair["waiter"]), party(pair["waker"])): [pair["count"], pair["ns"], pair["max_ns"]] for pair in said["pairs"]}, dict(sums))
    check_totals(said, totals)
    in_pairs = sum(pair["ns"] for pair in said["pairs"])
    if in_pairs != said["waits"]["in_spans"]["ns"]:
        problems.append(f"the pairs add up to {in_pairs}")
    for pair in said["pairs"]:
        if sum(pair["reasons"].values()) != pair["ns"]:
            problems.append(f"the reasons of a pair add up to {sum(pair['reasons'].values())}, not {pair['ns']}")
    all_ns = sum(line["blocked_ns"] for line in log.lines if line["type"] == "run")
    parts = said["waits"]
    if not all_ns == parts["all"]["ns"] == parts["in_spans"]["ns"] + parts["in_no_span"]["ns"] + parts["unseen"]["ns"]:
        problems.append(f"the stays on CPUs say {all_ns}")


def check_blocked(log, said):
    def key_of(run, waiter, waker, pid):
        reason = run["reason"] if run else "unknown"
        return [(pid, reason) + object_of(run) + (None, None), (pid, reason) + object_of(run) + ("waiter", waiter),
                (pid, reason) + object_of(run) + ("waker", waker)]

    sums, totals = expected_sums(log, key_of)
    got = {}
    for row in said["objects"]:
        value = row.get("address") or row.get("fd", row.get("asked_ns", row.get("syscall_nr")))
        name = (row["pid"], row["reason"], row["kind"], value)
        got[name + (None, None)] = [row["count"], row["ns"], row["max_ns"]]
        for side in ("waiter", "waker"):
            for other in row[side + "s"]:
                got[name + (side, party(other))] = [other["count"], other["ns"], other["max_ns"]]
        if row["kind"] == "syscall" and row["syscall"] != NAMES.get(row["syscall_nr"]):
            problems.append(f"system call {row['syscall_nr']} is called {row['syscall']}")
    same("object", got, dict(sums))
    check_totals(said, totals)


def main():
    if sys.argv[1] == "random":
        random_log(sys.argv[2])
        return
    log = Log(sys.argv[2])
    with open(sys.argv[3], encoding="utf-8") as file:
        said = json.load(file)
    {"blame": check_blame, "blocked": check_blocked}[sys.argv[1]](log, said)
    print("\n".join(problems[:40]))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
