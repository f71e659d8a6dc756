# SPDX-License-Identifier: BSD-2-Clause
"""python3 check_polls.py <LOG.jsonl: what ended the waits of tests/programs/polls.c has the number 50 in the log, each time."""
import collections
import json
import sys

named, last, wrong = collections.Counter(), {}, []
for line in map(json.loads, sys.stdin):
    if line["type"] != "run":
        continue
    before, last[line["tid"]] = last.get(line["tid"]), line
    reason, fd = line.get("wait_reason"), int(line.get("wait_object", "0x0"), 16)
    if reason in ("network", "pipe") or (reason == "sleep" and fd):
        named[reason] += 1
        if fd & 0xffffffff != 50 or fd >> 32 > 1:
            wrong.append(f"{reason} ended by {fd:#x}, begun as {before}")
print(*wrong, dict(named), sep="\n")
sys.exit(bool(wrong) or min(named[reason] for reason in ("network", "pipe", "sleep")) < 10)
