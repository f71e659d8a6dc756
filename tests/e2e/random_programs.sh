#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs that nobody planned, and what must not be done to spans: thousands of ledgers against what the programs measured. How near they are is shown.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
need_account

# shows launch|attach_to NAME PROGRAM...: as `holds`; what was measured goes to the output of the test
shows() {
	"$@" && compare "$2" >"$tmp/compared"
	local status=$?
	grep '^# MEASURED' "$tmp/compared" >>"$tmp/measured"
	grep -v '^# MEASURED' "$tmp/compared"
	return $status
}

random() { # random launch|attach_to SEED THREADS SPANS
	shows "$1" "random.$2" random --seed "$2" --threads "$3" --spans "$4"
}

# What the first tracer has seen of the old spans is unfinished; the second one knows nothing of them and counts what it sees.
older_than_the_tracer() {
	local pid first status
	"$programs/two_tracers" --wait-traced 200 --output "$tmp/second.truth" 2>"$tmp/begun" &
	pid=$!
	"$recorder" -q -o "$tmp/first.txtrace" -p $pid &
	first=$!
	wait_for 20 test -s "$tmp/begun" || kill -KILL $pid
	kill -INT $first
	wait $first && "$recorder" -q -o "$tmp/second.txtrace" -p $pid
	status=$?
	[ $status = 0 ] || kill -KILL $pid
	wait $pid || fail "the program ended with $?" || return
	[ $status = 0 ] || fail "txtrace-bpf ended with $status" || return
	export_log "$tmp/first.txtrace" && export_log "$tmp/second.txtrace" && compare second &&
		is_sound "$tmp/first.txtrace.jsonl" || return
	[ "$(grep -c '"label":"old".*"lower_bound":true,"unfinished":true' "$tmp/first.txtrace.jsonl")" = 4 ] || fail "the first tracer does not have four unfinished spans"
}

check "2000 transactions of 4 workers" random launch 1 4 2000
cat "$tmp/measured"
check "400 of 12 workers, attached to" random attach_to 2 12 400
check "400 of 2 workers" random launch 3 2 400
check "400 of 30 workers, attached to" random attach_to 4 30 400
check "spans that are older than the tracer are never guessed" older_than_the_tracer
check "a tid that is used again: launched" holds launch tid_reuse.launched tid_reuse
check "a tid that is used again: attached to" holds attach_to tid_reuse.attached tid_reuse
finish
