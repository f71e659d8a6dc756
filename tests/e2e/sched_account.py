# SPDX-License-Identifier: BSD-2-Clause
"""
What the kernel's scheduler accounted while a program was traced, as tests/account/sched_account wrote it: for each thread its stays on a CPU and the waits
before them, in the times of the tracepoints and in the clocks by which the scheduler counts; for each CPU what was removed from its clock (stolen time).

The scheduler's figures (CPU time, run delay) and the times of the tracepoints are of the same switches, and differ for three reasons, all of which are here:

  removed  What a hypervisor steals, and on some kernels what interrupts take, is not CPU time to the scheduler.
  stale    The scheduler reads its clock, then does a switch by it: the tracepoint comes later. Between a wakeup and the switch that follows at once it
           does not read it again at all. The account of a thread that leaves ends even before that, if its CPU then looks for other work. So a thread that comes has a CPU earlier by its account, and one that goes leaves earlier.
  uncounted  A wait begins by its account when the thread is in a queue. Its wakeup may be long before that: an interrupt brings it to another CPU.
"""
import bisect
import collections
import struct

SAMPLE = struct.Struct("=5Q6I")  # struct account_sample
SWITCH, WAKING, TICK = 1, 2, 3
KIND = 7  # its place in a sample
TICK_NS = 10_000_000  # the longest time between two of a kernel's ticks: what was stolen is accounted at the next one, at the latest
MARGIN_NS = 1_000_000_000
EDGE_NS = 50_000  # from our program to that of txtrace-bpf at one tracepoint: what an exit to the hypervisor takes that it does not call stolen


class Stay:
    """A thread's stay on a CPU. Some machines hide switches even from the kernel's tracepoints: of one that was hidden, the time is not known."""

    def __init__(self, cpu, begin_ns, stale_ns, is_begin_known=True):
        self.cpu, self.begin_ns, self.begin_stale_ns, self.is_begin_known = cpu, begin_ns, stale_ns, is_begin_known
        self.end_ns, self.end_stale_ns, self.is_end_known = float("inf"), 0, False
        self.ready_ns = None           # when the wait before it began; None: unknown
        self.counted_ns = None         # how long that was, by the scheduler's account
        self.is_wait_exact = False     # no switch was hidden since the stay before


class Cpu:
    """What was removed from a CPU's clock up to certain moments: between two of them it is not known when."""

    def __init__(self):
        self.times, self.removed = [], []

    def add(self, time_ns, since_ns, removed_ns):
        if self.times and since_ns > self.times[-1]:
            self.times.append(since_ns)
            self.removed.append(self.removed[-1])
        self.times.append(time_ns)
        self.removed.append(removed_ns)

    def between(self, begin_ns, end_ns):
        """[no less than, no more than]"""
        if not self.times:
            return [0, 0]
        last = len(self.times) - 1
        first_inside, last_inside = bisect.bisect_left(self.times, begin_ns), bisect.bisect_right(self.times, end_ns) - 1
        last_before, first_after = bisect.bisect_right(self.times, begin_ns) - 1, bisect.bisect_left(self.times, end_ns)
        least = self.removed[last_inside] - self.removed[first_inside] if first_inside < last_inside else 0
        return [least, self.removed[min(first_after, last)] - self.removed[max(last_before, 0)]]


