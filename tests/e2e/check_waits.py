# SPDX-License-Identifier: BSD-2-Clause
"""
Who waited for whom, against what the traced program did.

python3 check_waits.py blame BLAME.json LOG.jsonl       the program `lock`: "waiter" waits for a mutex that "holder" has
                                                        for 5 ms and more

python3 check_waits.py span SHOW.json PATH.json LOG.jsonl   one "waiter" of it: show and critical-path
python3 check_waits.py storm TRUTH.jsonl LOG.jsonl      the program `wake_storm`: every block on a thread's futex or eventfd was ended by
                                                        a thread that gave to it just then

Prints what is wrong, one line each. Exit status 1 if anything is.

What is allowed: CLOCK and UNSEEN as in check_truth.py: 1 us between the program's clock and that of the BPF program; 1 wakeup in 20, at least 3,
that is not seen, or says itself that it does not know its waker. A wrong waker is never allowed.
"""
import collections
import json
import sys

MS = 1_000_000
CLOCK_NS = 1_000
UNSEEN_SHARE, UNSEEN_LEAST = 0.05, 3

problems = []


def check(is_fine, what):
    if not is_fine:
        problems.append(what)


def unseen_allowed(cnt):
    return max(UNSEEN_LEAST, UNSEEN_SHARE * cnt)


