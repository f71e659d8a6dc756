#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# runs alone: it fills rings, and the recorder is to read what comes between its stops
# More events than the rings hold: every loss is counted and located, sent = received + lost, and what is not marked is as exact as ever.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
need_account

# The rings hold some hundred events, and the tracer is stopped again and again while thousands come.
trace_with_small_rings() { # trace_with_small_rings NAME PROGRAM [ARGUMENT...]
	local name=$1 program=$2 pid tracer
	shift 2
	"$programs/$program" "$@" --output "$tmp/$name.truth" &
	pid=$!
	"$recorder" -q --ring-size 64K -o "$tmp/$name.txtrace" -p $pid 2>"$tmp/$name.err" &
	tracer=$!
	wait_for 100 test -s "$tmp/$name.txtrace.partial" # the kernel gives up loading programs for who is stopped again and again
	while runs $pid; do
		kill -STOP $tracer
		sleep 0.2
		kill -CONT $tracer
		sleep 0.1
	done
	wait $pid || fail "$program ended with $?" || return
	wait $tracer || fail "the tracer ended with $?: $(cat "$tmp/$name.err")" || return
	export_log "$tmp/$name.txtrace"
}

loses_and_says_so() {
	trace_with_small_rings threads many_threads --threads 64 --repeat 20 || return
	compare threads --lossy
}

said_at_the_end() {
	cat "$tmp/threads.err"
	grep -q 'lost' "$tmp/threads.err"
}

keeps_some() {
	local whole
	whole=$(grep '"type":"span"' "$tmp/threads.txtrace.jsonl" | grep -c '"lower_bound":false')
	echo "$whole spans without a mark"
	[ "$whole" -gt 0 ]
}

marks_some() {
	grep '"type":"span"' "$tmp/threads.txtrace.jsonl" | grep -q '"lower_bound":true' || fail "there are losses and no lower bound"
}

# A storm that the rings do hold, or that loses: whichever, every event is accounted for.
accounts_for_storm() {
	"$recorder" -q -o "$tmp/storm.txtrace" -- "$programs/pingpong" --switches 200000 --output "$tmp/storm.windows" 2>"$tmp/storm.err" || fail "the tracer ended with $?" || return
	export_log "$tmp/storm.txtrace" || return
	if grep -q '"lost_cnt":0,' "$tmp/storm.txtrace.jsonl"; then
		python3 $e2e/check_truth.py - "$tmp/storm.txtrace.jsonl"
	else
		python3 $e2e/check_truth.py --lossy - "$tmp/storm.txtrace.jsonl"
	fi
}

# Two threads on one CPU that take turns: from each turn to the next there is a switch.
has_the_storm() {
	local stays
	grep -q '"lost_cnt":0,' "$tmp/storm.txtrace.jsonl" || return 0 # then the case before says what is missing
	stays=$(grep -c '"type":"run"' "$tmp/storm.txtrace.jsonl")
	echo "$stays stays on a CPU"
	[ "$stays" -ge 199999 ]
}

# In the time from one look of the reader to the next come more events than a ring holds: without being woken up it would lose a sixth of them.
wakes_the_reader() {
	local lost=
	for _ in 1 2 3 4 5; do
		"$recorder" -q --ring-size 1M -o "$tmp/steady.txtrace" -- "$programs/probe_loop" --mode begin-end --rate 60000 --seconds 2 >/dev/null || fail "ended with $?" || return
		lost="$lost $("$reader" info --json "$tmp/steady.txtrace" | jq .losses.lost)"
		case $lost in *" 0") return ;; esac
	done
	fail "lost each time:$lost"
}

check "with rings too small, sent = received + lost, and what is not marked is exact" loses_and_says_so
check "the losses are said at the end, with -q too" said_at_the_end
check "spans that no loss touched are whole" keeps_some
check "spans that a loss may have touched are marked" marks_some
check "a storm of 200,000 switches is accounted for" accounts_for_storm
check "and every hand-over of it is there" has_the_storm
if [ -n "${TXTRACE_EMULATED:-}" ]; then
	number=$((number + 1))
	echo "ok $number - a CPU that has sent much wakes the reader up # SKIP an emulator does not send as much"
else
	check "a CPU that has sent much wakes the reader up" wakes_the_reader
fi
finish
