# SPDX-License-Identifier: BSD-2-Clause
"""What tracing cost, computed a second time, as docs/attribution.md defines it ("What tracing cost").

cost_check.py random SEED TRUTH     a log for make_log: threads that begin, enter, exit and end spans, mark, wake and are switched, at random;
                                    what each label's spans paid for goes to TRUTH, as the threads did it
cost_check.py check JSONL JSON [TRUTH]
                                    `report --cost --json` against the `export -f jsonl` of its log, and against the truth

Prints what is wrong; exit status 1 if anything is.
"""
import bisect
import json
import random
import sys
from collections import defaultdict

CLASSES = ["span", "key", "text", "mark", "switch", "wake"]
EVENTS = {
    "span": ["begin", "begin_detached", "enter", "leave", "end"],
    "key": ["key_begin", "key_enter", "key_leave", "key_end", "key_instant"],
    "text": ["tag", "attr"],
    "mark": ["instant", "counter", "link"],
    "switch": ["switch"],
    "wake": ["wake"],
}
problems = []


def same(what, is_, wanted):
    if is_ != wanted:
        problems.append(f"{what}: {is_!r}, not {wanted!r}")


# ---- what one event cost ----

def memory_of(costs):
    """Of marks in shared memory: no program ran for them."""
    return [c for c in costs if c["entry"] == "memory"]


def prices(costs):
    """Class: [to get there, run time] in ns / 1000, None: not known."""
    result = {}
    for of in [*CLASSES, "other"]:
        known = {event for events in EVENTS.values() for event in events}
        mine = [c for c in costs if c["event"] and c["entry"] != "step" and (c["event"] in EVENTS[of] if of != "other" else c["event"] not in known)]
        entered = [c for c in mine if c["entry_ps"] or c["entry"] == "within"]
        events = sum(c["event_cnt"] for c in entered)
        steps = [c for c in costs if c["entry"] == "step" and of == "span"]
        entry = sum(c["event_cnt"] * c["entry_ps"] for c in entered + steps) // events if events else None
        timed = sum(c["timed_event_cnt"] for c in mine)
        run = 0
        for c in mine:
            idle = max(0, c["timed_run_cnt"] - c["timed_event_cnt"])
            taken = idle * (c["idle_run_ps"] or c["empty_run_ps"]) + c["timed_event_cnt"] * c["empty_run_ps"]
            run += max(0, c["timed_run_ns"] * 1000 - taken) if c["timed_event_cnt"] else 0
        everything, in_memory = (sum(c["event_cnt"] for c in chosen) for chosen in (mine, memory_of(mine)))
        run = run // timed * (everything - in_memory) // everything if timed else 0 if everything and everything == in_memory else None
        result[of] = [entry, run, everything, timed]
    return result


def ns(price, counts):
    return sum(count * ((price[of][0] or 0) + (price[of][1] or 0)) for of, count in counts.items()) // 1000


def check_totals(costs, told):
    price = prices(costs)
    if not costs:
        same("cost", told["cost"], None)
        return price
    for of, (entry, run, events, timed) in price.items():
        node = told["cost"]["classes"][of]
        same(f"{of}: events", node["events"], events)
        same(f"{of}: timed", node["timed"], timed)
        same(f"{of}: in memory", node["in_memory"], sum(c["event_cnt"] for c in memory_of(costs) if c["event"] in EVENTS.get(of, [])))
        same(f"{of}: to get there", None if node["entry_ns"] is None else round(node["entry_ns"] * 1000), entry)
        same(f"{of}: run time", None if node["run_ns"] is None else round(node["run_ns"] * 1000), run)
    same("total", told["cost"]["total_ns"], ns(price, {of: events for of, (_, _, events, _) in price.items()}))
    recorder = [c for c in costs if not c["event"]]
    for member, name in [("recorder_cpu_ns", "cpu_ns"), ("ring_bytes", "ring_bytes"), ("log_bytes", "log_bytes"), ("events", "event_cnt")]:
        same(member, told["cost"][member], sum(c[name] for c in recorder))
    same("single-stepped", told["cost"]["single_stepped"], sum(c["event_cnt"] for c in costs if c["entry"] == "step"))
    same("observed", told["cost"]["observed_ns"], sum(c["time_ns"] - c["since_ns"] for c in recorder))
    return price


