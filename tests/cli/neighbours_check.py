# SPDX-License-Identifier: BSD-2-Clause
"""Who had the CPU, against a second computation of the same from `txtrace export -f jsonl`.

neighbours_check.py random SEED [lossy]               a log for make_log: tasks on three CPUs, some of them traced, in spans, moved from CPU to CPU
neighbours_check.py compare JSONL NEIGHBOURS.json [ACCOUNT]   txtrace neighbours --json, by label or thread; by the scheduler's account (tests/account),
    who had a CPU may be unknown only where switches of that CPU were hidden, while a thread that was made or woken was not in a queue yet, if it
    was woken while it left its CPU, and if the kernel hid that it moved

Prints what is wrong; exit status 1 if anything is. docs/attribution.md, "Neighbours", has the definitions.
"""
import json
import os
import random
import sys
from collections import defaultdict

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "e2e"))
import sched_account  # noqa: E402

# ---- random ----


class Task:
    def __init__(self, pid, tid, is_traced):
        self.pid, self.tid, self.is_traced, self.comm = pid, tid, is_traced, ("t" if is_traced else "noisy-") + str(tid)
        self.state, self.since, self.blocked, self.cpu, self.spans = "blocked", 1000, 0, 0, []


class World:
    """What the recorder would write: a CPU's stays are told while a traced thread waits for it, from when the first one began to."""

    def __init__(self, seed, is_lossy):
        self.rng, self.is_lossy = random.Random(int(seed)), is_lossy
        self.now, self.next_id = 1000, 1
        self.tasks = [Task(10, 10 + i, True) for i in range(3)] + [Task(20, 20, True)] + [Task(30 + i, 30 + i, False) for i in range(3)]
        self.has = [None] * 3        # who has each CPU; None: it is idle
        self.got = [1000] * 3        # when
        self.watched = [None] * 3    # since when

    def waiting(self, cpu):
        return [task for task in self.tasks if task.state == "runnable" and task.cpu == cpu]

    def watch(self, cpu):
        if not any(task.is_traced for task in self.waiting(cpu)):
            self.watched[cpu] = None
        elif self.watched[cpu] is None:
            self.watched[cpu] = self.now

    def other_run(self, cpu, moved=None):
        task = self.has[cpu]
        begin = max(self.watched[cpu], self.got[cpu])
        who = f'pid={task.pid} tid={task.tid} comm="{task.comm}"' if task else ""
        print(f"other_run begin_ns={begin} end_ns={self.now} cpu={cpu} {who} stolen_ns={self.stolen(self.now - begin)}" +
              (f" moved_pid={moved.pid} moved_tid={moved.tid}" if moved else ""))

    def stolen(self, length):
        """Of some stays a part, and of some more than there is, which a damaged log may say."""
        return self.rng.randrange(length + length // 8 + 1) if self.rng.random() < 0.2 else 0

    def run(self, task, how):
        print(f"run begin_ns={self.got[task.cpu]} end_ns={self.now} pid={task.pid} tid={task.tid} cpu={task.cpu} blocked_ns={task.was_blocked}"
              f" runnable_ns={task.was_runnable} idle_ns={task.was_idle} left_as={how} stolen_ns={self.stolen(self.now - self.got[task.cpu])}"
              f" idle_stolen_ns={self.stolen(task.was_idle)}" + (" reason=lock syscall_nr=202" if how == "blocked" else ""))

    def switch(self, cpu):
        """To somebody else, or to nobody."""
        before, queue = self.has[cpu], self.waiting(cpu)
        task = self.rng.choice(queue) if queue and self.rng.random() < 0.9 else None
        if task is before:
            return
        begin = max(self.watched[cpu], self.got[cpu]) if self.watched[cpu] is not None else None
        if begin is not None and not (before and before.is_traced) and (before or not (task and task.is_traced)) and begin < self.now:
            self.other_run(cpu)
        if before:
            how = "preempted" if self.rng.random() < 0.6 else "blocked"
            if before.is_traced:
                self.run(before, how)
            before.state, before.since = "runnable" if how == "preempted" else "blocked", self.now
        if task:
            task.was_blocked, task.was_runnable = task.blocked, self.now - task.since
            task.was_idle = 0 if before or begin is None else min(task.was_runnable, self.now - begin)
            task.state, task.blocked = "running", 0
            if task.is_traced and before is None and begin is not None and self.now - begin > task.was_runnable:
                self.other_run(cpu)  # others have waited for longer while it was idle
        self.has[cpu] = task
        self.got[cpu] = self.now
        self.watch(cpu)

    def wake(self, task):
        task.blocked, task.state, task.since = self.now - task.since, "runnable", self.now
        task.cpu = self.rng.randrange(3)
        self.watch(task.cpu)

    def move(self, task):
        cpu = self.rng.randrange(3)
        if cpu == task.cpu:
            return
        if task.is_traced:
            self.other_run(task.cpu, task)
        before, task.cpu = task.cpu, cpu
        self.watch(before)
        self.watch(cpu)

    def begin(self, task):
        task.spans.append((self.next_id, self.now, self.rng.choice("abc") if self.rng.random() < 0.9 else ""))
        self.next_id += 1

    def end(self, task):
        number, begin, label = task.spans.pop(self.rng.randrange(len(task.spans)))
        work = self.now - begin
        # Its runnable time: what all waits of the thread that have ended have in it, as the recorder's clocks have it.
        runnable = sum(max(0, min(to, self.now) - max(since, begin)) for since, to in task.waits)
        flags = "lower_bound,loss" if self.rng.random() < 0.1 else "none"
        if self.rng.random() < 0.3:
            print(f"stay enter_ns={begin} exit_ns={self.now} pid={task.pid} tid={task.tid} span={number} span_pid={task.pid}")
        print(f'span begin_ns={begin} end_ns={self.now} pid={task.pid} tid={task.tid} end_tid={task.tid} id={number} label="{label}" work_ns={work}'
              f" on_cpu_ns={work - runnable} runnable_ns={runnable} flags={flags}")

    def step(self):
        self.now += self.rng.randrange(1, 60)
        task, choice = self.rng.choice(self.tasks), self.rng.random()
        if self.is_lossy and choice < 0.01:
            print(f"loss first_ns={self.now - 30} last_ns={self.now} cpu=0 sched_event_cnt=2")
        if task.state == "blocked":
            self.wake(task)
        elif task.state == "runnable" and choice < 0.2:
            self.move(task)
        elif task.state == "runnable":
            self.switch(task.cpu)
        elif task.is_traced and choice < 0.3:
            self.begin(task)
        elif task.spans and choice < 0.6:
            self.end(task)
        else:
            self.switch(task.cpu)

    def play(self):
        print('header pid=10 cpus=3 command="random" start_monotonic_ns=0')
        for task in self.tasks:
            task.waits = []
            if task.is_traced:
                print(f'thread time_ns=1000 pid={task.pid} tid={task.tid} comm="{task.comm}" seed=1')
        for _ in range(3000):
            states = {task: (task.state, task.since) for task in self.tasks}
            self.step()
            for task, (state, since) in states.items():
                if state == "runnable" and task.state == "running":
                    task.waits.append((since, self.now))
        for cpu in range(3):  # what runs until the capture ends is told, too
            task = self.has[cpu]
            if task and task.is_traced:
                self.run(task, "unknown")
        print(f"summary time_ns={self.now}")


# ---- the second computation ----


def overlap(a, b):
    return max(a[0], b[0]), min(a[1], b[1])


def load(path):
    with open(path) as lines:
        return [json.loads(line) for line in lines]


def find_gaps(records):
    return [(r["first_ns"], r["last_ns"]) for r in records if r["type"] == "dropped" or (r["type"] == "loss" and r["sched_event_cnt"])]


def find_stays(records):
    """By thread: (enter, exit, label, is exact), in the order of the enters."""
    pending, stays = defaultdict(list), defaultdict(list)
    for r in records:
        if r["type"] == "stay":
            pending[r["keyed"] or r["span_pid"], r["span"]].append((r["pid"], r["tid"], r["enter_ns"], r["exit_ns"]))
        elif r["type"] == "span":
            own = pending.pop((r["keyed"] or r["pid"], r["id"]), None)
            own = own or [(r["pid"], r["end_tid"] or r["tid"], r["begin_ns"] + r["detached_ns"], r["end_ns"])]
            for pid, tid, enter, leave in own:
                stays[pid, tid].append((enter, leave, r["label"], not r["lower_bound"]))
    for key in pending:
        for pid, tid, enter, leave in pending[key]:
            stays[pid, tid].append((enter, leave, None, False))
    for of_thread in stays.values():
        of_thread.sort(key=lambda stay: (stay[0], -stay[1]))
    return stays


def cut(part, stays):
    """The time, in pieces by the span that was entered last."""
    bounds = sorted({part[0], part[1], *(t for stay in stays for t in stay[:2] if part[0] < t < part[1])})
    for begin, end in zip(bounds, bounds[1:]):
        inside = [stay for stay in stays if stay[0] <= begin < stay[1]]
        yield (begin, end), inside[-1] if inside else None


HYPERVISOR = object()


def split(begin, end, length, stolen):
    """Of what is left of a stay of that length: what the CPU was had, and what was stolen of it, at its end. What was cut off has as much of that as it can have."""
    stolen = min(max(0, stolen - (length - (end - begin))), end - begin)
    return (begin, end - stolen), (end - stolen, end)


def pieces_of(cpu_stays, part, me):
    for stay in cpu_stays:
        begin, end = overlap(part, stay)
        if begin < end and stay[2:4] != me:
            had, stolen = split(begin, end, stay[1] - stay[0], stay[5])
            yield had, stay
            yield stolen, HYPERVISOR


def holes_in(pieces, begin, end):
    """What of a time is in none of the pieces, which are in order."""
    for first, last in [*pieces, (end, end)]:
        if begin < first:
            yield begin, min(first, end)
        begin = max(begin, last)


def compute(records, by):
    """How long each waited, who had the CPU meanwhile, and the waits of which that is unknown: (tid, cpu, from, to)."""
    gaps, stays = find_gaps(records), find_stays(records)
    cpus, moves, names = defaultdict(list), defaultdict(list), {}
    totals, sums, unknown = defaultdict(int), defaultdict(int), []

    def had(cpu, begin, end, pid, tid, name, stolen, cut=0):
        first = max(begin, cpus[cpu][-1][1] if cpus[cpu] else 0)
        if first < end:
            cpus[cpu].append((first, end, pid, tid, name, max(0, stolen - cut - (first - begin))))

    def charge(run, part, who):
        if by == "thread":
            sums[(run["pid"], run["tid"]), who] += part[1] - part[0]
            return
        for enter, leave, label, is_exact in stays[run["pid"], run["tid"]]:
            begin, end = overlap(part, (enter, leave))
            if is_exact and begin < end:
                sums[label, who] += end - begin

    def wait(run):
        at, end, me = run["begin_ns"] - run["runnable_ns"], run["begin_ns"], (run["pid"], run["tid"])
        if by == "thread":
            totals[me] += run["runnable_ns"]
        if any(first <= end and last >= at for first, last in gaps):
            return
        legs = [(to, cpu) for to, cpu in moves[me] if at < to <= end] + [(end - run.get("idle_ns", 0), run["cpu"])]
        for to, cpu in legs:
            known = [overlap((at, to), stay) for stay in cpus[cpu] if stay[0] < to and stay[1] > at]
            unknown.extend((run["tid"], cpu, *hole) for hole in holes_in(known, at, to))
            for part, who in pieces_of(cpus[cpu], (at, to), me):
                if part[0] == part[1]:
                    continue
                if who is HYPERVISOR:
                    charge(run, part, ("hypervisor",))
                    continue
                _, _, pid, tid, name, _ = who
                if not tid:
                    charge(run, part, ("idle",))
                    continue
                for piece, stay in cut(part, stays[pid, tid]):
                    charge(run, piece, ("task", pid, tid, name, stay[2] if stay else None))
            at = max(at, to)
        if at < end:
            idle, stolen = split(at, end, min(run.get("idle_ns", 0), run["runnable_ns"]), run.get("idle_stolen_ns", 0))
            charge(run, idle, ("idle",))
            charge(run, stolen, ("hypervisor",))

    for r in records:
        if r["type"] == "thread" and r["comm"]:
            names[r["pid"], r["tid"]] = r["comm"]
        elif r["type"] == "span" and by == "label" and not r["lower_bound"]:
            totals[r["label"]] += r["runnable_ns"]
        elif r["type"] == "other_run":
            if r["moved_tid"]:
                moves[r["moved_pid"], r["moved_tid"]].append((r["end_ns"], r["cpu"]))
            if not r["nobody_known"]:
                had(r["cpu"], r["begin_ns"], r["end_ns"], r["pid"], r["tid"], r["comm"], r.get("stolen_ns", 0))
        elif r["type"] == "run":
            if r["runnable_ns"]:
                wait(r)
            moves.pop((r["pid"], r["tid"]), None)
            had(r["cpu"], r["begin_ns"] - r.get("idle_ns", 0), r["begin_ns"], 0, 0, "", r.get("idle_stolen_ns", 0))
            firsts = [first for first, last in gaps if first <= r["end_ns"] and last >= r["begin_ns"]]
            end = max(min(firsts + [r["end_ns"]]), r["begin_ns"])
            had(r["cpu"], r["begin_ns"], end, r["pid"], r["tid"], names.get((r["pid"], r["tid"]), ""), r.get("stolen_ns", 0), r["end_ns"] - end)
    return totals, sums, unknown


def is_place_untold(thread, before, after):
    """For which CPU it waited nobody tells: the wakeup came while it left its CPU, or the kernel hid that it moved."""
    is_overtaken = any(first <= before.end_ns[1] and last >= before.end_ns[0] for first, last in thread.wakeups)
    return is_overtaken or (before.cpu != after.cpu and not any(before.end_ns[0] <= move_ns <= after.begin_ns[1] for move_ns in thread.moves))


def untold(thread):
    return [(before.end_ns[0], after.begin_ns[1]) for before, after in zip(thread.stays, thread.stays[1:]) if is_place_untold(thread, before, after)]


def check_unknown(records, unknown, path):
    runs = [r for r in records if r["type"] == "run"]
    account = sched_account.Account(path, {run["tid"] for run in runs}, min(run["begin_ns"] for run in runs))
    # two of them may begin to watch a CPU at the same time: then it is watched from the later one on
    wakeups = [tuple(wakeup) for thread in account.threads.values() for wakeup in thread.wakeups]
    for tid, cpu, begin, end in unknown:
        excused = [*account.cpus[cpu].hidden, *account.threads[tid].hidden, *wakeups, *untold(account.threads[tid])]
        ns = end - begin - sched_account.covered(excused, begin, end)
        if ns:
            yield f"who had CPU {cpu} while thread {tid} waited is unknown for {end - begin} ns from {begin}; {ns} of them have no reason"


def compare(jsonl, said, account=None):
    said, records = json.load(open(said)), load(jsonl)
    totals, sums, unknown = compute(records, said["by"])
    seen, wrong = {}, list(check_unknown(records, unknown, account)) if account else []
    for row in said["rows"]:
        who = row["label"] if said["by"] == "label" else (row["pid"], row["tid"])
        seen[who] = row["runnable_ns"]
        if row["unknown_ns"] + sum(cell["ns"] for cell in row["neighbours"]) != row["runnable_ns"]:
            wrong.append(f"{who}: does not add up: {row}")
        for cell in row["neighbours"]:
            key = (cell["kind"],) if cell["kind"] != "task" else ("task", cell["pid"], cell["tid"], cell["name"] or "", cell["label"])
            expected = sums.pop((who, key), 0)
            if expected != cell["ns"]:
                wrong.append(f"{who}: {key}: {cell['ns']} ns, not {expected}")
    wrong += [f"{who}: {key}: {ns} ns are missing" for (who, key), ns in sums.items() if ns]
    totals = {who: ns for who, ns in totals.items() if ns}
    if totals != seen:
        wrong.append(f"runnable: {seen}, not {totals}")
    if not seen:
        wrong.append("nobody waited")
    print("\n".join(wrong[:20]))
    return bool(wrong)


if __name__ == "__main__":
    if sys.argv[1] == "random":
        World(sys.argv[2], "lossy" in sys.argv[3:]).play()
    else:
        sys.exit(compare(*sys.argv[2:]))
