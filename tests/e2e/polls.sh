#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A wait in poll, select or epoll is for what ended it, and the log names the descriptor that did.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
need_account

# Of the waits that a descriptor ended, all: it has the same number in each (ENDING_FD of tests/programs/polls.c).
descriptors_are_named() {
	python3 $e2e/check_polls.py <"$tmp/polls.txtrace.jsonl"
}


check "each end of a poll has its reason: attached to" holds attach_to attached polls --repeat 3
check "each end of a poll has its reason: launched" holds launch polls polls --repeat 10
check "what ended it is named" descriptors_are_named
finish
