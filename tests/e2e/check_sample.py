# SPDX-License-Identifier: BSD-2-Clause
"""
python3 check_sample.py RATE TRUTH.jsonl LOG.jsonl

Which transactions --sample 1/RATE takes follows from ids and keys alone (bpf/span_filter.bpf.c), so it is known beforehand: these are in the log, with all their spans
and exact, and no other one of the program (random also marks nonsense, of which its truth says nothing). Prints what is wrong; exit status 1 if anything is.
"""
import json
import sys

MASK = (1 << 64) - 1
KEY_BYTES = 64


def mix(x):
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & MASK
    return x ^ x >> 31


def is_chosen(number, rate):
    return (number >> 32) % rate == 0


def is_id_chosen(pid, number, rate):
    return is_chosen(mix((mix(number) + pid) & MASK), rate)


def is_key_chosen(key, rate):
    key = key[:KEY_BYTES].ljust(KEY_BYTES, b"\0")
    number = 0
    for i in range(KEY_BYTES // 8):
        number = (mix(number ^ int.from_bytes(key[8 * i : 8 * i + 8], "little")) + i) & MASK
    return is_chosen(mix(number), rate)


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def name_of_truth(span):
    return ("key", span["key_text"]) if span.get("key_text") else (span["pid"], span["id"])


def name_of_span(span):
    return ("key", span["key_text"]) if span["keyed"] else (span["pid"], span["id"])


def main():
    rate = int(sys.argv[1])
    truths = {name_of_truth(line): line for line in lines_of(sys.argv[2]) if line["type"] == "span"}
    spans = {name_of_span(line): line for line in lines_of(sys.argv[3]) if line["type"] == "span"}

    def is_wanted(name):
        truth = truths[name]
        if name[0] == "key":
            return is_key_chosen(name[1].encode(), rate)
        if truth["parent"] not in (None, "0"):
            return is_wanted((truth["pid"], truth["parent"]))
        return is_id_chosen(truth["pid"], int(truth["id"]), rate)

    wanted = {name for name in truths if name[1] is not None and is_wanted(name)}
    keyed = {name for name in wanted if name[0] == "key"}
    children = {name for name in wanted if name[0] != "key" and truths[name]["parent"] not in (None, "0")}
    problems = [f"{name} is not in the log" for name in wanted - spans.keys()] + [f"{name} is in the log" for name in (spans.keys() & truths.keys()) - wanted]
    for name in wanted & spans.keys():
        span = spans[name]
        if span["lower_bound"] or not truths[name]["begin_ns"][0] <= span["begin_ns"] <= truths[name]["begin_ns"][1]:
            problems.append(f"{name} is not as it was: {span}")
    if not keyed or not children or len(wanted) == len(truths):
        problems.append(f"{len(wanted)} of {len(truths)} spans, {len(keyed)} with a key, {len(children)} with a parent: that shows nothing")
    for line in problems[:20]:
        print(line)
    print(f"{len(wanted)} of {len(truths)} spans")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
