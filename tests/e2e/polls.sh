#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A wait in poll, select or epoll is for what ended it, and the log names the descriptor that did.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh
need_bpf

# Of the waits that a descriptor ended, all: it has the same number in each (ENDING_FD of tests/programs/polls.c).
descriptors_are_named() {
	"$reader" export -f jsonl "$tmp/polls.txtrace" | python3 -c '
import collections, json, sys
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
sys.exit(bool(wrong) or min(named[reason] for reason in ("network", "pipe", "sleep")) < 10)'
}


check "each end of a poll has its reason: attached to" holds attach_to attached polls --repeat 3
check "each end of a poll has its reason: launched" holds launch polls polls --repeat 10
check "what ended it is named" descriptors_are_named
finish
