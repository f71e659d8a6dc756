# SPDX-License-Identifier: BSD-2-Clause
"""What txtrace says about single spans, against a second computation of the same from `txtrace export -f jsonl`.

path_check.py pick JSONL N              N spans as arguments for txtrace: ID and options, a line each
path_check.py show JSONL SAID.json      txtrace show --json
path_check.py path JSONL SAID.json      txtrace critical-path --json

Prints what is wrong; exit status 1 if anything is. docs/attribution.md has the definitions.
"""
import json
import random
import sys
from collections import defaultdict

from waits_check import Log, problems

UNKNOWN = ("unknown", None)


def pick(log, cnt):
    spans = [(at, line) for at, line in enumerate(log.lines) if line["type"] == "span" and line["wall_ns"]]
    longest = sorted(spans, key=lambda span: -span[1]["wall_ns"])[: int(cnt) // 2]
    for at, span in longest + random.Random(1).sample(spans, int(cnt) // 2):
        same = [line for line in log.lines[:at] if line["type"] == "span" and line["id"] == span["id"] and line["keyed"] == span["keyed"]
                and line["pid"] == span["pid"]]
        print(span["id"], "--pid", span["pid"], "--nth", 1 + len(same), "--keyed" if span["keyed"] else "")


class Threads:
    """What each thread did: (from, to, state, wakeup or None, reason), by thread; and which spans it was in."""

    def __init__(self, log, last_ns):
        self.did, self.stays, before, woken = defaultdict(list), defaultdict(list), {}, defaultdict(list)
        waits = log.waits()
        for at, line in enumerate(log.lines):
            thread = (line.get("pid"), line.get("tid"))
            if line["type"] == "wake":
                woken[thread].append(line["time_ns"])
            elif line["type"] == "run":
                wake_ns = line["begin_ns"] - line["runnable_ns"]
                if line["blocked_ns"]:
                    _, last, wake, _ = next(waits)
                    self.did[thread].append((wake_ns - line["blocked_ns"], wake_ns, "blocked", wake, last["reason"] if last else "unknown"))
                self.did[thread] += [(wake_ns, line["begin_ns"], "runnable", None, None), (line["begin_ns"], line["end_ns"], "on_cpu", None, None)]
                before[thread] = line
                woken[thread] = []
            elif line["type"] == "stay":
                span = log.span_after(at, "keyed" if line["keyed"] else line["span_pid"], line["span"])
                self.stays[thread].append((line["enter_ns"], line["exit_ns"], span["label"], span["id"], span["begin_ns"]))
            elif line["type"] == "open_span" and not log.span_after(at, "keyed" if "key" in line else line["pid"], line["id"]):
                self.stays[thread].append((line["begin_ns"], last_ns, line["label"], line["id"], line["begin_ns"]))
        for thread, last in before.items():  # blocked, and on no CPU any more
            if last["left_as"] == "blocked":
                wake = next((time for time in woken[thread] if time > last["end_ns"]), None)
                self.did[thread].append((last["end_ns"], wake or last_ns, "blocked", None, last["reason"]))
                if wake:
                    self.did[thread].append((wake, last_ns, "runnable", None, None))

    def clipped(self, thread, begin, end):
        return [(max(begin, did[0]), min(end, did[1])) + did[2:] for did in self.did[thread] if did[0] < end and did[1] > begin and did[0] < did[1]]

    def place(self, thread, time):
        """The label and id of the span that it had entered last, just before."""
        inside = [stay for stay in self.stays[thread] if stay[0] < time <= stay[1]]
        stay = max(inside, key=lambda stay: (stay[0], -stay[1]), default=None)
        return (stay[2], stay[3]) if stay else (None, None)


def path(log, threads, thread, begin, end, depth=0):
    """The pieces from begin to end, the last first, by recursion: a wait that a known, running thread ended is what that thread did meanwhile."""
    now = end
    while now > begin:
        piece = max((did for did in threads.did[thread] if did[0] < now and did[0] < did[1]), default=None, key=lambda did: did[0])
        if piece is None or piece[1] <= begin:
            yield (begin, now, thread, "unknown", depth)
            return
        if piece[1] < now:
            yield (piece[1], now, thread, "unknown", depth)
            now = piece[1]
            continue
        start = max(begin, piece[0])
        wake = log.lines[piece[3]] if piece[3] is not None else None
        waker = (wake["waker_pid"], wake["waker_tid"]) if wake and not wake["interrupt"] and not wake["waker_unknown"] and piece[1] == now else None
        runs = waker and any(did[0] < now <= did[1] and did[2] == "on_cpu" for did in threads.did[waker])
        if piece[2] == "blocked" and runs:
            yield from path(log, threads, waker, start, now, depth + 1)
        else:
            yield (start, now, thread, piece[2], depth)
        now = start


def labelled(threads, pieces):
    """Cut where the thread turned to another span; equal neighbours are one."""
    steps = []
    for begin, end, thread, state, depth in pieces:
        edges = sorted({begin, end} | {edge for stay in threads.stays[thread] for edge in stay[:2] if begin < edge < end})
        for first, last in zip(edges, edges[1:]):
            steps.append((first, last, thread, state, depth) + threads.place(thread, last))
    return joined(steps)


def joined(steps):
    result = []
    for step in sorted(steps):
        if result and result[-1][1] == step[0] and result[-1][2:] == step[2:]:
            result[-1] = (result[-1][0],) + step[1:]
        else:
            result.append(step)
    return result


def compare(what, got, wanted):
    for index, (one, other) in enumerate(zip(got, wanted)):
        if one != other:
            problems.append(f"{what} {index}: txtrace says {one}, it is {other}")
            return
    if len(got) != len(wanted):
        problems.append(f"{what}s: txtrace has {len(got)}, there are {len(wanted)}")


def check_path(log, said):
    span, steps = said["span"], said["steps"]
    edges = [span["begin_ns"]] + [step["to_ns"] for step in steps]
    if [step["from_ns"] for step in steps] != edges[:-1] or edges[-1] != span["end_ns"]:
        problems.append("the steps do not follow each other from begin to end")
    if sum(step["to_ns"] - step["from_ns"] for step in steps) != span["wall_ns"]:
        problems.append("the steps do not add up to the wall time")
    threads = Threads(log, span["end_ns"])
    pids = [line["pid"] for line in log.lines if line["type"] == "stay" and line["span"] == span["id"] and line["keyed"] == span["keyed"]
            and line["exit_ns"] == span["end_ns"] and line["tid"] == span["end_tid"]]
    first = (pids[0] if pids else span["pid"], span["end_tid"])
    wanted = labelled(threads, path(log, threads, first, span["begin_ns"], span["end_ns"]))
    got = joined([(step["from_ns"], step["to_ns"], (step["pid"], step["tid"]), step["state"], step["depth"], step["label"], step["span"])
                  for step in steps])
    compare("step", got, wanted)


def check_show(log, said):
    span = said["span"]
    threads = Threads(log, span["end_ns"])
    mine = sorted((thread, stay) for thread, stays in threads.stays.items() for stay in stays
                  if stay[2:] == (span["label"], span["id"], span["begin_ns"]) and stay[1] <= span["end_ns"])
    compare("stay", sorted(((stay["pid"], stay["tid"]), stay["enter_ns"], stay["exit_ns"]) for stay in said["stays"]),
            [(thread, stay[0], stay[1]) for thread, stay in mine])
    for stay in said["stays"]:
        got = [(did["from_ns"], did["to_ns"], did["state"], did.get("reason")) for did in stay["segments"]]
        wanted = [did[:3] + did[4:] for did in threads.clipped((stay["pid"], stay["tid"]), stay["enter_ns"], stay["exit_ns"])]
        compare("segment", got, wanted)
        for did in stay["segments"]:
            if did["state"] != "blocked" or did["open"]:
                continue
            wake = next(other[3] for other in threads.did[stay["pid"], stay["tid"]] if other[2] == "blocked" and other[0] <= did["from_ns"] < other[1])
            party = log.parties(wake)[1] if wake is not None else ("unseen", None)
            if (did["waker"]["kind"], did["waker"]["name"]) != party and party[0] != "span":
                problems.append(f"a block is ended by {did['waker']}, it was {party}")
            if party[0] == "span" and did["waker"]["name"] not in (party[1], None):
                problems.append(f"a block is ended by {did['waker']}, it was {party}")


def main():
    log = Log(sys.argv[2])
    if sys.argv[1] == "pick":
        pick(log, sys.argv[3])
        return
    with open(sys.argv[3], encoding="utf-8") as file:
        said = json.load(file)
    {"show": check_show, "path": check_path}[sys.argv[1]](log, said)
    print("\n".join(problems[:20]))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
