# SPDX-License-Identifier: BSD-2-Clause
"""
What the kernel's scheduler accounted while a program was traced, as tests/account/sched_account wrote it: for each
thread its stays on a CPU and the waits before them, by the kernel's tracepoints; for each CPU what was removed from the
scheduler's clock (what a hypervisor stole, and on some kernels what interrupts took).

One of our programs runs before the recorder's at the same tracepoint, and one after it. So the recorder's time of a
switch or wakeup lies between two known times, even where a hypervisor takes the CPU between them and nobody counts it.
From these times follow bounds for on-CPU and runnable of each span.

The program reads its CPU time from the scheduler, which leaves out what was removed. For a span without a switch, that is
the only difference. At a switch the scheduler uses a clock that it has read before, so for a span with switches only the
bounds are compared.

Where another program was attached just then, the one after it may not be the last: such a switch may have taken
EDGE_NS.

Some machines hide switches even from the kernel's tracepoints. The kernel's counts show that: how often a thread came
onto a CPU, how often it left one, and that a sleeping thread comes back only after a wakeup. What the thread did in that
stretch is not known. Of a wakeup whose end is hidden it is known that the thread was in a queue when it got its CPU, at the
latest: where an idle CPU takes a thread into its queue for another one, its hypervisor may let it wait. Each CPU counts its switches, too: who had the CPU between two that are not consecutive is not known.
"""
import bisect
import collections
import functools
import gzip
import os
import struct

SAMPLE = struct.Struct("=4Q6I2Q")  # struct account_sample
SWITCH, WAKING, TICK, SWITCHED, WOKEN, SLEEP, UNORDERED, HIDDEN, MOVED = 1, 2, 3, 4, 5, 6, 7, 8, 9
MARGIN_NS = 1_000_000_000
EDGE_NS = 50_000  # where the kernel's next step is not on the account: so long it may have taken
FOREVER = float("inf")


class Stay:
    """A thread's stay on a CPU. begin_ns, end_ns: [no less than, no more than], as all times of a switch here."""

    def __init__(self, cpu, begin_ns):
        self.cpu, self.begin_ns, self.end_ns = cpu, begin_ns, [FOREVER, FOREVER]
        self.ready_ns = None    # when the wait before it began; None: unknown
        self.counted_ns = None  # how long the thread has waited since the stay before, by the scheduler's account
        self.waking_ns = None   # the wakeup, of one that slept: it may have overtaken the switch-out
        self.clock_ns = self.left_clock_ns = None  # by the clock of its queue, when it began and when it ended, for the scheduler


class Cpu:
    """
    What was removed from a CPU's clock up to certain moments, and what its steal clock showed: between two of them it is not
    known when. The kernel may remove less than was stolen (sched_account.h).
    """

    def __init__(self):
        self.times, self.removed, self.stolen = [], [], []
        self.hidden = []  # intervals in which it was switched unseen, whoever had it

    def add(self, time_ns, since_ns, removed_ns, stolen_ns):
        if self.times and since_ns > self.times[-1]:
            self.times.append(since_ns)
            self.removed.append(self.removed[-1])
            self.stolen.append(self.stolen[-1])
        self.times.append(time_ns)
        self.removed.append(removed_ns)
        self.stolen.append(stolen_ns)

    def settle(self):
        """All samples are there. The sum only grows: one that says more than a later one was read between two clocks."""
        for i in range(len(self.removed) - 2, -1, -1):
            self.removed[i] = min(self.removed[i], self.removed[i + 1])

    def between(self, begin_ns, end_ns):
        """[no less than, no more than], by one of the two clocks"""
        if not self.times:
            return [0, 0]
        last = len(self.times) - 1
        first_inside, last_inside = bisect.bisect_left(self.times, begin_ns), bisect.bisect_right(self.times, end_ns) - 1
        last_before, first_after = bisect.bisect_right(self.times, begin_ns) - 1, bisect.bisect_left(self.times, end_ns)
        return [min(clock[last_inside] - clock[first_inside] for clock in (self.removed, self.stolen)) if first_inside < last_inside else 0,
                max(clock[min(first_after, last)] - clock[max(last_before, 0)] for clock in (self.removed, self.stolen))]