# ---- what the spans paid for ----

class Paid:
    """Each thread's events, as far as the log has told of them."""

    def __init__(self):
        self.events = defaultdict(list)
        self.traced = set()
        self.stays = defaultdict(list)

    def add(self, tid, time, of):
        bisect.insort(self.events[tid], (time, of))

    def take_back(self, tid, time, of):
        self.events[tid].remove((time, of))

    def count(self, tid, begin, end, into):
        events = self.events[tid]
        for _, of in events[bisect.bisect_left(events, (begin, "")):bisect.bisect_left(events, (end + 1, ""))]:
            into[of] += 1

    def stay(self, r):
        of = "key" if r["keyed"] else "span"
        self.add(r["tid"], r["enter_ns"], of)
        self.add(r["tid"], r["exit_ns"], of)
        counts = defaultdict(int)
        self.count(r["tid"], r["enter_ns"], r["exit_ns"], counts)
        self.stays["keyed" if r["keyed"] else r["span_pid"], r["span"]].append((r["enter_ns"], r["exit_ns"], r["tid"], counts))

    def moved(self, r, of, stays, counts):
        for _, end, tid, paid in stays:
            for what, count in paid.items():
                counts[what] += count
            if end == r["end_ns"] and tid != r["end_tid"]:
                self.take_back(tid, end, of)
                counts[of] -= 1
        ender = r["end_tid"] or r["tid"]
        is_inside = any(end == r["end_ns"] and tid == ender for _, end, tid, _ in stays)
        if min(stays)[0] != r["begin_ns"] or min(stays)[2] != r["tid"]:
            self.add(r["tid"], r["begin_ns"], of)
        if r["end_tid"] and not is_inside:
            self.add(r["end_tid"], r["end_ns"], of)
        if r["tag"]:
            self.add(ender, r["end_ns"], "text")
            counts["text"] += is_inside

    def single(self, r, of, counts):
        tid, enter = r["end_tid"] or r["tid"], r["begin_ns"] + r["detached_ns"]
        was_entered = enter < r["end_ns"] or enter == r["begin_ns"]
        self.add(r["tid"], r["begin_ns"], of)
        if enter != r["begin_ns"] and was_entered:
            self.add(tid, enter, of)
        if r["tag"]:
            self.add(tid, r["end_ns"], "text")
        if r["end_tid"]:
            self.add(tid, r["end_ns"], of)
        if was_entered:
            self.count(tid, enter, r["end_ns"], counts)

    def span(self, r):
        of = "key" if r["keyed"] else "span"
        stays, counts = self.stays.pop(("keyed" if of == "key" else r["pid"], r["id"]), None), defaultdict(int)
        if stays:
            self.moved(r, of, stays, counts)
        else:
            self.single(r, of, counts)
        return counts

    def other(self, r):
        kind = r["type"]
        if kind == "run":
            self.traced.add(r["tid"])
            self.add(r["tid"], r["end_ns"], "switch")
        elif kind == "wake" and r["waker_tid"] in self.traced:
            self.add(r["waker_tid"], r["time_ns"], "wake")
        elif kind == "thread" and r["exit"]:
            self.events.pop(r["tid"], None)
            self.traced.discard(r["tid"])
        elif kind == "thread":
            self.traced.add(r["tid"])
        elif kind in ("attribute", "instant", "counter", "link"):
            self.add(r["tid"], r["time_ns"], "text" if kind == "attribute" else "mark")
            self.traced.add(r["tid"])


def rows_of(records):
    paid, rows = Paid(), defaultdict(lambda: [0, 0, 0, defaultdict(int)])
    for record in records:
        if record["type"] == "span":
            counts = paid.span(record)
            for tid in (record["tid"], record["end_tid"]):
                paid.traced.add(tid)
            if record["lower_bound"]:
                continue
            row = rows[record["label"]]
            row[0] += 1
            row[1] += record["end_ns"] - record["begin_ns"]
            row[2] += record["on_cpu_ns"]
            for of, count in counts.items():
                row[3][of] += count
        elif record["type"] == "stay":
            paid.stay(record)
            paid.traced.add(record["tid"])
        else:
            paid.other(record)
    return rows


