# SPDX-License-Identifier: BSD-2-Clause
"""
python3 run_delay.py ACCOUNT LOG.jsonl

Why `runnable` of a log is not the run_delay of /proc/PID/schedstat, wait by wait. docs/attribution.md has the definitions. `runnable` begins with the wakeup
(sched_waking), or when the thread loses its CPU, and ends at the switch-in; run_delay begins when the thread is in a CPU's queue. So, for each wait,

    runnable = run_delay + from the wakeup to the queue + between two queues + asleep in a queue + from the scheduler's clock at the switch-in to the switch-in

What can be wrong, and is held against the scheduler's account (sched_account.py), which has the scheduler's clock at each switch:

* A thread that is woken comes into its queue between sched_waking and sched_wakeup; one that loses its CPU, when the scheduler takes it away; one that was
  woken while it was about to sleep, between that and sched_wakeup.
* While it waits it may move to another CPU's queue. The time between the two is in no run_delay, so it may seem to come into its queue later, never earlier.
* run_delay contains sleep (a part below 0) where a thread moves that sleeps and is still in a queue, as the scheduler may leave it there since 6.12: then it
  seems to come into its queue right after a move.
* Of a wakeup whose end is hidden (sched_account.py) it is not known when the thread was in a queue.
* `runnable` of the log is what lies between the tracepoints.

Prints what is wrong, one line each, and what was measured. Exit status 0: nothing is wrong.
"""
import bisect
import collections
import json
import sys

import sched_account

CLOCK_NS = 10_000   # between the clock of a queue and CLOCK_MONOTONIC, as QueueClock finds it; on a slow machine no switch may be quick
WINDOW_NS = 1_000_000_000
SEEN_LEAST = 500    # waits that have to be there
MOVE_NS = 100_000   # from a move being told of until the thread is in the other queue, with a hypervisor that may take the CPU meanwhile
MOVED_SHARE = 0.25  # of the waits, at most, in which a thread moved, or was woken unseen, so that less is known of them
PARTS = ("run_delay", "to the queue", "between two queues", "asleep in a queue", "to the switch-in")


class QueueClock:
    """What to add to a queue's clock for CLOCK_MONOTONIC. The clock is read before the time of a switch is, so the least difference of many is right."""

    def __init__(self, account):
        self.pairs = collections.defaultdict(list)
        for thread in account.threads.values():
            for stay in thread.stays:
                if stay.clock_ns:
                    self.pairs[stay.cpu].append((stay.begin_ns[0], stay.begin_ns[0] - stay.clock_ns))
        for pairs in self.pairs.values():
            pairs.sort()

    def time_ns(self, cpu, clock_ns):
        pairs = self.pairs[cpu]
        near = clock_ns + pairs[0][1]
        first, last = (bisect.bisect(pairs, (near + way * WINDOW_NS, 0)) for way in (-1, 1))
        return clock_ns + min(pair[1] for pair in pairs[first:max(last, first + 1)])


class Sums:
    """Of waits: how long they were, and the PARTS of that; in how many the thread moved, or its wakeup's end was hidden."""

    def __init__(self):
        self.cnt, self.moved_cnt, self.unended_cnt, self.runnable_ns, self.parts_ns = 0, 0, 0, 0, [0] * len(PARTS)

    def add(self, runnable_ns, *parts_ns):
        self.cnt += 1
        self.runnable_ns += runnable_ns
        self.parts_ns = [old + new for old, new in zip(self.parts_ns, parts_ns)]

    def text(self):
        parts = ", ".join(f"{name} {ns / self.cnt / 1000:.1f}" for name, ns in zip(PARTS, self.parts_ns))
        return f"{self.cnt} waits, each runnable {self.runnable_ns / self.cnt / 1000:.1f} us: {parts}"


def waits_of(thread):
    """Each wait of which the account has all: (the stay before it, the stay behind it)."""
    for before, stay in zip(thread.stays, thread.stays[1:]):
        is_whole = stay.clock_ns and before.left_clock_ns and stay.counted_ns is not None and stay.ready_ns[0] > 0
        if is_whole and not sched_account.covered(thread.hidden, before.begin_ns[0], stay.begin_ns[1]):
            yield before, stay


def is_moved(thread, last_ns, before, stay):
    """While it waited in a queue. A move by the wakeup itself comes before that. On another CPU without a move it has moved unseen."""
    first, last = bisect.bisect_right(thread.moves, last_ns), bisect.bisect_right(thread.moves, stay.begin_ns[1])
    is_unseen = bisect.bisect_left(thread.moves, before.end_ns[0]) == last and before.cpu != stay.cpu
    return first < last or is_unseen


