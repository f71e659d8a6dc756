# SPDX-License-Identifier: BSD-2-Clause
"""
python3 check_truth.py [--lossy] TRUTH.jsonl|- LOG.jsonl

Holds a log (`txtrace export --format jsonl`) against what the traced program says of itself (tests/programs/truth.h and marks.c; - for nothing),
and against itself. Prints what is wrong, one line each, and one line about how near the two accounts are. Exit status 0: nothing is
wrong; 1: something is; 2: the files could not be read.

--lossy: events were lost, and the log says so. Then spans may be missing and switches too, but what is there and not marked as a lower bound is
as exact as ever.

The allowances, all of them:
  ON_CPU    1 % or 50 us, whichever is more: the thread's CPU clock is the scheduler's own, read at other moments than ours. Time that
            the hypervisor took is on-CPU for us and not on that clock: what a thread that never blocked cannot explain otherwise.
  RUN_DELAY 1 % or 50 us likewise. The kernel counts from when a woken thread is on a queue, we from when it was woken: so where a
            thread was woken, only the lower bound holds, and that it was blocked for as long as the program made sure it was.
  CLOCK     1 us: between the clock of the program's system call and the one of the BPF program.
"""
import collections
import json
import sys

RELATIVE, ON_CPU_NS, RUN_DELAY_NS, CLOCK_NS = 0.01, 50_000, 50_000, 1_000


class Problems:
    def __init__(self):
        self.lines = []

    def check(self, is_fine, where, what):
        if not is_fine:
            self.lines.append(f"{where}: {what}")
        return is_fine

    def equal(self, where, name, got, wanted):
        self.check(got == wanted, where, f"{name} is {got!r}, the program says {wanted!r}")

    def within(self, where, name, got, bounds, slack_low, slack_high):
        least, most = bounds[0] - slack_low, bounds[1] + slack_high
        self.check(least <= got <= most, where, f"{name} is {got}, the program says {bounds[0]} to {bounds[1]} (allowed {least:.0f} to {most:.0f})")


class Log:
    """The records of an export, by what they are looked up by."""

    def __init__(self, lines):
        self.records = collections.defaultdict(list)
        for line in lines:
            self.records[line["type"]].append(line)
        self.spans = collections.defaultdict(list)
        for span in self.records["span"]:
            self.spans[span["pid"], span["id"]].append(span)
        self.runs = collections.defaultdict(list)
        for run in self.records["run"]:
            self.runs[run["tid"]].append(run)
        for runs in self.runs.values():
            runs.sort(key=lambda run: run["begin_ns"])

    def find(self, truth):
        """The spans that can be meant: by id, or by label and time where the program does not know the id."""
        if truth["id"] is not None:
            return self.spans[truth["pid"], truth["id"]]
        least, most = truth["begin_ns"]
        return [span for span in self.records["span"] if span["label"] == truth["label"] and least <= span["begin_ns"] <= most]


def read_jsonl(path):
    try:
        with open(path, encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.strip()]
    except (OSError, ValueError) as error:
        print(f"cannot read '{path}': {error}")
        sys.exit(2)


# ---- the log against itself ----


def check_balance(problems, span):
    where = f"span {span['id']} ({span['label']})"
    reasons = sum(span["blocked"].values())
    problems.check(reasons == span["blocked_ns"], where, f"blocked_ns is {span['blocked_ns']}, its reasons add up to {reasons}")
    parts = span["on_cpu_ns"] + span["runnable_ns"] + span["blocked_ns"] + span["detached_ns"] + span["unknown_ns"]
    problems.check(parts == span["work_ns"], where, f"the ledger adds up to {parts}, work_ns is {span['work_ns']}")
    problems.check(span["wall_ns"] == span["end_ns"] - span["begin_ns"], where, "wall_ns is not its end less its begin")
    problems.check(span["work_ns"] >= span["wall_ns"], where, f"work_ns {span['work_ns']} is less than wall_ns {span['wall_ns']}")
    problems.check(not span["imbalance"], where, "is marked as out of balance")


