#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Probes on instructions that the kernel single-steps: counted, charged, and announced before recording.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

program=first_instructions

# is_near A B: neither is more than twice the other
is_near() {
	[ "$1" -gt 0 ] && [ "$2" -gt 0 ] && [ "$1" -le $((2 * $2)) ] && [ "$2" -le $((2 * $1)) ] || fail "$1 and $2 are far apart"
}

# once LINES TEXT: among what the recorder said, so many lines have it
once() {
	[ "$(grep -c "$2" "$tmp/told")" = "$1" ] || fail "not $1 lines say '$2': $(cat "$tmp/told")"
}

# calls MODE OPTION...: the program, launched, with both of its functions recorded unless OPTIONs say otherwise
calls() {
	local mode=$1
	shift
	"$recorder" -q -o "$tmp/calls.txtrace" "$@" -- "$programs/$program" "$mode" 40000 >"$tmp/program.out" 2>"$tmp/told" || fail "$(cat "$tmp/told")" || return
	"$reader" report --cost --json "$tmp/calls.txtrace" >"$tmp/cost.json" && export_log "$tmp/calls.txtrace"
}

# What the program needed, which without a recorder is next to nothing, against what the log says that tracing took.
near_the_truth() {
	local truth said
	truth=$(jq .cpu_ns "$tmp/program.out")
	said=$(jq .cost.total_ns "$tmp/cost.json")
	is_near "$said" "$truth" || return
	echo "# MEASURED $1: tracing took $((said / 1000000)) ms by the log, $((truth / 1000000)) ms by the program's CPU time" >&3
}

stepped_cnt() {
	[ "$(jq .cost.single_stepped "$tmp/cost.json")" = "$1" ] || fail "$(jq -c .cost "$tmp/cost.json")"
}

emulated_alone() {
	calls emulated --func $program:emulated --func-returns hook && stepped_cnt 0 && once 0 single-step && near_the_truth emulated
}

stepped_alone() {
	calls stepped --func $program:stepped --func-returns hook && stepped_cnt 40000 && once 1 single-step &&
		once 1 "single-steps the probes of 1 function, for example 'stepped': each hit takes .* instead of " &&
		near_the_truth stepped && twice
}

# Its begin is emulated, and its return instruction is not.
ways_out() {
	calls both --func $program:emulated,stepped --func-returns exits && stepped_cnt 120000 && once 1 "of 2 functions" && near_the_truth both && twice
}

as_spans() {
	calls stepped --func-returns hook --span "one=uprobe:$program:stepped..uretprobe:$program:stepped" && stepped_cnt 40000 &&
		once 1 "of 1 function, for example 'one'" && near_the_truth span && twice
}

twice() {
	python3 tests/cli/cost_check.py check "$tmp/calls.txtrace.jsonl" "$tmp/cost.json"
}

# Before the program runs: the message stands in front of the one that recording has begun.
before_recording() {
	"$recorder" --messages json -o "$tmp/calls.txtrace" --func $program:stepped -- "$programs/$program" stepped 10 >"$tmp/program.out" 2>"$tmp/told" ||
		fail "$(cat "$tmp/told")" || return
	[ "$(jq -r .event "$tmp/told" | grep -nE '^(single_step|start)$' | tr '\n' ' ')" = "1:single_step 2:start " ] || fail "$(cat "$tmp/told")" || return
	jq -se 'map(select(.event == "single_step"))[0] | .functions == 1 and .example == "stepped" and .step_ns > .entry_ns and .entry_ns > 0' "$tmp/told" >/dev/null ||
		fail "$(cat "$tmp/told")"
}

exec 3>&1
if [ "$(uname -m)" != x86_64 ]; then
	number=1
	echo "ok 1 - single_steps # SKIP only on x86-64 it is known which instructions are single-stepped"
	finish
	exit 0
fi
check "what the kernel emulates is not single-stepped" emulated_alone
check "what it single-steps is warned of and charged" stepped_alone
check "… and at the ways out of a function" ways_out
check "… and of a span" as_spans
check "the warning comes before recording" before_recording
finish