class Thread:
    """hidden: intervals in which a switch of the thread's is missing."""

    def __init__(self):
        self.stays, self.hidden, self.waking_ns, self.is_asleep = [], [], [0, 0], False
        self.moves = []  # when it went to the queue of another CPU
        self.wakeups = []  # from, to: from its waking, or its making, until it was in a queue
        self.unended = []  # of these: those of which the end is hidden
        self.unsure_ns = None  # the last of these of which it is not known when it ended, as programs were out of order
        self.arrival_cnt = self.delay_ns = None  # the number that the scheduler has next; of the last time that it came

    def is_on_cpu(self):
        return bool(self.stays) and self.stays[-1].end_ns[0] == FOREVER

    def leave(self, cpu, time_ns, is_asleep, clock_ns):
        self.is_asleep = is_asleep
        if not self.is_on_cpu() or self.stays[-1].cpu != cpu:
            begin_ns = 0 if not self.stays else self.stays[-1].begin_ns[0] if self.is_on_cpu() else self.stays[-1].end_ns[0]
            self.hidden.append((begin_ns, time_ns[1]))
            if self.is_on_cpu():  # it left that CPU, and came to this one, somewhere in between
                self.stays[-1].end_ns = [begin_ns, time_ns[1]]
            self.stays.append(Stay(cpu, [begin_ns, time_ns[1]]))
            if self.arrival_cnt is not None:
                self.arrival_cnt += 1
        self.stays[-1].end_ns, self.stays[-1].left_clock_ns = time_ns, clock_ns

    def end_wakeup(self, wakeup, time_ns):
        """It comes onto a CPU, and nobody saw it come into a queue."""
        wakeup[1] = max(wakeup[1], time_ns)
        self.unended.append(wakeup)

    def is_wakeup_hidden(self):
        """
        It may be woken when it is about to leave its CPU, but not before it came there; nor is it asleep after a wakeup that was done
        before it left, or that may have been.
        """
        was_before = self.waking_ns[0] < self.stays[-1].end_ns[0] if self.waking_ns is self.unsure_ns else self.waking_ns[1] < self.stays[-1].end_ns[0]
        return self.is_asleep and (self.waking_ns[0] < self.stays[-1].begin_ns[0] or was_before)

    def arrive(self, cpu, time_ns, delay_ns, arrival_cnt, is_counted, clock_ns):
        # A thread that has come less often than the one before it is another one, which has its number.
        stay, is_first = Stay(cpu, time_ns), self.arrival_cnt is None or arrival_cnt < self.arrival_cnt
        if self.is_on_cpu():
            self.hidden.append((self.stays[-1].begin_ns[0], time_ns[1]))
            self.stays[-1].end_ns = [self.stays[-1].begin_ns[0], time_ns[1]]
        elif not is_first and arrival_cnt != self.arrival_cnt:  # it left and came once more, perhaps within what looks like one stay
            self.hidden.append((self.stays[-1].begin_ns[0], time_ns[1]))
        elif not is_first and self.is_wakeup_hidden():
            self.hidden.append((self.stays[-1].end_ns[0], time_ns[1]))
        if self.arrival_cnt is None and self.stays:  # it was running when the account began: how long it has waited is not known
            self.hidden.append((self.stays[-1].end_ns[0], time_ns[0]))
        if not is_first:
            # One that was preempted waits from then on, also if it was about to sleep and is woken meanwhile.
            left_ns = self.stays[-1].end_ns
            stay.ready_ns = self.waking_ns if self.is_asleep and self.waking_ns[0] > left_ns[0] else left_ns
            stay.counted_ns = delay_ns - self.delay_ns
            stay.waking_ns = self.waking_ns if self.is_asleep else None
        stay.clock_ns = clock_ns if is_counted else None
        self.arrival_cnt, self.delay_ns = arrival_cnt + is_counted, delay_ns
        self.stays.append(stay)


class Account:
    """tids: of which threads. begin_ns: nobody asks for what was before that."""

    def __init__(self, path, tids, begin_ns=0):
        self.cpus, self.threads = collections.defaultdict(Cpu), collections.defaultdict(Thread)
        switching, waking = {}, {}  # the times that are still open: by CPU, by thread
        samples = read_samples(path, begin_ns)
        unordered = collections.deque(sorted((sample[1], sample[0]) for sample in samples if sample[6] == UNORDERED))  # from, to
        for time_ns, since_ns, removed_ns, delay_ns, arrival_cnt, cpu, kind, tid, next_tid, is_counted, stolen_ns, clock_ns in samples:
            if kind == UNORDERED:
                continue
            if kind == HIDDEN:
                self.cpus[cpu].hidden.append((since_ns, time_ns + EDGE_NS))
                continue
            self.cpus[cpu].add(time_ns, since_ns, removed_ns, stolen_ns)
            if kind == SWITCHED and cpu in switching:
                moment = switching.pop(cpu)
                moment[1] = max(time_ns, moment[1]) if lies_in(unordered, time_ns) else time_ns
            elif kind == WOKEN and tid in waking:
                moment, is_unsure = waking.pop(tid), lies_in(unordered, time_ns)
                moment[1] = max(time_ns, moment[1]) if is_unsure else time_ns
                if is_unsure and tid in tids:
                    self.threads[tid].unsure_ns = moment
            elif kind == MOVED and tid in tids:
                self.threads[tid].moves.append(time_ns)
            elif kind == WAKING and tid in tids:
                waking[tid] = self.threads[tid].waking_ns = [time_ns, time_ns + EDGE_NS]
                self.threads[tid].wakeups.append(waking[tid])
            elif kind in (SWITCH, SLEEP):
                moment = switching[cpu] = [time_ns, time_ns + EDGE_NS]
                if tid in tids:
                    self.threads[tid].leave(cpu, moment, kind == SLEEP, clock_ns)
                if next_tid in waking:
                    self.threads[next_tid].end_wakeup(waking.pop(next_tid), time_ns)
                if next_tid in tids:
                    self.threads[next_tid].arrive(cpu, moment, delay_ns, arrival_cnt, is_counted, clock_ns)
        for cpu in self.cpus.values():
            cpu.settle()

    def within(self, tid, begin_ns, end_ns):
        """The stays of a thread of which a part lies between two moments."""
        stays = self.threads[tid].stays
        first = max(0, bisect.bisect_right(stays, begin_ns, key=lambda stay: stay.begin_ns[0]) - 1)
        last = bisect.bisect_right(stays, end_ns, key=lambda stay: stay.begin_ns[0])
        return [stay for stay in stays[first:last] if stay.end_ns[1] >= begin_ns]

    def removed_ns(self):
        """In all, on all CPUs."""
        return sum(cpu.removed[-1] - cpu.removed[0] for cpu in self.cpus.values())


