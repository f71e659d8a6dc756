#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""
The oracle itself (check_truth.py): it accepts a log that is right, and notices every way in which a log can be wrong. The log and the truth
are made by hand: one span that was 2 ms on a CPU, was preempted for 1 ms, slept 5 ms, was woken and waited 0.02 ms, and one that was handed over.
"""
import copy
import json
import os
import subprocess
import sys
import tempfile

import check_truth
import sched_account

MS = 1_000_000
SLEEPER, MOVER = 0, 1


def made_span(**fields):
    span = {"type": "span", "pid": 7, "tid": 7, "end_tid": 7, "tag": "", "parent": "0", "unknown_ns": 0, "detached_ns": 0, "lower_bound": False,
            "unfinished": False, "loss": False, "imbalance": False, "keyed": False, "moved": False}
    span["blocked"] = {name: 0 for name in ("lock", "disk", "network", "sleep", "page_fault", "pipe", "wait", "stopped", "other", "throttled", "poll")}
    span["blocked"].update(fields.pop("blocked", {}))
    span.update(fields, blocked_ns=sum(span["blocked"].values()))
    span["wall_ns"] = span["end_ns"] - span["begin_ns"]
    span.setdefault("work_ns", span["wall_ns"])
    return span


def made_log():
    return [
        made_span(id="11", label="sleeper", begin_ns=100 * MS, end_ns=108 * MS + 20_000, on_cpu_ns=2 * MS, runnable_ns=MS + 20_000, blocked={"sleep": 5 * MS}),
        made_span(id="12", label="mover", begin_ns=120 * MS, end_ns=126 * MS, on_cpu_ns=3 * MS, runnable_ns=0, detached_ns=3 * MS, end_tid=8, moved=True, tag="a=1"),
        {"type": "run", "pid": 7, "tid": 7, "begin_ns": 90 * MS, "end_ns": 101 * MS, "blocked_ns": 0, "runnable_ns": 0, "left_as": "preempted"},
        {"type": "run", "pid": 7, "tid": 7, "begin_ns": 102 * MS, "end_ns": 102 * MS + 500_000, "blocked_ns": 0, "runnable_ns": MS, "left_as": "blocked", "reason": "sleep", "object": hex(5 * MS)},
        {"type": "run", "pid": 7, "tid": 7, "begin_ns": 107 * MS + 520_000, "end_ns": 140 * MS, "blocked_ns": 5 * MS, "runnable_ns": 20_000, "left_as": "dead"},
        {"type": "run", "pid": 7, "tid": 8, "begin_ns": 110 * MS, "end_ns": 140 * MS, "blocked_ns": 0, "runnable_ns": 0, "left_as": "dead"},
        {"type": "counter", "name": "queue", "value": 1, "time_ns": 1},
        {"type": "counter", "name": "queue", "value": 2, "time_ns": 2},
        {"type": "summary", "complete": True,
         "recorder": {"sent_cnt": 9, "received_cnt": 9, "lost_cnt": 0, "late_cnt": 0, "lost_clocks_cnt": 0, "anomalies": {"imbalance": 0, "clock_mismatch": 0}}},
    ]


def made_truth():
    """As a program prints it: the real edges lie within the bounds."""
    sleeper = {"type": "span", "label": "sleeper", "id": "11", "pid": 7, "parent": "0", "blocked": "sleep", "asked_ns": 5 * MS, "until_ns": 0, "starved_ns": 0,
               "begin_ns": [100 * MS - 500, 100 * MS + 500], "end_ns": [108 * MS + 19_500, 108 * MS + 20_500], "wall_ns": [8 * MS + 19_000, 8 * MS + 21_000],
               "work_ns": [8 * MS + 19_000, 8 * MS + 21_000], "detached_ns": [0, 2000], "cpu_ns": [2 * MS - 1000, 2 * MS + 1000],
               "run_delay_ns": [MS + 10_000, MS + 10_000], "stolen_ns": [0, 0], "nvcsw": [1, 1], "nivcsw": [1, 1],
               "stays": [{"tid": 7, "begin_ns": 100 * MS + 500, "end_ns": 108 * MS + 19_500, "around_ns": [100 * MS - 500, 108 * MS + 20_500], "nvcsw": 1, "nivcsw": 1}]}
    mover = {"type": "span", "label": "mover", "id": "12", "pid": 7, "parent": "0", "blocked": None, "asked_ns": 0, "until_ns": 0, "starved_ns": 0,
             "begin_ns": [120 * MS - 500, 120 * MS + 500], "end_ns": [126 * MS - 500, 126 * MS + 500], "wall_ns": [6 * MS - 1000, 6 * MS + 1000],
             "work_ns": [6 * MS - 3000, 6 * MS + 3000], "detached_ns": [3 * MS - 2000, 3 * MS + 2000], "cpu_ns": [3 * MS - 2000, 3 * MS + 2000],
             "run_delay_ns": [0, 0], "stolen_ns": [0, 0], "nvcsw": [0, 0], "nivcsw": [0, 0],
             "stays": [{"tid": 7, "begin_ns": 120 * MS + 500, "end_ns": 121 * MS - 500, "around_ns": [120 * MS - 500, 121 * MS + 500], "nvcsw": 0, "nivcsw": 0},
                       {"tid": 8, "begin_ns": 124 * MS + 500, "end_ns": 126 * MS - 500, "around_ns": [124 * MS - 500, 126 * MS + 500], "nvcsw": 0, "nivcsw": 0}]}
    return [sleeper, mover, {"type": "tag", "span": "12", "bytes": b"a=1".hex()}, {"type": "counter", "name": "queue", "values": [1, 2]},
            {"type": "count", "label": "mover", "pid": 7, "cnt": 1}, {"type": "instant", "span": "0", "name": "of nobody", "cnt": 0}]


def judge(folder, truth, log, account=None):
    """What the oracle says, and whether it accepts."""
    paths = []
    options = []
    if account is not None:
        options = ["--account", os.path.join(folder, "account")]
        with open(options[1], "wb") as file:
            file.write(account)
    for name, lines in (("truth", truth), ("log", log)):
        paths.append(os.path.join(folder, name + ".jsonl"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
    oracle = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_truth.py")
    done = subprocess.run([sys.executable, oracle] + options + paths, capture_output=True, text=True, check=False, env={**os.environ, "TXTRACE_REMOVED": "steal"})
    return done.returncode, done.stdout + done.stderr


def move(span, source, target, ns):
    """From one part of the ledger to another: it still balances."""
    for name, sign in ((source, -1), (target, 1)):
        if name.startswith("blocked."):
            span["blocked"][name[8:]] += sign * ns
            span["blocked_ns"] += sign * ns
        else:
            span[name] += sign * ns


def end_later(log):
    log[SLEEPER]["end_ns"] += 5000
    log[SLEEPER]["wall_ns"] += 5000
    log[SLEEPER]["work_ns"] += 5000
    log[SLEEPER]["on_cpu_ns"] += 5000


def come_late(log):
    """A hypervisor takes the CPU between a wake-up and the way onto the CPU, and the scheduler counts it as CPU time."""
    log[4].update(begin_ns=log[4]["begin_ns"] + 400_000, runnable_ns=420_000)
    move(log[SLEEPER], "on_cpu_ns", "runnable_ns", 400_000)


def gaps():
    return [{"type": "run", "pid": 7, "tid": 9, "begin_ns": time * MS, "end_ns": time * MS + 10, "blocked_ns": 0, "runnable_ns": 20, "left_as": "preempted"}
            for time in range(5)]


# What is wrong with the log, what is done to it, and a part of what the oracle has to say then.
WRONG = [
    ("a ledger that does not balance", lambda log: log[SLEEPER].update(on_cpu_ns=2 * MS + 1), "the ledger adds up to"),
    ("reasons that do not add up", lambda log: log[SLEEPER]["blocked"].update(lock=7), "its reasons add up to"),
    ("blocked for another reason", lambda log: move(log[SLEEPER], "blocked.sleep", "blocked.disk", 40_000), "other reasons than sleep"),
    ("blocked without a switch", lambda log: move(log[MOVER], "on_cpu_ns", "blocked.lock", 40_000), "blocked_ns is 40000"),
    ("60 us of sleep taken for CPU time", lambda log: move(log[SLEEPER], "blocked.sleep", "on_cpu_ns", 60_000), "on_cpu_ns is 2060000"),
    ("60 us of CPU time taken for sleep", lambda log: move(log[SLEEPER], "on_cpu_ns", "blocked.sleep", 60_000), "on_cpu_ns is 1940000"),
    ("1 ms of preemption taken for sleep", lambda log: move(log[SLEEPER], "runnable_ns", "blocked.sleep", MS), "runnable_ns is 20000"),
    ("sleep taken for waiting for a CPU", lambda log: move(log[SLEEPER], "blocked.sleep", "runnable_ns", MS + 60_000), "none was blocked for as long"),
    ("a stay on a CPU of another length", lambda log: move(log[SLEEPER], "on_cpu_ns", "runnable_ns", 1), "by the thread's stays on a CPU"),
    ("detached time taken for CPU time", lambda log: move(log[MOVER], "detached_ns", "on_cpu_ns", 20_000), "detached_ns is 2980000"),
    ("time that is unknown though all was seen", lambda log: move(log[SLEEPER], "on_cpu_ns", "unknown_ns", 1000), "unknown_ns is 1000"),
    ("an end that is 5 us late", end_later, "end_ns is"),
    ("another label", lambda log: log[SLEEPER].update(label="dozer"), "label is 'dozer'"),
    ("another parent", lambda log: log[SLEEPER].update(parent="12"), "parent is '12'"),
    ("another id", lambda log: log[SLEEPER].update(id="13"), "is in the log 0 times"),
    ("a span twice", lambda log: log.append(copy.deepcopy(log[SLEEPER])), "is in the log 2 times"),
    ("a span that nobody made", lambda log: log.append(dict(log[MOVER], id="99")), "there are 2 spans with this label"),
    ("a lower bound", lambda log: log[SLEEPER].update(lower_bound=True), "is marked as lower_bound"),
    ("a switch that is missing", lambda log: log[3].update(end_ns=log.pop(4)["end_ns"], left_as="dead"), "blocks of thread 7: 0 in the log, 1 by"),
    ("a preemption taken for a block", lambda log: log[2].update(left_as="blocked"), "preemptions of thread 7: 0 in"),
    ("more in the timeline than there was time", lambda log: log[4].update(blocked_ns=5 * MS + 1), "1 ns more than it was off the CPU"),
    ("a sleep of another length", lambda log: log[3].update(object=hex(5 * MS + 1)), "slept for 5000001 ns, the program asked for 5000000"),
    ("gaps in the timeline", lambda log: log.extend(gaps()), "4 of 9 stays on a CPU began unseen"),
    ("another tag", lambda log: log[MOVER].update(tag="a=2"), "is b'a=2'"),
    ("a counter's value lost", lambda log: log.pop(7), "it is [1]"),
    ("events unaccounted for", lambda log: log[8]["recorder"].update(received_cnt=8), "sent 9, received 8, lost 0"),
    ("a loss", lambda log: log[8]["recorder"].update(sent_cnt=10, lost_cnt=1), "lost_cnt is 1"),
    ("a loss that no record tells of", lambda log: log[8]["recorder"].update(sent_cnt=10, lost_cnt=1), "its records of loss tell of 0 events"),
    ("no summary", lambda log: log.pop(8), "has no summary"),
    ("an event of no span", lambda log: log.append({"type": "instant", "span": "5", "name": "of nobody"}), "its number is 1"),
]


# A sleep to a moment: which one, from when the thread left its CPU, what the log says to have been left of it, and is that right?
UNTIL = [
    ("of which as much was left as the log says is accepted", 5 * MS, 5 * MS, True),
    ("of which less was left than the log says is accepted: it was looked, then the thread left its CPU", 4 * MS, 5 * MS, True),
    ("of which more was left than the log says is noticed", 4 * MS + 1, 4 * MS, False),
    ("of which the log says more than was asked for is noticed", 5 * MS, 5 * MS + 1, False),
    ("that had come when the thread left its CPU is accepted as unknown", 0, 0, True),
    ("that had come before that is accepted as unknown", -1, 0, True),
    ("that was to come and is unknown is noticed", 1, 0, False),
]


# ---- the scheduler's account ----

SWITCH, WAKING, TICK, SWITCHED, WOKEN, SLEEP, UNORDERED = 1, 2, 3, 4, 5, 6, 7


def made_account(stolen=(), kept_ns=0, delay_ns=MS + 10_000, missing=(), uncounted=False, woken_ns=None, unordered=(), moved=False, wakeup_ns=107 * MS + 500_000):
    """
    What the scheduler says of the same switches, as sched_account writes it. stolen: (cpu, from, to, ns), as it is known by ticks; kept_ns: so much of each
    is not removed from the scheduler's clock. delay_ns: of both waits.
    missing: times of switches that the kernel hid. uncounted: it does not count the thread's second time on a CPU. woken_ns: the thread is woken then, too.
    unordered: (from, to), when somebody may have come behind the account. moved: the thread leaves the other CPU in the end; the kernel hid how it came there.
    """
    switches = [switch for switch in (
        (90 * MS, 0, 1, 0, 0, 7, SWITCH), (101 * MS, 0, 0, 0, 7, 0, SWITCH), (102 * MS, 0 if uncounted else MS, 2, 0, 0, 7, SWITCH), (102 * MS + 500_000, 0, 0, 0, 7, 0, SLEEP),
        (107 * MS + 520_000, delay_ns, 2 if uncounted else 3, 0, 0, 7, SWITCH), (140 * MS, 0, 0, int(moved), 7, 0, SWITCH), (110 * MS, 0, 1, 1, 0, 8, SWITCH), (140 * MS + 1, 0, 0, 1, 8, 0, SWITCH))
        if switch[0] not in missing]
    samples = [[time_ns, time_ns, 0, delay, cnt, cpu, kind, tid, next_tid, not (uncounted and time_ns == 102 * MS)] for time_ns, delay, cnt, cpu, tid, next_tid, kind in switches]
    samples += [[time_ns + 200, time_ns, 0, 0, 0, cpu, SWITCHED, 0, 0, 0] for time_ns, _, _, cpu, _, _, _ in switches]
    samples.append([wakeup_ns, wakeup_ns, 0, 0, 0, 0, WAKING, 7, 0, 0])
    samples.append([wakeup_ns + 200, wakeup_ns, 0, 0, 0, 0, WOKEN, 7, 0, 0])
    samples += [[woken_ns, woken_ns, 0, 0, 0, 0, WAKING, 7, 0, 0]] if woken_ns else []
    samples += [[end_ns, begin_ns, 0, 0, 0, 0, UNORDERED, 0, 0, 0] for begin_ns, end_ns in unordered]
    samples += [[end_ns, begin_ns, 0, 0, 0, cpu, TICK, 0, 0, 0] for cpu, begin_ns, end_ns, _ in stolen]
    for sample in samples:
        sample += [sum(ns for cpu, _, end_ns, ns in stolen if cpu == sample[5] and end_ns <= sample[0]), 0]
        sample[2] = sum(ns - kept_ns for cpu, _, end_ns, ns in stolen if cpu == sample[5] and end_ns <= sample[0])
    return b"".join(sched_account.SAMPLE.pack(*sample) for sample in sorted(samples))


def lose_cpu_time(ns, told_ns=None):
    """The hypervisor had the CPU: the thread's own clock stood still, and the log says so."""
    def spoil(truth, log):
        truth[MOVER]["cpu_ns"] = [bound - ns for bound in truth[MOVER]["cpu_ns"]]
        log[MOVER]["stolen_ns"] = 0
        move(log[MOVER], "on_cpu_ns", "stolen_ns", ns if told_ns is None else told_ns)
    return spoil


