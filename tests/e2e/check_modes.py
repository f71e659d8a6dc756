# SPDX-License-Identifier: BSD-2-Clause
"""
python3 check_modes.py ledger|off TRUTH.jsonl LOG.jsonl

Holds a log without a timeline against what the program says of itself (tests/programs/truth.h). check_truth.py compares with the timeline, too; here are the
rules of its spans alone, with its allowances. Prints what is wrong; exit status 1 if anything is.
"""
import sys

import check_truth


def check_span(problems, span, truth, mode):
    where = f"span {span['id']} ({span['label']})"
    check_truth.check_balance(problems, span)
    for name in ("lower_bound", "unfinished", "loss", "imbalance"):
        problems.check(not span[name], where, f"is marked as {name}")
    clock = check_truth.CLOCK_NS
    for name in ("begin_ns", "end_ns", "wall_ns", "work_ns", "detached_ns"):
        problems.within(where, name, span[name], truth[name], clock, clock)
    if mode == "off":
        problems.check(span["unknown_ns"] == span["work_ns"] - span["detached_ns"], where, f"{span['unknown_ns']} of {span['work_ns']} are unknown")
        return
    before = len(problems.lines)
    switches = truth["nvcsw"][1] + truth["nivcsw"][1]
    slack = max(check_truth.SCHEDULER_NS, check_truth.SCHEDULER_RELATIVE * span["work_ns"]) + switches * check_truth.SCHEDULER_SWITCH_NS
    problems.within(where, "on_cpu_ns", span["on_cpu_ns"], truth["cpu_ns"], slack, slack + truth["stolen_ns"][1])
    if not switches:
        problems.check(span["blocked_ns"] + span["runnable_ns"] == 0, where, "it was never switched, and waited")
    reason = truth["blocked"]
    if reason and truth["nvcsw"][0] > 0 and truth["asked_ns"]:
        problems.check(span["blocked"][reason] + span["unknown_ns"] >= truth["asked_ns"] - clock, where, f"blocked for {span['blocked']}, asked for {truth['asked_ns']} of {reason}")
    if switches:
        problems.excuse(truth["label"], where, before)


def main():
    mode, truth_path, log_path = sys.argv[1:]
    problems = check_truth.Problems()
    log = check_truth.Log(check_truth.read_jsonl(log_path))
    truths = [line for line in check_truth.read_jsonl(truth_path) if line["type"] == "span"]
    problems.check(truths, "the program", "said nothing")
    for kind in ("run", "wake", "other_run"):
        problems.check(not log.records[kind], "the log", f"has {len(log.records[kind])} records of kind {kind}")
    for truth in truths:
        spans = log.find(truth)
        if problems.check(len(spans) == 1, f"span {truth['id']} ({truth['label']})", f"is in the log {len(spans)} times"):
            check_span(problems, spans[0], truth, mode)
    excused = problems.judge_excuses(truths)
    recorder = log.records["summary"][-1]["recorder"]
    problems.check(recorder["sent_cnt"] == recorder["received_cnt"] + recorder["lost_cnt"], "the log", "sent is not received + lost")
    for name, cnt in recorder["anomalies"].items():
        problems.check(cnt == 0 or name not in ("clock_mismatch", "imbalance"), "the log", f"has {cnt} {name}")
    for line in problems.lines:
        print(line)
    print(f"{len(truths)} spans, {excused} excused, {len(problems.lines)} problems")
    return 1 if problems.lines else 0


if __name__ == "__main__":
    sys.exit(main())