def check_timeline(problems, tid, runs):
    """Between two stays on a CPU, a thread was blocked, then runnable: nothing is missing and nothing is counted twice."""
    for before, run in zip(runs, runs[1:]):
        if before["left_as"] == "dead":
            continue  # the number has a new owner
        gap = run["begin_ns"] - before["end_ns"]
        stated = run["blocked_ns"] + run["runnable_ns"]
        problems.check(gap == stated, f"thread {tid} at {run['begin_ns']}", f"was off the CPU for {gap} ns, its record says {stated}")
        if run["blocked_ns"]:
            problems.check(before["left_as"] == "blocked", f"thread {tid} at {before['end_ns']}", f"left as {before['left_as']} and was blocked afterwards")


def check_recorder(problems, log, is_lossy):
    summaries = log.records["summary"]
    if not problems.check(len(summaries) == 1 and summaries[0]["complete"], "log", "has no summary, or is not complete"):
        return
    recorder = summaries[0]["recorder"]
    if not problems.check(recorder is not None, "log", "was not closed by its recorder"):
        return
    problems.check(recorder["sent_cnt"] == recorder["received_cnt"] + recorder["lost_cnt"], "recorder",
                   f"sent {recorder['sent_cnt']}, received {recorder['received_cnt']}, lost {recorder['lost_cnt']}")
    for name in ("late_cnt", "lost_clocks_cnt"):
        problems.check(recorder[name] == 0, "recorder", f"{name} is {recorder[name]}")
    problems.check((recorder["lost_cnt"] > 0) == is_lossy, "recorder", f"lost_cnt is {recorder['lost_cnt']}")
    for name in ("imbalance", "clock_mismatch"):
        problems.check(recorder["anomalies"][name] == 0, "recorder", f"counts {recorder['anomalies'][name]} of the anomaly {name}")
    told = sum(loss["span_event_cnt"] + loss["sched_event_cnt"] for loss in log.records["loss"])
    problems.check(told == recorder["lost_cnt"], "log", f"its records of loss tell of {told} events, the recorder of {recorder['lost_cnt']}")
    problems.check(not log.records["damage"], "log", "is damaged")


def check_log(problems, log, is_lossy):
    for span in log.records["span"]:
        check_balance(problems, span)
    for tid, runs in log.runs.items() if not is_lossy else ():
        check_timeline(problems, tid, runs)
    check_recorder(problems, log, is_lossy)


# ---- a span ----


def check_identity(problems, where, truth, span):
    for name in ("label", "parent", "pid"):
        problems.equal(where, name, span[name], truth[name])
    for name in ("lower_bound", "unfinished", "loss", "keyed"):
        problems.check(not span[name], where, f"is marked as {name}")
    for name in ("begin_ns", "end_ns", "wall_ns", "work_ns", "detached_ns"):
        problems.within(where, name, span[name], truth[name], CLOCK_NS, CLOCK_NS)
    problems.equal(where, "unknown_ns", span["unknown_ns"], 0)


def stolen_ns(truth):
    """What neither the thread's clock nor its waiting explains. Only a thread that never blocked can tell."""
    if truth["nvcsw"][1]:
        return 0
    in_span_ns = truth["work_ns"][1] - truth["detached_ns"][0]
    return max(0, in_span_ns - truth["cpu_ns"][0] - truth["run_delay_ns"][0])


def check_on_cpu(problems, where, truth, span):
    slack = max(ON_CPU_NS, RELATIVE * truth["cpu_ns"][1])
    problems.within(where, "on_cpu_ns", span["on_cpu_ns"], truth["cpu_ns"], slack, slack + stolen_ns(truth))
    least, most = truth["cpu_ns"]
    return max(0, least - span["on_cpu_ns"], span["on_cpu_ns"] - most - stolen_ns(truth))


def check_runnable(problems, where, truth, span):
    slack = max(RUN_DELAY_NS, RELATIVE * truth["run_delay_ns"][1])
    woken_ns = span["work_ns"] if truth["nvcsw"][1] else 0
    problems.within(where, "runnable_ns", span["runnable_ns"], truth["run_delay_ns"], slack, slack + woken_ns)
    problems.check(span["runnable_ns"] >= truth["starved_ns"] - slack, where, f"runnable_ns is {span['runnable_ns']}, it starved for {truth['starved_ns']}")