def keep_cpu_time(ns):
    """The hypervisor had the CPU, and the thread's own clock counted that as its own."""
    return lambda _, log: (log[MOVER].update(stolen_ns=0), move(log[MOVER], "on_cpu_ns", "stolen_ns", ns))


def wait_uncounted(truth, _):
    """The scheduler does not count how long a thread waited that was preempted on its way to sleep."""
    truth[SLEEPER]["run_delay_ns"] = [bound - MS for bound in truth[SLEEPER]["run_delay_ns"]]


def arrive_late(_, log):
    """The recorder was behind the account's programs."""
    log[4].update(begin_ns=log[4]["begin_ns"] + 6000, runnable_ns=log[4]["runnable_ns"] + 6000)
    move(log[SLEEPER], "on_cpu_ns", "runnable_ns", 6000)


def wait_less(_, log):
    """A wait that began 60 us later, in the timeline as well: both have it for sleep."""
    log[4].update(blocked_ns=5 * MS + 60_000 - 40_010, runnable_ns=10)
    move(log[SLEEPER], "runnable_ns", "blocked.sleep", 19_990)


def know_less(ns):
    def spoil(_, log):
        move(log[SLEEPER], "blocked.sleep", "unknown_ns", ns)
        log[4].update(blocked_ns=5 * MS - ns)
    return spoil