class Account:
    """tids: of which threads. begin_ns: nobody asks for what was before that."""

    def __init__(self, path, tids, begin_ns=0):
        samples = read_samples(path, begin_ns)
        self.cpus, self.stays = collections.defaultdict(Cpu), collections.defaultdict(list)
        offsets = clock_offsets(samples)
        wakings, arrivals = {}, {}
        for time_ns, since_ns, removed_ns, clock_ns, delay_ns, arrival_cnt, cpu, kind, tid, next_tid, ended_ns in samples:
            self.cpus[cpu].add(time_ns, since_ns, removed_ns)
            if kind == WAKING and tid in tids:
                wakings[tid] = time_ns
            if kind != SWITCH:
                continue
            stale_ns = time_ns - clock_ns - offset_at(offsets, time_ns)
            if tid in tids:
                self.leave(tid, cpu, time_ns, stale_ns + ended_ns)
            if next_tid in tids:
                self.arrive(next_tid, Stay(cpu, time_ns, stale_ns), wakings.get(next_tid, 0), (delay_ns, arrival_cnt), arrivals)

    def leave(self, tid, cpu, time_ns, stale_ns):
        stays = self.stays[tid]
        if not stays or stays[-1].is_end_known:
            stays.append(Stay(cpu, stays[-1].end_ns if stays else float("-inf"), 0, False))
        stays[-1].end_ns, stays[-1].end_stale_ns, stays[-1].is_end_known = time_ns, stale_ns, True

    def arrive(self, tid, stay, waking_ns, counts, arrivals):
        stays = self.stays[tid]
        if stays and not stays[-1].is_end_known:
            stays[-1].end_ns = stay.begin_ns
        if stays and tid in arrivals:
            stay.ready_ns = max(waking_ns, stays[-1].end_ns)
            stay.counted_ns = counts[0] - arrivals[tid][0]
            stay.is_wait_exact = stays[-1].is_end_known and stays[-1].is_begin_known and counts[1] == arrivals[tid][1] + 1
        arrivals[tid] = counts
        stays.append(stay)

    def within(self, tid, begin_ns, end_ns):
        """The stays of a thread of which a part lies between two moments."""
        stays = self.stays[tid]
        first = max(0, bisect.bisect_right(stays, begin_ns, key=lambda stay: stay.begin_ns) - 1)
        return [stay for stay in stays[first:bisect.bisect_right(stays, end_ns, key=lambda stay: stay.begin_ns)] if stay.end_ns >= begin_ns]

    def removed_ns(self):
        """In all, on all CPUs."""
        return sum(cpu.removed[-1] - cpu.removed[0] for cpu in self.cpus.values())

    def removed_anywhere_ns(self, begin_ns, end_ns):
        return sum(cpu.between(begin_ns, end_ns)[1] for cpu in self.cpus.values())


def read_samples(path, begin_ns):
    """In order. A test's file has all its cases one after the other; the CPUs' samples lie in it nearly in order."""
    with open(path, "rb") as file:
        data = file.read()
    sample_cnt = len(data) // SAMPLE.size
    first = bisect.bisect_left(range(sample_cnt), begin_ns - MARGIN_NS, key=lambda i: SAMPLE.unpack_from(data, i * SAMPLE.size)[0])
    return sorted(SAMPLE.iter_unpack(data[first * SAMPLE.size:sample_cnt * SAMPLE.size]))


def clock_offsets(samples):
    """
    By how much CLOCK_MONOTONIC is ahead of the scheduler's clock, at some moments. The scheduler's clock has been read before the sample, how long before
    is what we want to know: the lower convex hull of all samples is made of those that follow at once, and allows for clocks that drift apart.
    """
    hull = []
    for sample in samples:
        if sample[KIND] != SWITCH:
            continue
        time_ns, ahead_ns = sample[0], sample[0] - sample[3]
        while len(hull) > 1 and (ahead_ns - hull[-2][1]) * (hull[-1][0] - hull[-2][0]) <= (hull[-1][1] - hull[-2][1]) * (time_ns - hull[-2][0]):
            hull.pop()
        hull.append((time_ns, ahead_ns))
    return hull


def offset_at(hull, time_ns):
    after = min(max(1, bisect.bisect_right(hull, (time_ns, 0))), len(hull) - 1)
    (begin_ns, begin), (end_ns, end) = hull[after - 1], hull[after]
    return begin + (end - begin) * (time_ns - begin_ns) // max(1, end_ns - begin_ns)


# ---- against a log ----


def overlap(stay, begin_ns, end_ns):
    return max(stay.begin_ns, begin_ns), min(stay.end_ns, end_ns)


class Difference:
    """By how much tracepoints and scheduler must differ on one span: each [no less than, no more than]."""

    def __init__(self):
        self.on_cpu_ns, self.runnable_ns = [0, 0], [0, 0]
        self.switch_cnt, self.unsure_ns = 0, 0  # unsure: both ways, where the log does not have the switch

    def add(self, bounds, least, most):
        bounds[0] += least
        bounds[1] += most

    def add_removed(self, account, stay, inner, around):
        cpu = account.cpus[stay.cpu]
        inside, outside = overlap(stay, *inner), overlap(stay, *around)
        if outside[0] < outside[1]:
            least = cpu.between(*inside)[0] if inside[0] < inside[1] and stay.is_begin_known and stay.is_end_known else 0
            self.add(self.on_cpu_ns, least, cpu.between(*outside)[1])

    def add_edge(self, bounds, ns, time_ns, inner, around, is_exact=True):
        """A switch between the two moments counts; one that is only just around them may count."""
        if is_exact and inner[0] <= time_ns <= inner[1]:
            self.add(bounds, ns, ns)
        elif around[0] <= time_ns <= around[1]:
            self.add(bounds, min(ns, 0), max(ns, 0))