def check_blocked(problems, where, truth, span):
    reason = truth["blocked"]
    others = {name: ns for name, ns in span["blocked"].items() if ns and name != reason}
    problems.check(not others, where, f"was blocked for other reasons than {reason}: {others}")
    if truth["nvcsw"][1] == 0:
        problems.equal(where, "blocked_ns", span["blocked_ns"], 0)
    if reason is None:
        return
    # Whatever was neither on a CPU nor, by the kernel's own count, waiting for one.
    in_stays = [truth["work_ns"][0] - truth["detached_ns"][1], truth["work_ns"][1] - truth["detached_ns"][0]]
    slack = max(ON_CPU_NS, RELATIVE * truth["cpu_ns"][1])
    off_cpu = [in_stays[0] - truth["cpu_ns"][1], in_stays[1] - truth["cpu_ns"][0]]
    problems.within(where, "blocked and runnable", span["blocked_ns"] + span["runnable_ns"], off_cpu, slack, slack)
    problems.check(span["blocked"][reason] <= off_cpu[1] - truth["run_delay_ns"][0] + slack + RUN_DELAY_NS, where,
                   f"blocked.{reason} is {span['blocked'][reason]}, more than the {off_cpu[1]} off the CPU less {truth['run_delay_ns'][0]} in a queue")


def check_stay(problems, where, stay, runs):
    """The switches that the kernel counted between two moments are the ends of stays on a CPU that the log has there, to the last one."""
    ends = [run for run in runs if stay["begin_ns"] <= run["end_ns"] <= stay["end_ns"]]
    blocked = sum(run["left_as"] == "blocked" for run in ends)
    problems.equal(where, f"blocks of thread {stay['tid']}", blocked, stay["nvcsw"])
    problems.equal(where, f"preemptions of thread {stay['tid']}", len(ends) - blocked, stay["nivcsw"])


def check_against_timeline(problems, where, truth, span, runs):
    """Where one thread did it all: its ledger, from the clocks, is what the switches say."""
    if span["tid"] != span["end_tid"] or len(truth["stays"]) != 1 or span["detached_ns"]:
        return
    inside = [(max(run["begin_ns"], span["begin_ns"]), min(run["end_ns"], span["end_ns"])) for run in runs]
    on_cpu = sum(end - begin for begin, end in inside if end > begin)
    problems.check(on_cpu == span["on_cpu_ns"], where, f"on_cpu_ns is {span['on_cpu_ns']}, by the thread's stays on a CPU it is {on_cpu}")


def check_span(problems, log, truth, is_lossy):
    where = f"{truth['label']} {truth['id'] or ''}".rstrip()
    found = log.find(truth)
    if is_lossy and (not found or found[0]["lower_bound"]):
        return None
    if not problems.check(len(found) == 1, where, f"is in the log {len(found)} times, not once"):
        return None
    span = found[0]
    check_identity(problems, where, truth, span)
    error_ns = check_on_cpu(problems, where, truth, span)
    check_runnable(problems, where, truth, span)
    check_blocked(problems, where, truth, span)
    if is_lossy:
        return error_ns
    for stay in truth["stays"]:
        check_stay(problems, where, stay, log.runs[stay["tid"]])
    check_against_timeline(problems, where, truth, span, log.runs[span["tid"]])
    return error_ns


def check_labels(problems, log, truths):
    for label, cnt in collections.Counter(truth["label"] for truth in truths).items():
        in_log = sum(span["label"] == label for span in log.records["span"])
        problems.check(in_log == cnt, label, f"there are {in_log} spans with this label, the program made {cnt}")
        asked = [truth for truth in truths if truth["label"] == label and truth["asked_ns"]]
        longest = [log.find(truth)[0]["blocked"][truth["blocked"]] - truth["asked_ns"] for truth in asked if log.find(truth)]
        problems.check(not asked or max(longest, default=-1) >= 0, label, "none was blocked for as long as it asked to be")


def check_spans(problems, log, truths, is_lossy):
    errors = [check_span(problems, log, truth, is_lossy) for truth in truths]
    if not is_lossy:
        check_labels(problems, log, truths)
    return [error for error in errors if error is not None]


# ---- everything else ----


def text_bytes(record, name):
    """The exact bytes of a string: where they are no UTF-8, the export has them in hex as well."""
    return bytes.fromhex(record[name + "_hex"]) if name + "_hex" in record else record[name].encode()