def lies_in(intervals, time_ns):
    """Of a queue of them, in order; those that were before that time are taken off."""
    while intervals and intervals[0][1] < time_ns:
        intervals.popleft()
    return bool(intervals) and intervals[0][0] <= time_ns


def read_samples(path, begin_ns):
    """In order. A test's file has all its cases one after the other; the CPUs' samples lie in it nearly in order."""
    with open(path, "rb") as file:
        data = file.read()
    sample_cnt = len(data) // SAMPLE.size
    first = bisect.bisect_left(range(sample_cnt), begin_ns - MARGIN_NS, key=lambda i: SAMPLE.unpack_from(data, i * SAMPLE.size)[0])
    return sorted(SAMPLE.iter_unpack(data[first * SAMPLE.size:sample_cnt * SAMPLE.size]))


@functools.cache
def removes_interrupts():
    """Does this kernel remove from the clock what interrupts took, too? TXTRACE_REMOVED: "steal" says that it does not."""
    if os.environ.get("TXTRACE_REMOVED") == "steal":
        return False
    try:
        with gzip.open("/proc/config.gz", "rt") as config:
            return "CONFIG_IRQ_TIME_ACCOUNTING=y\n" in config
    except OSError:
        return True  # not known


# ---- a span ----


def length(begin_ns, end_ns):
    return max(0, end_ns - begin_ns)


class Expected:
    """What a span's times must be: each [no less than, no more than]."""

    def __init__(self):
        self.on_cpu_ns, self.runnable_ns, self.counted_ns, self.removed_ns = [0, 0], [0, 0], [0, 0], [0, 0]
        self.switch_cnt = 0  # that the account has
        self.stays = set()   # thread, from: the stays on a CPU that are in it, or a part of them
        self.hidden = set()  # thread, from, to: there it is not known what the thread did, for a switch is missing


def add(bounds, least, most):
    bounds[0] += least
    bounds[1] += most


def add_stay(expected, stay, inner, around, cpu):
    """What of a stay is in the span, and the wait before it."""
    inside = max(stay.begin_ns[1], inner[0]), min(stay.end_ns[0], inner[1])
    outside = max(stay.begin_ns[0], around[0]), min(stay.end_ns[1], around[1])
    add(expected.on_cpu_ns, length(*inside), length(*outside))
    add(expected.removed_ns, cpu.between(*inside)[0] if inside[0] < inside[1] else 0, cpu.between(*outside)[1])
    expected.switch_cnt += inner[0] <= stay.end_ns[0] <= inner[1]
    if stay.counted_ns is None or not around[0] <= stay.begin_ns[0] <= around[1]:
        return
    is_inside = stay.begin_ns[0] >= inner[0] and stay.begin_ns[1] <= inner[1]
    least, most = length(stay.ready_ns[1], stay.begin_ns[0]), length(stay.ready_ns[0], stay.begin_ns[1])
    add(expected.runnable_ns, least if is_inside else 0, most)
    add(expected.counted_ns, stay.counted_ns if is_inside else 0, stay.counted_ns)


def covered(intervals, begin_ns, end_ns):
    """How much of the time between two moments they cover together."""
    sum_ns = 0
    for first, last in sorted(intervals):
        sum_ns += length(max(first, begin_ns), min(last, end_ns))
        begin_ns = max(begin_ns, last)
    return sum_ns


def expect(account, stays):
    """Over all stays of threads in a span, as the program tells of them."""
    expected = Expected()
    for told in stays:
        inner, around = (told["begin_ns"], told["end_ns"]), told["around_ns"]
        for stay in account.within(told["tid"], *around):
            add_stay(expected, stay, inner, around, account.cpus[stay.cpu])
            expected.stays.add((told["tid"], stay.begin_ns[0]))
        hidden = account.threads[told["tid"]].hidden
        expected.hidden.update((told["tid"], *interval) for interval in hidden if covered([interval], *around))
    return expected