def check(jsonl, told_path, truth_path=None):
    with open(jsonl, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    with open(told_path, encoding="utf-8") as file:
        told = json.load(file)
    price = check_totals([r for r in records if r["type"] == "cost"], told)
    rows, shown = rows_of(records), {row["name"]: row for row in told["rows"]}
    same("labels", sorted(shown), sorted(rows))
    for label in set(shown) & set(rows):
        spans, wall, on_cpu, counts = rows[label]
        row = shown[label]
        same(f"{label}: spans, wall, on-CPU", [row["spans"], row["wall_ns"], row["on_cpu_ns"]], [spans, wall, on_cpu])
        same(f"{label}: events", row["events"], {of: counts[of] for of in CLASSES})
        same(f"{label}: added", row["added_ns"], ns(price, counts) if told["cost"] else None)
    if truth_path:
        with open(truth_path, encoding="utf-8") as file:
            truth = json.load(file)
        same("labels, as it was", sorted(shown), sorted(truth))
        for label in set(shown) & set(truth):
            same(f"{label}: events, as it was", shown[label]["events"], {of: truth[label].get(of, 0) for of in CLASSES})


# ---- a random log ----

class Span:
    def __init__(self, number, rng, tid):
        self.id, self.label, self.is_keyed = number, f"label {rng.randrange(5)}", rng.random() < 0.3
        self.begin, self.tid = None, tid
        self.inside = {}  # the event with which each thread came in
        self.stays = []  # the events of coming and going, the thread
        self.end = None

    @property
    def of(self):
        return "key" if self.is_keyed else "span"


class Event:
    def __init__(self, time, of, told):
        self.time, self.of, self.told = time, of, told  # told: when the log does; None: never


class World:
    TIDS = [11, 12, 13]

    def __init__(self, seed):
        self.rng, self.time, self.open, self.number = random.Random(seed), 1000, [], 0
        self.events = defaultdict(list)
        self.lines, self.done = [], []

    def pay(self, tid, of, told):
        self.events[tid].append(Event(self.time, of, told))
        return self.events[tid][-1]

    def log(self, time, line):
        self.lines.append((time, line))

    def begin(self, tid):
        self.number += 1
        span = Span(self.number, self.rng, tid)
        span.begin = self.pay(tid, span.of, None)
        if self.rng.random() < 0.7:
            span.inside[tid] = span.begin
        self.open.append(span)

    def enter(self, tid):
        outside = [span for span in self.open if tid not in span.inside]
        if outside:
            span = self.rng.choice(outside)
            span.inside[tid] = self.pay(tid, span.of, None)

    def leave(self, tid):
        inside = [span for span in self.open if tid in span.inside]
        if inside:
            span = self.rng.choice(inside)
            span.stays.append((span.inside.pop(tid), self.pay(tid, span.of, None), tid))

    def end(self, tid):
        if not self.open:
            return
        span = self.rng.choice(self.open[-3:])
        tag = "k=v" if self.rng.random() < 0.3 else ""
        if tag:
            self.pay(tid, "text", self.time)
            self.time += 1
        end = self.pay(tid, span.of, self.time)
        for other, entered in span.inside.items():
            span.stays.append((entered, end if other == tid else Event(self.time, None, None), other))
        self.open.remove(span)
        self.tell(span, tid, tag)

    def tell(self, span, tid, tag):
        """A span that one thread was in until it ended it needs no stays."""
        is_plain = not span.stays or (len(span.stays) == 1 and span.stays[0][1].time == self.time and span.stays[0][2] == tid)
        entered = span.stays[0][0].time if is_plain and span.stays else self.time
        span.end = self.time
        for enter, leave, who in sorted(span.stays, key=lambda stay: stay[1].time):
            enter.told = leave.told = leave.time
            if not is_plain:
                self.log(leave.time, f"stay enter_ns={enter.time} exit_ns={leave.time} pid=10 tid={who} span={span.id} span_pid=10 "
                                     f"keyed={int(span.is_keyed)}")
        span.begin.told = span.begin.told or self.time
        flags = ",".join(name for name, is_set in [("keyed", span.is_keyed), ("moved", not is_plain)] if is_set) or "none"
        self.log(self.time, f'span begin_ns={span.begin.time} end_ns={self.time} pid=10 tid={span.tid} end_tid={tid} id={span.id} '
                            f'label="{span.label}" tag="{tag}" flags={flags} work_ns=0 on_cpu_ns={span.id} '
                            f'detached_ns={entered - span.begin.time if is_plain else 0}')
        self.done.append(span)

    def mark(self, tid, what):
        lines = {
            "switch": f"run begin_ns={self.time - 1} end_ns={self.time} pid=10 tid={tid} cpu=0 left_as=preempted",
            "wake": f"wake time_ns={self.time} pid=10 tid={self.rng.choice(self.TIDS)} waker_pid=10 waker_tid={tid}",
            "text": f'attribute time_ns={self.time} pid=10 tid={tid} span=1 name="n" value_type=uint value=1',
            "mark": f'counter time_ns={self.time} pid=10 tid={tid} name="n" value=1',
        }
        self.pay(tid, what, self.time)
        self.log(self.time, lines[what])

    def step(self):
        self.time += self.rng.randrange(2, 40)
        tid = self.rng.choice(self.TIDS)
        what = self.rng.choices(["begin", "end", "enter", "leave", "switch", "wake", "text", "mark"], [3, 3, 2, 2, 3, 2, 1, 1])[0]
        if what in ("begin", "end", "enter", "leave"):
            getattr(self, what)(tid)
        else:
            self.mark(tid, what)

    def truth(self):
        """What each stay paid for, of what the log had told by its end."""
        rows = {span.label: defaultdict(int) for span in self.done}
        for span in self.done:
            for enter, leave, who in span.stays:
                for event in self.events[who]:
                    if enter.time <= event.time <= leave.time and event.told is not None and event.told <= leave.time:
                        rows[span.label][event.of] += 1
        return rows


COSTS = [("begin", 120, "trap", 600000), ("end", 100, "trap", 600000), ("key_end", 40, "call", 300000), ("switch", 300, "tracepoint", 25000),
         ("wake", 90, "tracepoint", 0), ("counter", 50, "trap", 600000), ("exec", 1, "tracepoint", 25000), ("value", 70, "within", 0), ("step", 60, "step", 9000000),
         ("end", 70, "memory", 11600), ("tag", 33, "memory", 23300)]


def random_log(seed, truth_path):
    world = World(int(seed))
    for _ in range(800):
        world.step()
    print('header pid=10 cpus=1 command="cost" start_monotonic_ns=1')
    for tid in World.TIDS:
        print(f'thread time_ns=1000 pid=10 tid={tid} comm="t" seed=1')
    for _, line in sorted(world.lines, key=lambda pair: pair[0]):  # stable: stays stand before their span
        print(line)
    for event, cnt, entry, ps in COSTS:
        if entry == "memory":
            print(f'cost time_ns={world.time} since_ns=1000 event="{event}" event_cnt={cnt} entry=memory entry_ps={ps} calibration_cnt=131072')
            continue
        print(f'cost time_ns={world.time} since_ns=1000 event="{event}" event_cnt={cnt} timed_event_cnt={cnt // 7} timed_run_cnt={cnt // 5} '
              f"timed_run_ns={cnt * 40} entry={entry} entry_ps={ps} empty_run_ps=30500 idle_run_ps={61000 if event == 'switch' else 0} calibration_cnt=4096")
    print(f"cost time_ns={world.time} since_ns=1000 event_cnt=701 timed_run_ns=20 cpu_ns=777 ring_bytes=4096 log_bytes=99")
    print(f"summary time_ns={world.time}")
    with open(truth_path, "w", encoding="utf-8") as file:
        json.dump(world.truth(), file)


def main():
    if sys.argv[1] == "random":
        random_log(*sys.argv[2:])
        return 0
    check(*sys.argv[2:])
    for text in problems[:20]:
        print(text)
    return 1 if problems else 0


sys.exit(main())
