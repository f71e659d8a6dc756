# SPDX-License-Identifier: BSD-2-Clause
"""
python3 check_modes.py ledger|off TRUTH.jsonl LOG.jsonl [ACCOUNT]

Holds a log without a timeline against what the program says of itself (tests/programs/truth.h). check_truth.py compares with the timeline, too; here are the
rules of its spans alone, with its allowances. Prints what is wrong; exit status 1 if anything is.
"""
import sys

import check_truth


def check_span(problems, span, truth, mode, wanted):
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
    check_truth.check_scheduler(problems, where, truth, span, wanted)
    switches = check_truth.switch_cnt(truth)
    if not switches:
        problems.check(span["blocked_ns"] + span["runnable_ns"] == 0, where, "it was never switched, and waited")


def check_lengths(problems, log, truths):
    """A thread that goes to sleep is still on its CPU for a moment, or longer if another one gets it: so not each is blocked for all that it asked for."""
    for label in {truth["label"] for truth in truths if truth["blocked"] and truth["asked_ns"]}:
        over = [span["blocked"][truth["blocked"]] - truth["asked_ns"] for truth in truths if truth["label"] == label for span in log.find(truth)]
        problems.check(max(over, default=-1) >= 0, label, "none was blocked for as long as it asked to be")


def main():
    mode, truth_path, log_path, *options = sys.argv[1:]
    problems = check_truth.Problems()
    log = check_truth.Log(check_truth.read_jsonl(log_path))
    truths = [line for line in check_truth.read_jsonl(truth_path) if line["type"] == "span"]
    problems.check(truths, "the program", "said nothing")
    account = check_truth.read_account(problems, options[0] if options else None, truths)
    for kind in ("run", "wake", "other_run"):
        problems.check(not log.records[kind], "the log", f"has {len(log.records[kind])} records of kind {kind}")
    for truth in truths:
        spans = log.find(truth)
        if problems.check(len(spans) == 1, f"span {truth['id']} ({truth['label']})", f"is in the log {len(spans)} times"):
            check_span(problems, spans[0], truth, mode, check_truth.scheduler_figures(truth, log, account))
    if mode == "ledger":
        check_lengths(problems, log, truths)
    recorder = log.records["summary"][-1]["recorder"]
    problems.check(recorder["sent_cnt"] == recorder["received_cnt"] + recorder["lost_cnt"], "the log", "sent is not received + lost")
    for name, cnt in recorder["anomalies"].items():
        problems.check(cnt == 0 or name not in ("clock_mismatch", "imbalance"), "the log", f"has {cnt} {name}")
    for line in problems.lines:
        print(line)
    print(f"{len(truths)} spans, {len(problems.lines)} problems")
    return 1 if problems.lines else 0


if __name__ == "__main__":
    sys.exit(main())
