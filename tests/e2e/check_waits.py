# SPDX-License-Identifier: BSD-2-Clause
"""
Who waited for whom, against what the traced program did.

python3 check_waits.py blame BLAME.json LOG.jsonl       the program `lock`: "waiter" waits for a mutex that "holder" has
                                                        for 5 ms and more

Prints what is wrong, one line each. Exit status 1 if anything is.

What is allowed: some machines hide what happens in tasks of their own (see check_truth.py, UNSEEN), 1 in 20, at least 3.
"""
import json
import sys

MS = 1_000_000
UNSEEN_SHARE, UNSEEN_LEAST = 0.05, 3

problems = []


def check(is_fine, what):
    if not is_fine:
        problems.append(what)


def unseen_allowed(cnt):
    return max(UNSEEN_LEAST, UNSEEN_SHARE * cnt)


def read_jsonl(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def check_blame(blame, lines):
    waiters = [line for line in lines if line["type"] == "span" and line["label"] == "waiter"]
    pairs = [pair for pair in blame["pairs"] if pair["waiter"]["name"] == "waiter"]
    on_holder = sum(pair["count"] for pair in pairs if pair["waker"] == {"kind": "span", "name": "holder"})
    on_holder_ns = sum(pair["ns"] for pair in pairs if pair["waker"] == {"kind": "span", "name": "holder"})
    blocked_ns = sum(span["blocked_ns"] for span in waiters)
    allowed = unseen_allowed(len(waiters))
    check(len(waiters) > 0, "there are no waiters")
    check(on_holder >= len(waiters) - allowed, f"{on_holder} of {len(waiters)} waits are charged to the holder")
    check(on_holder_ns >= 5 * MS * (len(waiters) - allowed), f"the waiters waited {on_holder_ns} ns on the holder, each 5 ms at least")
    # What the ledgers say, and the matrix does not, is waits that were not seen to begin or to end.
    all_ns = sum(pair["ns"] for pair in pairs)
    longest = max(span["blocked_ns"] for span in waiters)
    check(all_ns <= blocked_ns, f"the matrix has {all_ns} ns, the ledgers {blocked_ns}")
    check(all_ns == blocked_ns or blocked_ns - all_ns <= allowed * longest, f"the matrix has {all_ns} ns, the ledgers {blocked_ns}")
    check(blame["waits"]["unseen"]["count"] <= unseen_allowed(blame["waits"]["all"]["count"]), f"of {blame['waits']['all']['count']} wakeups "
          f"{blame['waits']['unseen']['count']} are not in the log")
    runs_ns = sum(line["blocked_ns"] for line in lines if line["type"] == "run")
    check(runs_ns == blame["waits"]["all"]["ns"] == sum(blame["waits"][part]["ns"] for part in ("in_spans", "in_no_span", "unseen")),
          f"the stays on CPUs tell of {runs_ns} ns")


def main():
    if sys.argv[1] == "blame":
        check_blame(read_json(sys.argv[2]), read_jsonl(sys.argv[3]))
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