def read_jsonl(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def check_blame(blame, lines):
    waiters = [line for line in lines if line["type"] == "span" and line["label"] == "waiter"]
    pairs = [pair for pair in blame["pairs"] if pair["waiter"]["name"] == "waiter"]
    on_holder = sum(pair["count"] for pair in pairs if pair["waker"] == {"kind": "span", "name": "holder"})
    on_holder_ns = sum(pair["ns"] for pair in pairs if pair["waker"] == {"kind": "span", "name": "holder"})
    blocked_ns = sum(span["blocked_ns"] for span in waiters)
    allowed = unseen_allowed(len(waiters))
    check(len(waiters) > 0, "there are no waiters")
    check(on_holder >= len(waiters) - allowed, f"{on_holder} of {len(waiters)} waits are charged to the holder")
    check(on_holder_ns >= 5 * MS * (len(waiters) - allowed), f"the waiters waited {on_holder_ns} ns on the holder, each 5 ms at least")
    # What the ledgers say, and the matrix does not, is waits that were not seen to begin or to end.
    all_ns = sum(pair["ns"] for pair in pairs)
    longest = max(span["blocked_ns"] for span in waiters)
    check(all_ns <= blocked_ns, f"the matrix has {all_ns} ns, the ledgers {blocked_ns}")
    check(all_ns == blocked_ns or blocked_ns - all_ns <= allowed * longest, f"the matrix has {all_ns} ns, the ledgers {blocked_ns}")
    check(blame["waits"]["unseen"]["count"] <= unseen_allowed(blame["waits"]["all"]["count"]), f"of {blame['waits']['all']['count']} wakeups "
          f"{blame['waits']['unseen']['count']} are not in the log")
    runs_ns = sum(line["blocked_ns"] for line in lines if line["type"] == "run")
    check(runs_ns == blame["waits"]["all"]["ns"] == sum(blame["waits"][part]["ns"] for part in ("in_spans", "in_no_span", "unseen")),
          f"the stays on CPUs tell of {runs_ns} ns")


def check_span(show, path, lines):
    span = show["span"]
    segments = [segment for stay in show["stays"] for segment in stay["segments"]]
    sums = collections.Counter()
    for segment in segments:
        sums[segment["state"]] += segment["to_ns"] - segment["from_ns"]
    if not span["unknown_ns"]:
        for state in ("on_cpu", "runnable", "blocked"):
            check(sums[state] == span[state + "_ns"], f"its segments {state} add up to {sums[state]}, the ledger says {span[state + '_ns']}")
    locks = [segment for segment in segments if segment.get("reason") == "lock"]
    check(any(lock["waker"] == {"kind": "span", "name": "holder"} for lock in locks), f"no block is ended by the holder: {locks}")
    steps = path["steps"]
    edges = [step["from_ns"] for step in steps] + [steps[-1]["to_ns"]]
    check(edges[0] == span["begin_ns"] and edges[-1] == span["end_ns"] and edges[1:-1] == [step["to_ns"] for step in steps[:-1]],
          f"the steps do not follow each other: {steps}")
    held_ns = sum(step["to_ns"] - step["from_ns"] for step in steps if step["label"] == "holder")
    check(held_ns >= 5 * MS, f"on the critical path are {held_ns} ns of the holder, it slept for 5 ms")
    check(any(step["label"] == "holder" and step["wait"] and step["wait"]["reason"] == "sleep" for step in steps), "nobody is seen asleep with the lock")
    check(any(line["type"] == "span" and line["label"] == "holder" for line in lines), "there is no holder")


class Gives:
    def __init__(self, members):
        self.by_pair = collections.defaultdict(list)
        for member in members:
            for target, least, most, span in member["gives"]:
                self.by_pair[member["tid"], target].append((least - CLOCK_NS, most + CLOCK_NS, span))

    def at(self, waker, wakee, time):
        """In which spans it may have been: the moments of two gives may touch each other, as far as the clocks tell."""
        return [span for least, most, span in self.by_pair[waker, wakee] if least <= time <= most]


def blocks_of(lines, members):
    """(the wakeup that ended it or None, whether its thread was seen to come back) for each block of a thread on what it waits for tokens with."""
    own = {member["tid"]: (member["object"], member["reason"]) for member in members}
    blocked, wakes = {}, collections.defaultdict(list)
    for line in lines:
        tid = line.get("tid")
        if tid not in own or line["type"] not in ("wake", "run"):
            continue
        if line["type"] == "wake":
            wakes[tid].append(line)
            continue
        if tid in blocked:
            before = blocked.pop(tid)
            end = line["begin_ns"] - line["runnable_ns"]
            if line["blocked_ns"] and end - line["blocked_ns"] == before["end_ns"]:
                yield next((wake for wake in wakes[tid] if wake["time_ns"] == end), None), True
            elif line["begin_ns"] - line["runnable_ns"] - line["blocked_ns"] > before["end_ns"]:
                yield None, False
        wakes[tid] = []
        if line["left_as"] == "blocked" and (line["object"], line["reason"]) == own[tid]:
            blocked[tid] = line


def check_storm(members, lines):
    gives, counts = Gives(members), collections.Counter()
    tids = {member["tid"] for member in members}
    for wake, is_seen in blocks_of(lines, members):
        counts["all"] += 1
        if not wake or wake["waker_unknown"]:
            counts["unseen" if not wake and not is_seen else "no wakeup" if not wake else "not known"] += 1
            continue
        if wake["interrupt"] or wake["waker_tid"] not in tids:
            problems.append(f"{wake['tid']} was woken by an interrupt or a stranger: {wake}")
            continue
        spans = gives.at(wake["waker_tid"], wake["tid"], wake["time_ns"])
        check(spans, f"{wake['waker_tid']} is named, and gave nothing to {wake['tid']} at that time: {wake}")
        check(not spans or wake["waker_span"] in spans, f"the waker worked for the spans {spans}: {wake}")
        check(wake["span"] == "0", f"it waited in no span: {wake}")
    given = sum(len(member["gives"]) for member in members)
    check(counts["all"] >= given / 20, f"{given} tokens were given, and only {counts['all']} blocks are in the log: this was no storm")
    missing = counts["unseen"] + counts["no wakeup"] + counts["not known"]
    check(missing <= unseen_allowed(counts["all"]), f"of {counts['all']} blocks, the waker of {missing} is not in the log: {dict(counts)}")
    print(f"# {given} tokens given, {dict(counts)}")


def main():
    if sys.argv[1] == "storm":
        check_storm(read_jsonl(sys.argv[2]), read_jsonl(sys.argv[3]))
    elif sys.argv[1] == "span":
        check_span(read_json(sys.argv[2]), read_json(sys.argv[3]), read_jsonl(sys.argv[4]))
    elif sys.argv[1] == "blame":
        check_blame(read_json(sys.argv[2]), read_jsonl(sys.argv[3]))
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