STOLEN_NS = 400_000
# What is done to truth and log, the account, and a part of what the oracle has to say, or None where it has to accept.
ACCOUNTS = [
    ("a log that is right, with an account, is accepted", None, {}, None),
    ("stolen time is accepted", lose_cpu_time(STOLEN_NS), {"stolen": [(0, 120 * MS + 200_000, 120 * MS + 700_000, STOLEN_NS)]}, None),
    ("the same without an account of it is noticed", lose_cpu_time(STOLEN_NS), {}, "stolen_ns is 400000"),
    ("more than was stolen is noticed", lose_cpu_time(STOLEN_NS), {"stolen": [(0, 120 * MS + 200_000, 120 * MS + 700_000, STOLEN_NS // 2)]}, "stolen_ns is 400000"),
    ("what was stolen and is not in the log is noticed", None, {"stolen": [(0, 120 * MS + 200_000, 120 * MS + 700_000, STOLEN_NS)]}, "stolen_ns is 0"),
    ("what the thread's own clock lacks and the log has on-CPU is noticed", lose_cpu_time(STOLEN_NS, 0),
     {"stolen": [(0, 120 * MS + 200_000, 120 * MS + 700_000, STOLEN_NS)]}, "on_cpu_ns without what was stolen is 3000000"),
    ("a sum that the next sample takes back was read between two clocks", None,
     {"stolen": [(0, 120 * MS + 200_000, 120 * MS + 700_000, STOLEN_NS), (0, 131 * MS, 132 * MS, -STOLEN_NS)]}, None),
    ("stolen time that the scheduler counts as the thread's is accepted", keep_cpu_time(STOLEN_NS),
     {"stolen": [(0, 120 * MS + 200_000, 120 * MS + 700_000, STOLEN_NS)], "kept_ns": STOLEN_NS}, None),
    ("the same where the steal clock stood still is noticed", keep_cpu_time(STOLEN_NS), {}, "stolen_ns is 400000"),
    ("the same before the span is noticed", keep_cpu_time(STOLEN_NS),
     {"stolen": [(0, 115 * MS, 119 * MS, STOLEN_NS)], "kept_ns": STOLEN_NS}, "on_cpu_ns without what was stolen is 2600000"),
    ("time stolen on another CPU is no excuse", lose_cpu_time(STOLEN_NS), {"stolen": [(1, 120 * MS, 121 * MS, STOLEN_NS)]}, "stolen_ns is 400000"),
    ("nor is time stolen before the span", lose_cpu_time(STOLEN_NS), {"stolen": [(0, 115 * MS, 119 * MS, STOLEN_NS)]}, "stolen_ns is 400000"),
    ("nor after it", lose_cpu_time(STOLEN_NS), {"stolen": [(0, 129 * MS, 130 * MS, STOLEN_NS)]}, "stolen_ns is 400000"),
    ("a run delay that is not the program's is noticed", None, {"delay_ns": MS + 20_000}, "the run delay by the account is 1020000"),
    ("a wait that the scheduler does not count is one all the same", wait_uncounted, {"uncounted": True, "delay_ns": 10_000}, None),
    ("who was preempted waits from then on, whoever wakes it", None, {"woken_ns": 101 * MS + 500_000}, None),
    ("a switch that is 6 us late is noticed", arrive_late, {}, "on_cpu_ns is"),
    ("where another program was attached just then, it is accepted", arrive_late, {"unordered": [(107 * MS, 108 * MS)]}, None),
    ("a wait that is taken for sleep is noticed", wait_less, {}, "runnable_ns is 1000010"),
    ("what is unknown though no switch was hidden is noticed", know_less(MS), {}, "and every switch was there"),
    ("what is unknown where a switch was hidden is accepted", know_less(10_000), {"missing": [102 * MS + 500_000]}, None),
    ("more than that is noticed", know_less(MS), {"missing": [90 * MS]}, "and every switch was there"),
    ("what was stolen where the thread may not have been is no complaint", None,
     {"moved": True, "stolen": [(0, 120 * MS + 200_000, 120 * MS + 700_000, STOLEN_NS)]}, None),
]


def hidden_within_a_stay(folder):
    """How much of a preemption of 1 ms is known to be hidden if neither its begin nor its end was told of: the thread came once more than was seen."""
    path = os.path.join(folder, "account")
    with open(path, "wb") as file:
        file.write(made_account(missing=[101 * MS, 102 * MS]))
    hidden = sched_account.Account(path, {7}).threads[7].hidden
    return sched_account.covered(hidden, 101 * MS, 102 * MS)


def hidden_wakeup(folder, wakeup_ns=102 * MS + 300_000, unordered=()):
    """How much of a sleep of 5 ms is known to be hidden if the only wakeup that was told of was done before the thread left its CPU."""
    path = os.path.join(folder, "account")
    with open(path, "wb") as file:
        file.write(made_account(wakeup_ns=wakeup_ns, unordered=unordered))
    return sched_account.covered(sched_account.Account(path, {7}).threads[7].hidden, 102 * MS + 500_000, 107 * MS + 500_000)


def hidden_on_a_cpu(folder):
    """How much of 10 ms is known to be hidden on each CPU if CPU 1 had switches from 103 to 104 ms that nobody told of."""
    path = os.path.join(folder, "account")
    with open(path, "wb") as file:
        file.write(made_account() + sched_account.SAMPLE.pack(104 * MS, 103 * MS, 0, 0, 0, 1, sched_account.HIDDEN, 0, 0, 0, 0, 0))
    cpus = sched_account.Account(path, {7}).cpus
    return [sched_account.covered(cpus[cpu].hidden, 100 * MS, 110 * MS) for cpu in (0, 1)]


def lack_switches(span_cnt, hidden_cnt):
    """What the oracle says if of 20 stays on a CPU so many lack a switch, and so many of 100 spans are touched by that."""
    problems = check_truth.Problems()
    problems.stays, problems.hidden, problems.hidden_cnt = set(range(20)), set(range(hidden_cnt)), span_cnt
    problems.judge(range(100))
    return problems.lines


def sleep_less(is_each_preempted):
    """What the oracle says of two sleeps that were 1 ms too short, if the thread was preempted for 1 ms in both, or in the first alone."""
    log, problems, truth = made_log(), check_truth.Problems(), made_truth()[SLEEPER]
    move(log[SLEEPER], "blocked.sleep", "on_cpu_ns", MS)
    second = truth if is_each_preempted else {**truth, "stays": []}
    check_truth.check_sleeps(problems, check_truth.Log(log), "sleeper", [truth, second], None)
    return problems.lines


def report(number, is_fine, name, output):
    print(f"{'ok' if is_fine else 'not ok'} {number} - {name}")
    for line in [] if is_fine else output.splitlines():
        print("# " + line)


def main():
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        status, output = judge(folder, made_truth(), made_log())
        report(1, status == 0 and " 0 problems" in output, "a log that is right is accepted", output)
        for number, (name, spoil, complaint) in enumerate(WRONG, 2):
            log = made_log()
            spoil(log)
            status, output = judge(folder, made_truth(), log)
            report(number, status == 1 and complaint in output, f"{name} is noticed", output)
        truth = made_truth()
        truth[SLEEPER]["stays"][0]["nivcsw"] = 2
        status, output = judge(folder, truth, made_log())
        report(len(WRONG) + 2, status == 1 and "preemptions of thread 7: 1 in" in output, "a switch that the kernel counted and the log lacks is noticed", output)
        log = made_log()
        come_late(log)
        status, output = judge(folder, made_truth(), log)
        report(len(WRONG) + 4, status == 0, "what the scheduler calls CPU time before the thread had a CPU is accepted", output)
        status, output = judge(folder, [], made_log())
        report(len(WRONG) + 3, status == 1 and "said nothing" in output, "a program that says nothing proves nothing", output)
        for number, (name, left, said, is_right) in enumerate(UNTIL, len(WRONG) + 5):
            truth, log = made_truth(), made_log()
            truth[SLEEPER]["until_ns"] = log[3]["end_ns"] + left
            log[3].update(object=hex(said))
            status, output = judge(folder, truth, log)
            report(number, (status == 0) == is_right and (is_right or f"slept for {said} ns, {left} before" in output), f"a sleep to a moment {name}", output)
        for number, (name, spoil, facts, complaint) in enumerate(ACCOUNTS, len(WRONG) + len(UNTIL) + 5):
            truth, log = made_truth(), made_log()
            if spoil:
                spoil(truth, log)
            status, output = judge(folder, truth, log, made_account(**facts))
            is_fine = status == 1 and complaint in output if complaint else status == 0 and " 0 problems" in output
            report(number, is_fine, f"the scheduler's account: {name}", output)
        number = len(WRONG) + len(UNTIL) + len(ACCOUNTS) + 5
        lines = lack_switches(span_cnt=50, hidden_cnt=3)
        report(number, not lines, "the scheduler's account: one that lacks few switches is accepted, if half of the spans can be compared", "\n".join(lines))
        lines = lack_switches(span_cnt=51, hidden_cnt=3)
        report(number + 1, lines == ["account: 51 of 100 spans cannot be compared: the kernel counted switches that it does not have"],
               "the scheduler's account: one that lacks few switches, in most of the spans, is noticed", "\n".join(lines))
        lines = lack_switches(span_cnt=4, hidden_cnt=4)
        report(number + 2, lines == ["account: 4 of 20 stays on a CPU lack a switch that the kernel counted"],
               "the scheduler's account: one that lacks many switches is noticed", "\n".join(lines))
        hidden_ns = hidden_on_a_cpu(folder)
        report(number + 3, hidden_ns == [0, MS + sched_account.EDGE_NS], "the scheduler's account: who had a CPU while it was switched unseen is not known",
               f"{hidden_ns} ns")
        known_ns = hidden_within_a_stay(folder)
        report(number + 4, known_ns == MS, "the scheduler's account: two switches that were hidden within a stay are known to be missing", f"{known_ns} ns of {MS}")
        asleep_ns = hidden_wakeup(folder)
        report(number + 7, asleep_ns == 5 * MS, "the scheduler's account: a wakeup that was done before the thread left ends no sleep of its", f"{asleep_ns} ns of {5 * MS}")
        unsure_ns = hidden_wakeup(folder, 102 * MS + 480_000, unordered=[(102 * MS, 103 * MS)])
        report(number + 8, unsure_ns == 5 * MS, "the scheduler's account: nor does one that may have been done before", f"{unsure_ns} ns of {5 * MS}")
        lines = sleep_less(is_each_preempted=True)
        report(number + 5, not lines, "sleeps that are too short by as much as each was preempted are accepted", "\n".join(lines))
        lines = sleep_less(is_each_preempted=False)
        report(number + 6, len(lines) == 1, "sleeps that are too short where one was not preempted are noticed", "\n".join(lines))
    print(f"1..{number + 8}")


if __name__ == "__main__":
    main()
