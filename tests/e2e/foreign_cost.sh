#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What spans of programs without marks cost: their BPF programs' run time as the kernel has it, and what single-stepping adds.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh
need_bpf

victim=
trap 'kill -KILL $victim 2>/dev/null' EXIT
program=first_instructions

starts() { # starts ARGUMENT...: the program, until it is ended
	"$programs/$program" "$@" >"$tmp/program.out" &
	victim=$!
	wait_for 20 grep -qs first_instruct "/proc/$victim/comm"
}

ends() {
	kill "$victim"
	wait "$victim" 2>/dev/null
	victim=
}

# is_near A B: neither is more than twice the other
is_near() {
	[ "$1" -gt 0 ] && [ "$2" -gt 0 ] && [ "$1" -le $((2 * $2)) ] && [ "$2" -le $((2 * $1)) ] || fail "$1 and $2 are far apart"
}

# agrees EVENT PROGRAM...: the log's mean run time and the kernel's own
agrees() {
	local event=$1 said timed
	shift
	read -r said _ < <(python3 $e2e/run_times.py log "$tmp/run.txtrace.jsonl" "$event") || fail "the log has no run of $event" || return
	read -r timed _ < <(printf '%s\n' "$(cat "$tmp/kernel.$event")") || return
	is_near "$said" "$timed" || return
	echo "# MEASURED $1: $said ns in the log, $timed ns by the kernel" >&3
}

# run_times BEGIN-PROGRAM END-PROGRAM OPTION...: recorded for two seconds, the kernel asked before the end
run_times() {
	local begin=$1 end=$2 tracer
	shift 2
	starts emulated 0 2000 || return
	"$recorder" -q -o "$tmp/run.txtrace" -p "$victim" "$@" &
	tracer=$!
	wait_for 30 test -s "$tmp/run.txtrace.partial" || return
	sleep 2
	python3 $e2e/run_times.py kernel $tracer "$BPFTOOL" "$begin" >"$tmp/kernel.begin" &&
		python3 $e2e/run_times.py kernel $tracer "$BPFTOOL" "$end" >"$tmp/kernel.end"
	local status=$?
	kill -INT $tracer
	wait $tracer
	ends
	[ $status = 0 ] || fail "the kernel timed nothing: $(cat "$tmp"/kernel.*)" || return
	export_log "$tmp/run.txtrace" || return
	agrees begin "$begin" && agrees end "$end" || return
	"$reader" report --cost --json "$tmp/run.txtrace" >"$tmp/cost.json" || return
	jq -e '.cost.classes.span.run_ns > 0 and .cost.is_whole' "$tmp/cost.json" >/dev/null || fail "$(jq -c .cost "$tmp/cost.json")"
}

computed_twice() {
	python3 tests/cli/cost_check.py check "$tmp/run.txtrace.jsonl" "$tmp/cost.json"
}

exec 3>&1
check "--func: the BPF time is the kernel's" run_times on_function_call on_function_return --func $program:emulated --func-returns hook
check "… the sums, computed a second time" computed_twice
check "… with its ways out probed" run_times on_function_enter on_function_leave --func $program:emulated --func-returns exits
check "--span: the BPF time is the kernel's" run_times on_foreign_begin on_foreign_end \
	--span "one=uprobe:$program:emulated..uretprobe:$program:emulated,tag=a:arg0" --func-returns hook
check "… the sums, computed a second time" computed_twice
finish
