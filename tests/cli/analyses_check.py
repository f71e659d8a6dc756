# SPDX-License-Identifier: BSD-2-Clause
"""The figures of the analyses, computed a second time, from the records alone.

analyses_check.py random SEED TRUTH     a log for make_log: threads that really enter and leave spans, at random; what was true goes to TRUTH
analyses_check.py ANALYSIS JSONL JSON [ARGUMENT...]
                                        the --json of a command against the --format jsonl of its log

Prints what is wrong; exit status 1 if anything is.
"""
import bisect
import json
import random
import sys
from collections import defaultdict

REASONS = ["lock", "disk", "network", "sleep", "page_fault", "pipe", "wait", "stopped", "other", "throttled", "poll"]
PARTS = ["on_cpu", "runnable", *REASONS, "detached", "unknown"]
problems = []


def problem(text):
    problems.append(text)


def same(what, is_, wanted):
    if is_ != wanted:
        problem(f"{what}: {is_!r}, not {wanted!r}")


def read_log(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def ledger_of(node):
    """The parts of a ledger as the JSON of any command has them."""
    return [node["on_cpu_ns"], node["runnable_ns"], *(node["blocked"][reason] for reason in REASONS), node["detached_ns"], node["unknown_ns"]]


def spans_of(records):
    spans = [record for record in records if record["type"] == "span"]
    for span in spans:
        span["ledger"] = ledger_of(span)
    return spans


def plus(a, b):
    return [x + y for x, y in zip(a, b)]


def minus(a, b):
    return [x - y for x, y in zip(a, b)]


# ---- a random log ----

class Thread:
    """Stays on CPUs and what lies between them."""

    def __init__(self, rng, tid, end):
        self.tid = tid
        self.runs = []  # begin, end, blocked, runnable, why it left
        self.starts, self.states = [1000], [0]
        now, blocked, runnable = 1000, 0, 0
        while now < end:
            run = 1 + rng.randrange(400)
            reason = rng.choice([None, None, *range(len(REASONS))])
            self.runs.append((now, now + run, blocked, runnable, reason))
            blocked = 0 if reason is None else 1 + rng.randrange(600)
            runnable = rng.randrange(100)
            for state, length in ((0, run), (0 if reason is None else 2 + reason, blocked), (1, runnable)):
                now += length
                if length and state:
                    self.starts.append(now - length)
                    self.states.append(state)
            self.starts.append(now)
            self.states.append(0)

    def ledger(self, intervals):
        sums = [0] * len(PARTS)
        for begin, end in intervals:
            at = bisect.bisect_right(self.starts, begin) - 1
            while begin < end:
                until = min(end, self.starts[at + 1] if at + 1 < len(self.starts) else end)
                sums[self.states[at]] += until - begin
                begin, at = until, at + 1
        return sums


def union(intervals):
    merged = []
    for begin, end in sorted(intervals):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    return merged


def common(a, b):
    return union([(max(x[0], y[0]), min(x[1], y[1])) for x in a for y in b if max(x[0], y[0]) < min(x[1], y[1])])


class World:
    """Random actions of threads, each at a moment of its own."""

    def __init__(self, seed):
        self.rng = rng = random.Random(int(seed))
        self.end = 40000
        self.threads = [Thread(rng, tid, self.end) for tid in range(11, 15)]
        self.open, self.done, self.stays, self.marks = {}, [], {}, []
        for now in sorted(rng.sample(range(1001, self.end), 1800)):
            running = [thread.tid for thread in self.threads if thread.states[bisect.bisect_right(thread.starts, now) - 1] == 0]
            if running:
                self.act(now, rng.choice(running))
        for number in list(self.open):
            self.close(number, self.end, 0)

    def stack(self, tid):
        return [number for number in self.open if tid in self.open[number]["in"]]

    def act(self, now, tid):
        rng, stack = self.rng, self.stack(tid)
        action = rng.random()
        if action < 0.05:
            self.marks.append((now, f"counter time_ns={now} pid=10 tid={tid} name=\"queue\" value={rng.randrange(-1, 4)}"))
        elif action < 0.45 and len(self.open) < 24:
            parent = stack[-1] if stack and rng.random() < 0.8 else rng.choice([0, 0, 0, *self.open, *(span["id"] for span in self.done[-3:]), 777])
            number = len(self.done) + len(self.open) + 1
            is_detached = rng.random() < 0.15
            self.open[number] = {"id": number, "parent": parent, "tid": tid, "begin": now, "in": set() if is_detached else {tid},
                                 "label": rng.choice("abcdef"), "tag": rng.choice(["", "shard=1", "shard=2,kind=write", "kind=read"]),
                                 "moved": False}
            self.stays[number] = [] if is_detached else [[tid, now, None]]
        elif action < 0.5 and self.open:
            number = rng.choice(list(self.open))
            if tid not in self.open[number]["in"]:
                self.open[number]["in"].add(tid)
                self.open[number]["moved"] |= tid != self.open[number]["tid"]
                self.stays[number].append([tid, now, None])
        elif action < 0.55 and stack:
            self.leave(rng.choice(stack), tid, now)
        elif stack:
            self.close(stack[-1] if rng.random() < 0.85 else rng.choice(stack), now, tid)
        elif self.open and rng.random() < 0.3:
            self.close(rng.choice(list(self.open)), now, tid)

    def leave(self, number, tid, now):
        self.open[number]["in"].discard(tid)
        for stay in self.stays[number]:
            if stay[0] == tid and stay[2] is None:
                stay[2] = now

    def close(self, number, now, tid):
        span = self.open[number]
        for other in list(span["in"]):
            self.leave(number, other, now)
        del self.open[number]
        span.update(end=now, end_tid=tid, unfinished=not tid)
        span["lossy"] = not tid or self.rng.random() < 0.05
        self.done.append(span)

    def intervals(self, number, tid):
        return union([(begin, end) for who, begin, end in self.stays.get(number, []) if who == tid])

    def account(self, span):
        ledger, entered = [0] * len(PARTS), []
        for thread in self.threads:
            stays = self.intervals(span["id"], thread.tid)
            ledger = plus(ledger, thread.ledger(stays))
            entered += stays
        detached = span["end"] - span["begin"] - sum(end - begin for begin, end in union(entered))
        ledger[PARTS.index("detached")] += detached
        return ledger

    def self_of(self, span):
        """Without what threads were charged for while they were in the span and in a child of it."""
        ledger = self.account(span)
        for thread in self.threads:
            mine = self.intervals(span["id"], thread.tid)
            theirs = [stay for child in self.done if child["parent"] == span["id"] for stay in common(mine, self.intervals(child["id"], thread.tid))]
            ledger = minus(ledger, thread.ledger(union(theirs)))
        return ledger

    def stay_lines(self, span):
        stays = self.stays[span["id"]]
        if not stays or (len(stays) == 1 and stays[0][0] == (span["end_tid"] or span["tid"]) and stays[0][2] == span["end"]):
            return [] # the span itself tells it
        return [(end, f"stay enter_ns={begin} exit_ns={end} pid=10 tid={tid} span={span['id']} span_pid=10") for tid, begin, end in stays]

    def write(self, truth_path):
        lines = []
        for span in self.done:
            ledger = self.account(span)
            flags = ",".join(name for name, is_set in (("lower_bound", span["lossy"]), ("unfinished", span["unfinished"]),
                                                       ("moved", span["moved"])) if is_set)
            parts = " ".join(f"{name}_ns={ns}" for name, ns in zip(PARTS, ledger) if ns)
            lines += self.stay_lines(span)
            for at, track in enumerate(("lane 1", "", "lane 2", "lane 1")[:span["id"] % 7 % 5]):
                lines.append((span["begin"] + at, f"attribute time_ns={span['begin'] + at} pid=10 tid=11 span={span['id']} name=\"track\" "
                              f"value_type=string value=\"{track}\""))
            lines.append((span["end"], f"span begin_ns={span['begin']} end_ns={span['end']} pid=10 tid={span['tid']} end_tid={span['end_tid']} "
                          f"id={span['id']} parent={span['parent']} label=\"{span['label']}\" tag=\"{span['tag']}\" "
                          f"flags={flags or 'none'} work_ns={sum(ledger)} {parts}"))
        for thread in self.threads:
            for begin, end, blocked, runnable, reason in thread.runs:
                left = "preempted" if reason is None else f"blocked reason={REASONS[reason]}"
                lines.append((end, f"run begin_ns={begin} end_ns={end} pid=10 tid={thread.tid} cpu={thread.tid % 2} blocked_ns={blocked} "
                              f"runnable_ns={runnable} left_as={left}"))
        print('header pid=10 cpus=2 command="random" start_monotonic_ns=1000')
        for thread in self.threads:
            print(f"thread time_ns=1000 pid=10 tid={thread.tid} comm=\"t{thread.tid}\"")
        for _, text in sorted(lines + self.marks, key=lambda line: line[0]):
            print(text)
        print("summary time_ns=90000")
        with open(truth_path, "w", encoding="utf-8") as file:
            json.dump({span["id"]: self.self_of(span) for span in self.done}, file)


# ---- the call tree ----

def add_stays(records):
    """Each span's stays: (place in the log, tid, enter, exit). A span of which there is no record tells of its only one itself."""
    stays, spans = defaultdict(list), []
    for number, record in enumerate(records):
        if record["type"] == "stay":
            stays[record["span_pid"], record["span"]].append((number, record["tid"], record["enter_ns"], record["exit_ns"]))
        elif record["type"] == "span":
            only = [(number, record["end_tid"] or record["tid"], record["begin_ns"] + record["detached_ns"], record["end_ns"])]
            record["number"], record["stays"] = number, stays[record["pid"], record["id"]] or only
            record["threads"] = {stay[1] for stay in record["stays"]}
            record["enter"], record["exit"] = min(stay[2] for stay in record["stays"]), max(stay[3] for stay in record["stays"])
            spans.append(record)
    return spans


def tree_places(records):
    """By the rules of docs/attribution.md: {id: place of the span}, {id: what is taken off it}. It knows all spans at once."""
    by_id, children = {span["id"]: span for span in add_stays(records)}, defaultdict(list)
    places, shared = {}, defaultdict(lambda: [0] * len(PARTS))
    for span in by_id.values():
        parent = by_id.get(span["parent"])
        if not parent or parent is span:
            continue
        if parent["number"] < span["number"]:
            apart = span["enter"] >= parent["end_ns"] or (len(span["threads"]) == len(parent["threads"]) == 1 and
                                                          span["threads"] != parent["threads"])
            places[span["id"]] = "apart" if apart else "unsure"
        elif len(span["threads"]) > 1:
            places[span["id"]] = "divided"
        else:
            children[parent["id"]].append(span)
    for number, mine in children.items():
        parent = by_id[number]
        seen = [(child["number"], *child["threads"]) for child in mine if not child["lower_bound"]] + [stay[:2] for stay in parent["stays"]]
        for tid in dict.fromkeys(tid for _, tid in sorted(seen)):
            judge_lane(parent, tid, [child for child in mine if tid in child["threads"]], places, shared)
        for child in mine:
            places.setdefault(child["id"], "unsure")
    return places, shared


def judge_lane(parent, tid, children, places, shared):
    stays = [stay for stay in parent["stays"] if stay[1] == tid]
    groups, inside, lane_end = defaultdict(list), [], 0
    for child in children:
        before = [stay for stay in stays if stay[0] < child["number"]]
        _, _, enter, exit_ = before[-1] if before else (0, 0, 0, 0)
        places[child["id"]] = "unsure"
        if child["lower_bound"] or child["enter"] < lane_end or child["exit"] < child["enter"]:
            continue
        if child["exit"] <= exit_ and child["enter"] >= enter:
            inside.append(child)
        elif child["enter"] >= exit_:
            groups[len(before)].append(child)
        else:
            continue
        lane_end = child["exit"]
    for at, group in groups.items():
        begin, end = group[0]["enter"], group[-1]["exit"]
        place = "unsure"
        if at == len(stays) or (end <= stays[at][2] and begin < stays[at][2]):
            place = "apart"
        elif begin >= stays[at][2] and end <= stays[at][3]:
            place = "shared"
            inside += group
        for child in group:
            places[child["id"]] = place
    total = [0] * len(PARTS)
    for child in inside:
        total = plus(total, [*child["ledger"][:-2], 0, child["ledger"][-1]])
    fits = all(x <= y for x, y in zip(total, minus(parent["ledger"], shared[parent["id"]])))
    for child in inside:
        places[child["id"]] = "shared" if fits else "unsure"
    if fits:
        shared[parent["id"]] = plus(shared[parent["id"]], total)


def tree_paths(spans):
    by_id, paths = {span["id"]: span for span in spans}, {}
    for span in spans:
        path, node = [], span
        while node:
            path.append(node["label"])
            if node["parent"] == "0" or node["parent"] == node["id"] or node["parent"] not in by_id:
                break
            node = by_id[node["parent"]]
        if node["parent"] != "0":
            path.append("(unknown parent)")
        paths[span["id"]] = tuple(reversed(path))
    return paths


def tree_rows(tree):
    rows, paths = {}, []
    for row in tree["rows"]:
        name = {"unknown_parent": "(unknown parent)"}.get(row["kind"], row["label"])
        paths.append((() if row["parent_row"] is None else paths[row["parent_row"]]) + (name,))
        same("depth", row["depth"], len(paths[-1]) - 1)
        rows[paths[-1]] = row
    same("rows with the same path", len(rows), len(tree["rows"]))
    return rows


def check_tree(records, tree, truth_path=None):
    spans, rows = spans_of(records), tree_rows(tree)
    paths, (places, shared) = tree_paths(spans), tree_places(records)
    sums = defaultdict(lambda: {False: [0, 0, 0, [0] * len(PARTS), [0] * len(PARTS)], True: [0, 0, 0, [0] * len(PARTS), [0] * len(PARTS)],
                                "places": dict.fromkeys(["shared", "apart", "divided", "unsure"], 0)})
    by_id, doubted = {span["id"]: span for span in spans}, set()
    for span in spans:
        one = sums[paths[span["id"]]]
        total = one[span["lower_bound"]]
        total[0] += 1
        total[1] += span["wall_ns"]
        total[2] += span["work_ns"]
        total[3] = plus(total[3], span["ledger"])
        total[4] = plus(total[4], minus(span["ledger"], shared[span["id"]]))
        if span["id"] in places:
            one["places"][places[span["id"]]] += 1
            if places[span["id"]] in ("divided", "unsure") and not by_id[span["parent"]]["lower_bound"]:
                doubted.add(paths[span["parent"]])
    same("paths", sorted(path for path in rows if path != ("(unknown parent)",)), sorted(sums))
    for path, one in sums.items():
        row = rows[path]
        for side, bound in ((row, False), (row["lower_bounds"], True)):
            cnt, wall, work, total, own = one[bound]
            if side is None:
                same(f"{path}: lower bounds", cnt, 0)
                continue
            same(f"{path}: count", side["count"], cnt)
            same(f"{path}: wall, work", (side["total"]["wall_ns"], side["total"]["work_ns"]), (wall, work))
            same(f"{path}: total", ledger_of(side["total"]), total)
            same(f"{path}: self", ledger_of(side["self"]), own)
        same(f"{path}: places", row["places"], one["places"])
        same(f"{path}: self is", row["self_is"], "at_most" if path in doubted else "exact")
    if truth_path:
        check_truth(spans, paths, rows, truth_path)


def check_truth(spans, paths, rows, truth_path):
    """What threads really did: where the row says exact, self is; where it says at most, it is no less."""
    with open(truth_path, encoding="utf-8") as file:
        truth = json.load(file)
    own = defaultdict(lambda: [0] * len(PARTS))
    for span in spans:
        if not span["lower_bound"]:
            own[paths[span["id"]]] = plus(own[paths[span["id"]]], truth[span["id"]])
    exact = 0
    for path, wanted in own.items():
        shown = ledger_of(rows[path]["self"])
        if rows[path]["self_is"] == "exact":
            exact += 1
            same(f"{path}: true self", shown, wanted)
        elif any(x < y for x, y in zip(shown, wanted)):
            problem(f"{path}: self is said to be at most {shown}, it was {wanted}")
    if not exact:
        problem("no row is exact: this checks nothing")


# ---- report --by ----

def tracks_of(records):
    """What the program said before each span ended, by the span's place among the records."""
    given, tracks = {}, {}
    for at, record in enumerate(records):
        if record["type"] == "attribute" and record["name"] == "track" and record["value_type"] == "string":
            given[record["pid"], record["span"]] = record["value"]
        elif record["type"] == "span" and not record["keyed"]:
            tracks[record["pid"], record["id"], record["begin_ns"]] = given.pop((record["pid"], record["id"]), "")
    return tracks


def row_name(span, tracks, by):
    kind, _, argument = by.partition(":")
    track = tracks.get((span["pid"], span["id"], span["begin_ns"]))
    if kind == "track" and track:
        return track
    if kind in ("thread", "track"):
        return f"t{span['tid']} {span['tid']}"
    if kind == "process":
        return str(span["pid"])
    if kind == "key":
        return span.get("key", "")[:2 * int(argument or 64)] or None
    value = None
    for piece in span["tag"].split(","):
        if piece.startswith(argument + "="):
            value = piece[len(argument) + 1:]
    return value or None


def check_report(records, report, by):
    if by == "reason":
        check_reasons(records, report)
        return
    sums = defaultdict(lambda: {False: [0, 0, [0] * len(PARTS)], True: [0, 0, [0] * len(PARTS)]})
    tracks = tracks_of(records)
    for span in spans_of(records):
        one = sums[row_name(span, tracks, by)][span["lower_bound"]]
        one[0] += 1
        one[1] += span["wall_ns"]
        one[2] = plus(one[2], span["ledger"])
    same("by", report["by"], by)
    same("rows", sorted(str(row["name"]) for row in report["rows"]), sorted(map(str, sums)))
    for row in report["rows"]:
        for side, bound in ((row, False), (row["lower_bounds"], True)):
            cnt, wall, ledger = sums[row["name"]][bound]
            if side is None:
                same(f"{row['name']}: lower bounds", cnt, 0)
            else:
                same(f"{row['name']}: sums", (side["count"], side["wall_ns"]["sum"], ledger_of(side["sum"])), (cnt, wall, ledger))


def nearest_rank(values, percent):
    """The smallest value with at least this share of all values not above it."""
    values = sorted(values)
    return values[max(0, -(-len(values) * percent // 100) - 1)] if values else 0


def is_near(shown, wanted):
    """What a quantile of more than 64 different values may be off by."""
    return abs(shown - wanted) <= 0.004 * wanted


def check_reasons(records, report):
    blocks, last = defaultdict(list), {}
    for run in records:
        if run["type"] != "run":
            continue
        who, before = (run["pid"], run["tid"]), last.get((run["pid"], run["tid"]))
        if run["blocked_ns"]:
            fits = before and before["end_ns"] + run["blocked_ns"] + run["runnable_ns"] == run["begin_ns"] and before["left_as"] == "blocked"
            blocks[run.get("wait_reason", before["reason"] if fits else "unknown")].append(run["blocked_ns"])
        last[who] = run
    in_spans = [0] * len(PARTS)
    for span in spans_of(records):
        if span["parent"] == "0" and not span["lower_bound"]:
            in_spans = plus(in_spans, span["ledger"])
    for row in report["rows"]:
        mine = blocks.pop(row["name"], [])
        same(f"{row['name']}", (row["count"], row["sum_ns"], row["max_ns"]), (len(mine), sum(mine), max(mine, default=0)))
        for percent in (50, 99):
            if not is_near(row[f"p{percent}_ns"], nearest_rank(mine, percent)):
                problem(f"{row['name']}: p{percent} is {row[f'p{percent}_ns']}, not {nearest_rank(mine, percent)}")
        same(f"{row['name']}: in spans", row["in_spans_ns"], in_spans[PARTS.index(row["name"])] if row["name"] in REASONS else 0)
    same("reasons without a row", list(blocks), [])


# ---- tail ----

def check_tail(records, tail, percentile):
    spans, labels = [span for span in spans_of(records) if not span["lower_bound"]], defaultdict(list)
    for span in spans:
        labels[span["label"]].append(span)
    same("labels", sorted(row["label"] for row in tail["labels"]), sorted(labels))
    told = 0
    for row in tail["labels"]:
        mine = labels[row["label"]]
        walls = [span["wall_ns"] for span in mine]
        for name, shown, percent in (("p50", row["p50_ns"], 50), ("high", row["high_ns"], int(percentile)),
                                     ("middle", row["middle"]["from_ns"], 40), ("middle", row["middle"]["to_ns"], 60)):
            if not is_near(shown, nearest_rank(walls, percent)):
                problem(f"{row['label']}: {name} is {shown}, not {nearest_rank(walls, percent)}")
        same("the tail's range", (row["tail"]["from_ns"], row["tail"]["to_ns"]), (row["high_ns"], max(walls)))
        means = [band_mean(row, name, mine) for name in ("middle", "tail")]
        more = minus(means[1], means[0])
        same("more", [row["more_ns"][part] for part in PARTS], more)
        same("more work", row["more_ns"]["work"], sum(more))
        if row["verdict"] == "told":
            told += 1
            same("shares", [row["share_percent"][part] for part in PARTS], [round(100 * part / sum(more), 3) for part in more])
    if not told:
        problem("no tail is told")


def band_mean(row, name, spans):
    band = row[name]
    inside = [span for span in spans if band["from_ns"] <= span["wall_ns"] <= band["to_ns"]]
    total = [0] * len(PARTS)
    for span in inside:
        total = plus(total, span["ledger"])
    mean = [part // len(inside) for part in total]
    same(f"{row['label']}: {name}", (band["count"], ledger_of(band["mean"])), (len(inside), mean))
    return mean


# ---- histogram ----

def check_histogram(records, histogram, of):
    wanted, bounds = defaultdict(lambda: defaultdict(int)), defaultdict(int)
    for span in spans_of(records):
        if span["lower_bound"]:
            bounds[span["label"]] += 1
            continue
        ns = {"wall": span["wall_ns"], "work": span["work_ns"], "blocked": span["blocked_ns"], "interrupt": 0}.get(of)
        ns = span["ledger"][PARTS.index(of)] if ns is None else ns
        power = 10 ** (len(str(ns)) - 1)
        wanted[span["label"]][max(step * power for step in (1, 2, 5) if step * power <= ns) if ns else 0] += 1
    same("labels", sorted(row["label"] for row in histogram["labels"]), sorted(set(wanted) | set(bounds)))
    for row in histogram["labels"]:
        mine = wanted[row["label"]]
        same(f"{row['label']}", {bucket["from_ns"]: bucket["count"] for bucket in row["buckets"] if bucket["count"]}, dict(mine))
        same(f"{row['label']}: counts", (row["count"], row["lower_bounds"]), (sum(mine.values()), bounds[row["label"]]))
        for bucket, after in zip(row["buckets"], row["buckets"][1:]):
            same("where a bucket ends", bucket["to_ns"], after["from_ns"])


# ---- workers ----

class Queue:
    def __init__(self, records, name):
        self.steps = [(record["time_ns"], record["value"]) for record in records if record["type"] == "counter" and record["name"] == name]

    def above(self, begin, end):
        """For how long it was above 0 between two times, and its area meanwhile."""
        sums = [0, 0]
        for (start, value), (stop, _) in zip(self.steps, self.steps[1:] + [(end, 0)]):
            both = min(stop, end) - max(start, begin)
            if value > 0 and both > 0:
                sums = [sums[0] + both, sums[1] + both * value]
        return sums


def check_workers(records, workers, name):
    queue, spans = Queue(records, name), add_stays(records)
    runs, stays = defaultdict(list), defaultdict(list)
    for record in records:
        if record["type"] == "run":
            runs[record["tid"]].append(record)
    for span in spans:
        for _, tid, enter, exit_ in span["stays"]:
            if enter < exit_ or span["threads"] != {span["end_tid"] or span["tid"]}:
                stays[tid].append((enter, exit_))
    same("threads", sorted(row["tid"] for row in workers["threads"]), sorted(set(runs) | set(stays)))
    episodes, lengths = [], []
    for row in workers["threads"]:
        mine, tid = runs[row["tid"]], row["tid"]
        same(f"{tid}: times", [row[f"{part}_ns"] for part in ("on_cpu", "runnable", "blocked")],
             [sum(run["end_ns"] - run["begin_ns"] for run in mine), sum(run["runnable_ns"] for run in mine), sum(run["blocked_ns"] for run in mine)])
        same(f"{tid}: seen", (row["from_ns"], row["to_ns"], row["runs"]),
             (mine[0]["begin_ns"] - mine[0]["runnable_ns"] - mine[0]["blocked_ns"], mine[-1]["end_ns"], len(mine)))
        same(f"{tid}: active", (row["active_periods"], row["longest_active_ns"]), active_periods(mine))
        same(f"{tid}: stays", (row["stays"], row["in_spans_ns"]), (len(stays[tid]), sum(end - begin for begin, end in union(stays[tid]))))
        idle = [(tid, *sleep) for sleep in idle_sleeps(mine, stays[tid], queue)] if stays[tid] else []
        same(f"{tid}: idle", (row["idle_sleeps"], row["idle_ns"]), (len(idle), sum(sleep[3] for sleep in idle)))
        episodes += idle
        lengths += [run["end_ns"] - run["begin_ns"] for run in mine]
    if not episodes:
        problem("nobody is idle")
    shown = [(one["tid"], one["begin_ns"], one["end_ns"], one["queued_ns"]) for one in workers["longest_idle"]]
    same("longest idle", [one[3] for one in shown], sorted((one[3] for one in episodes), reverse=True)[:len(shown)])
    same("idle that is none", [one for one in shown if one not in [episode[:4] for episode in episodes]], [])
    for one in workers["longest_idle"]:
        depth = next(episode[4] for episode in episodes if episode[:3] == (one["tid"], one["begin_ns"], one["end_ns"]))
        same("depth", one["mean_depth"], round(depth, 3))
    check_longest(workers["longest_runs"], spans, lengths)


def active_periods(runs):
    periods, begin = [], runs[0]["begin_ns"] - runs[0]["runnable_ns"]
    for number, run in enumerate(runs):
        if number and run["blocked_ns"]:
            periods.append(runs[number - 1]["end_ns"] - begin)
            begin = run["begin_ns"] - run["runnable_ns"]
    periods.append(runs[-1]["end_ns"] - begin)
    return len(periods), max(periods)


def idle_sleeps(runs, stays, queue):
    for before, run in zip([None, *runs], runs):
        end = run["begin_ns"] - run["runnable_ns"]
        begin = end - run["blocked_ns"]
        end = min([end, *(enter for enter, exit_ in stays if enter < end <= exit_)])
        begin = max([begin, *(exit_ for enter, exit_ in stays if begin < exit_ < end)])
        ns, area = queue.above(begin, end) if begin < end else (0, 0)
        if ns:
            yield begin, end, ns, area / ns


def check_longest(longest, spans, lengths):
    same("longest runs", [run["end_ns"] - run["begin_ns"] for run in longest], sorted(lengths, reverse=True)[:len(longest)])
    for run in longest:
        covers = [(min(run["end_ns"], span["exit"]) - max(run["begin_ns"], span["enter"]), span["label"]) for span in spans
                  if span["threads"] == {run["tid"]}]
        most = max([0, *(cover[0] for cover in covers)])
        same("in the span", run["in_span_ns"], most)
        if most and (most, run["label"]) not in covers:
            problem(f"the label {run['label']} is not that of a span that covers {most}")


# ---- concurrency ----

def check_concurrency(records, concurrency):
    begins, spans = concurrency["begins_ns"], spans_of(records)
    counters = [record for record in records if record["type"] == "counter"]
    times = [time for span in spans for time in (span["begin_ns"], span["end_ns"])] + [counter["time_ns"] for counter in counters]
    same("range", (begins[0], begins[-1]), (min(times), max(times)))
    same("names", sorted(series["name"] for series in concurrency["series"]), sorted({span["label"] for span in spans} | {one["name"] for one in counters}))
    for series in concurrency["series"]:
        if series["kind"] == "label":
            levels = [(span["begin_ns"], span["end_ns"], 1) for span in spans if span["label"] == series["name"]]
        else:
            steps = [(one["time_ns"], one["value"]) for one in counters if one["name"] == series["name"]]
            levels = [(begin, end, value) for (begin, value), (end, _) in zip(steps, steps[1:] + [(begins[-1], 0)])]
        same(f"{series['name']}: count", series["count"], len(levels))
        for begin, end, mean in zip(begins, begins[1:], series["means"]):
            wanted = sum(value * max(0, min(end, stop) - max(begin, start)) for start, stop, value in levels) / (end - begin)
            if abs(wanted - mean) > 1e-9 * max(1, abs(wanted)):
                problem(f"{series['name']} from {begin} to {end}: {mean}, not {wanted}")


CHECKS = {"tree": check_tree, "report": check_report, "tail": check_tail, "histogram": check_histogram, "workers": check_workers,
          "concurrency": check_concurrency}


def main():
    if sys.argv[1] == "random":
        World(sys.argv[2]).write(sys.argv[3])
    else:
        with open(sys.argv[3], encoding="utf-8") as file:
            shown = json.load(file)
        CHECKS[sys.argv[1]](read_log(sys.argv[2]), shown, *sys.argv[4:])
    for text in problems[:20]:
        print(text)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