class Comparison:
    """
    The recorder's program runs after ours at the same tracepoint. So what it has for a time is what we have, unless the CPU was taken just there: then that is
    on the account. What is not is reported: report(where, what).
    """

    def __init__(self, account, runs, report):
        self.account, self.runs, self.report = account, runs, report
        self.judged = {}

    def is_on_account(self, difference_ns, begin_ns, end_ns):
        taken_ns = self.account.removed_anywhere_ns(begin_ns, end_ns + TICK_NS) if abs(difference_ns) > EDGE_NS else 0
        return abs(difference_ns) <= EDGE_NS + taken_ns

    def own(self, tid, what, time_ns, logged_ns, begin_ns):
        """What the log has, where the kernel's account allows it; else what we have."""
        difference_ns = logged_ns - time_ns
        key = (tid, what, begin_ns)
        if key not in self.judged:
            self.judged[key] = self.is_on_account(difference_ns, begin_ns, begin_ns + abs(difference_ns))
            if not self.judged[key]:
                self.report(f"thread {tid} at {begin_ns}", f"{what} is {logged_ns} in the log, {time_ns} by the kernel's account")
        return logged_ns if self.judged[key] else time_ns

    def nearest(self, difference, tid, time_ns, field):
        """The record of the same switch; None: it was not seen, so the recorder's time of it is not known."""
        difference.switch_cnt += 1
        runs = self.runs.get(tid, [])
        at = bisect.bisect_left(runs, time_ns, key=lambda run: run[field])
        found = min(runs[max(0, at - 1):at + 1], key=lambda run: abs(run[field] - time_ns), default=None)
        if found and self.is_on_account(found[field] - time_ns, time_ns, time_ns):
            return found
        difference.unsure_ns += EDGE_NS + self.account.removed_anywhere_ns(time_ns, time_ns + TICK_NS)
        return None

    def difference(self, stays):
        """Over all stays of threads in a span, as the program tells of them."""
        difference = Difference()
        for told in stays:
            inner, around = (told["begin_ns"], told["end_ns"]), told["around_ns"]
            for stay in self.account.within(told["tid"], *around):
                difference.add_removed(self.account, stay, inner, around)
                self.add_arrival(difference, told["tid"], stay, inner, around)
                self.add_leaving(difference, told["tid"], stay, inner, around)
        return difference

    def add_arrival(self, difference, tid, stay, inner, around):
        if not stay.is_begin_known or not around[0] <= stay.begin_ns <= around[1]:
            return
        run = self.nearest(difference, tid, stay.begin_ns, "begin_ns")
        begin_ns = run["begin_ns"] if run else stay.begin_ns
        stale_ns = stay.begin_stale_ns + begin_ns - stay.begin_ns
        difference.add_edge(difference.on_cpu_ns, -stale_ns, stay.begin_ns, inner, around)
        if stay.counted_ns is not None:
            waited_ns = stay.begin_ns - stay.ready_ns
            if run and run["runnable_ns"] and stay.is_wait_exact:
                waited_ns = self.own(tid, "its wait", waited_ns, run["runnable_ns"], stay.ready_ns)
            difference.add_edge(difference.runnable_ns, waited_ns - stay.counted_ns, stay.begin_ns, inner, around, stay.is_wait_exact)

    def add_leaving(self, difference, tid, stay, inner, around):
        if not stay.is_end_known or not around[0] <= stay.end_ns <= around[1]:
            return
        run = self.nearest(difference, tid, stay.end_ns, "end_ns")
        end_ns = run["end_ns"] if run else stay.end_ns
        difference.add_edge(difference.on_cpu_ns, stay.end_stale_ns + end_ns - stay.end_ns, stay.end_ns, inner, around)