def is_queued_asleep(thread, before, waking_ns, queued_ns):
    """It moved while it slept, and its wait began with that move."""
    first = bisect.bisect_left(thread.moves, before.end_ns[0])
    return any(move_ns - CLOCK_NS <= queued_ns <= move_ns + MOVE_NS for move_ns in thread.moves[first:bisect.bisect_right(thread.moves, waking_ns)])


def check_wait(problems, where, clock, thread, before, stay, run, sums):
    arrived_ns = clock.time_ns(stay.cpu, stay.clock_ns)
    queued_ns = arrived_ns - stay.counted_ns
    is_woken = stay.ready_ns is not before.end_ns
    first_ns, last_ns = stay.ready_ns if is_woken else 2 * [clock.time_ns(before.cpu, before.left_clock_ns)]
    if stay.waking_ns and not is_woken:  # it was woken while it was about to leave
        last_ns = max(last_ns, stay.waking_ns[1])
    bounds = stay.begin_ns[0] - stay.ready_ns[1], stay.begin_ns[1] - stay.ready_ns[0]
    if not bounds[0] <= run["runnable_ns"] <= bounds[1]:
        problems.append(f"{where}: runnable for {run['runnable_ns']} ns, by the tracepoints {bounds[0]} to {bounds[1]}")
    moved_ns = asleep_ns = 0
    if is_woken and queued_ns < first_ns - CLOCK_NS and is_queued_asleep(thread, before, first_ns, queued_ns):
        asleep_ns = queued_ns - first_ns
    elif queued_ns > last_ns + CLOCK_NS and is_moved(thread, last_ns, before, stay):
        moved_ns = queued_ns - last_ns
    elif not first_ns - CLOCK_NS <= queued_ns <= last_ns + CLOCK_NS:
        problems.append(f"{where}: in the queue {queued_ns - first_ns} ns after {'the wakeup' if is_woken else 'it lost its CPU'}, which took {last_ns - first_ns} ns; "
                        f"CPU {before.cpu} until {before.end_ns}, woken {stay.waking_ns}, CPU {stay.cpu} from {stay.begin_ns}, "
                        f"moved {[move_ns for move_ns in thread.moves if before.begin_ns[0] <= move_ns <= stay.begin_ns[1]]}")
    sums.moved_cnt += bool(moved_ns or asleep_ns)
    sums.unended_cnt += stay.waking_ns in thread.unended
    sums.add(run["runnable_ns"], stay.counted_ns, queued_ns - moved_ns - asleep_ns - stay.ready_ns[0], moved_ns, asleep_ns, stay.begin_ns[0] - arrived_ns)


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        runs = [record for record in map(json.loads, file) if record["type"] == "run"]
    account = sched_account.Account(sys.argv[1], {run["tid"] for run in runs}, min(run["begin_ns"] for run in runs))
    clock, problems, sums = QueueClock(account), [], collections.defaultdict(Sums)
    of_thread = collections.defaultdict(list)
    for run in runs:
        of_thread[run["tid"]].append(run)
    for tid, thread in account.threads.items():
        begins = [run["begin_ns"] for run in of_thread[tid]]
        for before, stay in waits_of(thread):
            idx = bisect.bisect_left(begins, stay.begin_ns[0])
            if idx in (0, len(begins)) or begins[idx] > stay.begin_ns[1] or of_thread[tid][idx - 1]["end_ns"] < before.end_ns[0]:
                continue  # the recorder was not there yet, or did not see one of both
            left = of_thread[tid][idx - 1]
            kind = left["reason"] if left["left_as"] == "blocked" else left["left_as"]
            check_wait(problems, f"thread {tid}, {kind}, {stay.begin_ns[0]}", clock, thread, before, stay, of_thread[tid][idx], sums[kind])
    seen_cnt = sum(each.cnt for each in sums.values())
    if seen_cnt < SEEN_LEAST:
        problems.append(f"only {seen_cnt} waits were seen")
    if sum(each.moved_cnt + each.unended_cnt for each in sums.values()) > MOVED_SHARE * seen_cnt:
        problems.append(f"of {seen_cnt} waits too many are explained by moves, or by wakeups whose end is hidden: "
                        f"{ {kind: (each.moved_cnt, each.unended_cnt) for kind, each in sums.items()} }")
    for kind, each in sorted(sums.items()):
        print(f"# MEASURED {kind}: {each.text()}; {each.moved_cnt} with a move, {each.unended_cnt} woken unseen")
    print("\n".join(problems[:40]))
    sys.exit(bool(problems))


main()