def check_tag(problems, log, truth):
    where, wanted = f"tag of span {truth['span']}", bytes.fromhex(truth["bytes"])
    found = [span for span in log.records["span"] if span["id"] == truth["span"]]
    if not problems.check(len(found) == 1, where, f"its span is in the log {len(found)} times"):
        return
    got = text_bytes(found[0], "tag")
    if "least_bytes" in truth:
        problems.check(wanted.startswith(got) and len(got) >= truth["least_bytes"], where,
                       f"is {got!r}, not a beginning of {truth['least_bytes']} bytes or more of {wanted!r}")
    else:
        problems.equal(where, "it", got, wanted)


def check_attribute(problems, log, truth):
    where = f"attribute '{truth['name']}' of span {truth['span']}"
    found = [record for record in log.records["attribute"] if record["span"] == truth["span"] and record["name"] == truth["name"]]
    if not problems.check(len(found) == 1, where, f"is in the log {len(found)} times"):
        return
    problems.equal(where, "its type", found[0]["value_type"], truth["value_type"])
    if "bytes" in truth:
        problems.equal(where, "it", text_bytes(found[0], "value"), bytes.fromhex(truth["bytes"]))
    else:
        problems.equal(where, "it", found[0]["value"], truth["value"])


def check_instant(problems, log, truth):
    cnt = sum(record["name"] == truth["name"] and truth["span"] in ("0", record["span"]) for record in log.records["instant"])
    problems.equal(f"instant '{truth['name']}' of span {truth['span']}", "its number", cnt, truth["cnt"])


def check_counter(problems, log, truth):
    records = sorted((record for record in log.records["counter"] if record["name"] == truth["name"]), key=lambda record: record["time_ns"])
    problems.equal(f"counter '{truth['name']}'", "it", [record["value"] for record in records], truth["values"])


def check_link(problems, log, truth):
    cnt = sum(all(record[name] == truth[name] for name in ("from", "to", "name")) for record in log.records["link"])
    problems.equal(f"link '{truth['name']}' from {truth['from']}", "its number", cnt, 1)


def check_keyed(problems, log, truth):
    where = f"keyed span {truth['key']}"
    found = [span for span in log.records["span"] if span["keyed"] and span["key"] == truth["key"]]
    if not problems.check(len(found) == 1, where, f"is in the log {len(found)} times"):
        return
    problems.equal(where, "label", found[0]["label"], truth["label"])
    problems.check(not found[0]["lower_bound"], where, "is marked as lower_bound")
    instants = [record["name"] for record in log.records["instant"] if record["span"] == found[0]["id"]]
    problems.equal(where, "its instants", instants, truth["instants"])


def check_count(problems, log, truth):
    cnt = sum(span["label"] == truth["label"] and span["pid"] == truth["pid"] for span in log.records["span"])
    problems.equal(f"label '{truth['label']}'", "number of spans", cnt, truth["cnt"])


CHECKS = {"tag": check_tag, "attribute": check_attribute, "instant": check_instant, "counter": check_counter, "link": check_link,
          "keyed": check_keyed, "count": check_count}


def main():
    is_lossy = "--lossy" in sys.argv
    paths = [argument for argument in sys.argv[1:] if argument != "--lossy"]
    if len(paths) != 2:
        print("usage: " + __doc__.strip().splitlines()[0], file=sys.stderr)
        return 2
    truths = [] if paths[0] == "-" else read_jsonl(paths[0])
    log, problems = Log(read_jsonl(paths[1])), Problems()
    problems.check(truths or paths[0] == "-", "program", "said nothing about itself")
    check_log(problems, log, is_lossy)
    errors = check_spans(problems, log, [truth for truth in truths if truth["type"] == "span"], is_lossy)
    for truth in truths:
        if truth["type"] != "span":
            CHECKS[truth["type"]](problems, log, truth)
    for line in problems.lines:
        print(line)
    print(f"{len(truths)} statements compared with {len(log.records['span'])} spans and {len(log.records['run'])} stays on a CPU; "
          f"{len(problems.lines)} problems" + (f"; {len(errors)} times on-CPU, off by at most {max(errors) / 1000:.1f} us" if errors else ""))
    return 1 if problems.lines else 0


if __name__ == "__main__":
    sys.exit(main())
