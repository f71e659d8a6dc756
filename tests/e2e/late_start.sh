#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Of the tests themselves: a program goes on when the recorder records, however long after the program's probes were set that is.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
if ! command -v strace >/dev/null; then
	echo "ok 1 - late_start # SKIP there is no strace"
	echo "1..1"
	exit 0
fi

# The first program's probes are set before the second one's file is read, which takes more than a second here.
waits_for_the_recorder() {
	local first second
	"$programs/spin" --repeat 5 --output "$tmp/first.truth" &
	first=$!
	"$programs/lock" --output "$tmp/second.truth" &
	second=$!
	timeout 100 strace -f -o "$tmp/calls" -e trace=pread64 -e inject=pread64:delay_exit=100000 "$recorder" -q -o "$tmp/late.txtrace" -p $first,$second || return
	wait $first && wait $second && export_log "$tmp/late.txtrace" || return
	[ "$(grep -c '"type":"span".*"label":"spin"' "$tmp/late.txtrace.jsonl")" = 5 ] || fail "spans before the recorder recorded"
}

check "a program that is traced early waits for a recorder that starts late" waits_for_the_recorder
finish
