#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What spans of programs without marks cost: their BPF programs' run time as the kernel has it, and the share of the program's CPU time.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
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
	said=$(python3 $e2e/run_times.py log "$tmp/run.txtrace.jsonl" "$event") || fail "the log has no run of $event" || return
	said=${said% *}
	read -r timed _ < <(printf '%s\n' "$(cat "$tmp/kernel.$event")") || return
	is_near "$said" "$timed" || return
	echo "# MEASURED $1: $said ns in the log, $timed ns by the kernel" >&3
}

# A program that does something runs longer than an empty one, which is tried at the start, however busy the machine is.
takes_longer_than_nothing() { # takes_longer_than_nothing EVENT
	jq -se "map(select(.type == \"cost\" and .event == \"$1\" and .timed_run_cnt > 0)) |
		length > 0 and all(.empty_run_ps > 0 and .empty_run_ps * .timed_run_cnt < .timed_run_ns * 1000)" "$tmp/run.txtrace.jsonl" >/dev/null ||
		fail "$(jq -c "select(.type == \"cost\" and .event == \"$1\")" "$tmp/run.txtrace.jsonl")"
}

# What the kernel has timed of both so far. The recorder has it timed once a second, for up to 100 ms.
kernel_timed() {
	python3 $e2e/run_times.py kernel "$tracer" "$BPFTOOL" "$begin_program" >"$tmp/kernel.begin" &&
		python3 $e2e/run_times.py kernel "$tracer" "$BPFTOOL" "$end_program" >"$tmp/kernel.end"
}

kernel_timed_more() {
	sleep 0.2 # no longer in the same window
	kernel_timed && ! cmp -s "$tmp/kernel.begin" "$tmp/before.begin" && ! cmp -s "$tmp/kernel.end" "$tmp/before.end"
}

# On a busy machine the program may have no CPU in one of these windows. The log has what was timed in a window before the last one.
timed_twice() {
	wait_for 60 kernel_timed && cp "$tmp/kernel.begin" "$tmp/before.begin" && cp "$tmp/kernel.end" "$tmp/before.end" && wait_for 60 kernel_timed_more
}

# run_times BEGIN-PROGRAM END-PROGRAM OPTION...: records until both were timed, and asks the kernel before the end.
run_times() {
	local begin_program=$1 end_program=$2 tracer
	shift 2
	starts emulated 0 50000 || return
	"$recorder" -q -o "$tmp/run.txtrace" -p "$victim" "$@" &
	tracer=$!
	wait_for 30 test -s "$tmp/run.txtrace.partial" || return
	timed_twice
	local status=$?
	kill -INT $tracer
	wait $tracer
	ends
	[ $status = 0 ] || fail "the kernel timed nothing: $(cat "$tmp"/kernel.*)" || return
	export_log "$tmp/run.txtrace" || return
	agrees begin "$begin_program" && agrees end "$end_program" || return
	"$reader" report --cost --json "$tmp/run.txtrace" >"$tmp/cost.json" || return
	jq -e '.cost.classes.span.run_ns > 0' "$tmp/cost.json" >/dev/null || fail "$(jq -c .cost "$tmp/cost.json")" || return
	takes_longer_than_nothing begin && takes_longer_than_nothing end
}

computed_twice() {
	python3 tests/cli/cost_check.py check "$tmp/run.txtrace.jsonl" "$tmp/cost.json"
}

# once LINES TEXT: among what the recorder said, so many lines have it
once() {
	[ "$(grep -c "$2" "$tmp/told")" = "$1" ] || fail "not $1 lines say '$2': $(cat "$tmp/told")"
}

# field EVENT MEMBER: of what the recorder said as JSON
field() {
	jq "select(.event == \"$1\") | .$2" "$tmp/told"
}

# between EVENT EVENT: milliseconds from the first one to the second
between() {
	jq -s 'def ms: (.time | (.[:19] + "Z" | fromdate) * 1000 + (.[20:23] | tonumber));
		(map(select(.event == "'"$2"'"))[0] | ms) - (map(select(.event == "'"$1"'"))[0] | ms)' "$tmp/told"
}

# The share that the recorder reports at the end, against what calls of a probed function took more than those of its twin; both in percent. Of two
# small shares the difference is small whatever they are: so they are within a factor of four, too. Where a trap takes microseconds, as on some
# hypervisors, both are large, and the calibration is further off: it may be half of the truth. The warning comes while the program runs.
heavy() {
	local truth said off
	"$recorder" --messages json -o "$tmp/calls.txtrace" --func $program:emulated --func-returns hook -- "$programs/$program" paired 200000 5000 \
		>"$tmp/program.out" 2>"$tmp/told" || fail "$(cat "$tmp/told")" || return
	jq -s . "$tmp/told" >"$tmp/told.json" || fail "$(cat "$tmp/told")" || return
	[ "$(field tracing_share tracing_ns | wc -l)" = 1 ] || fail "it warned not once: $(cat "$tmp/told")" || return
	truth=$(jq '100 * (.called_ns - .twin_ns) / .cpu_ns | round' <(head -n 1 "$tmp/program.out"))
	said=$(jq -s 'map(select(.event == "cost"))[0] | [100 * .tracing_ns / .target_cpu_ns, 100] | min | round' "$tmp/told")
	off=$((truth / 2 > 15 ? truth / 2 : 15))
	[ $((said - truth)) -lt $off ] && [ $((truth - said)) -lt $off ] || fail "$said % is said, $truth % is so" || return
	[ "$truth" -gt 0 ] && [ "$said" -le $((4 * truth)) ] && [ "$truth" -le $((4 * said)) ] || fail "$said % is said, $truth % is so" || return
	[ "$(jq -r .event "$tmp/told" | grep -nE '^(tracing_share|cost)$' | cut -d : -f 2 | tr '\n' ' ')" = "tracing_share cost " ] || fail "$(cat "$tmp/told")" || return
	echo "# MEASURED tracing is $said % of the program's CPU time by the recorder, $truth % by the program; warned after $(between start tracing_share) ms" >&3
}

# About a hundred calls a second cost far less than the tenth from which on there is a warning, on a slow machine, too. Switches are not traced: others that
# preempt the program tens of thousands of times a second make tracing those expensive, and the warning right.
light() {
	starts emulated 0 30000000 || return
	"$recorder" -o "$tmp/light.txtrace" --func $program:emulated --func-returns hook --sched off -d 1 -p "$victim" >/dev/null 2>"$tmp/told"
	ends
	once 0 'tracing takes' && once 1 "tracing cost .* of CPU, .* % of the program's: "
}

# Processes that come and go: what is not known of them makes the share smaller, and it is never more than all.
short_lived() {
	"$recorder" --messages json -f -o "$tmp/calls.txtrace" --func $program:emulated --func-returns hook -- \
		sh -c "for i in \$(seq 30); do '$programs/$program' emulated 2000; done" >"$tmp/program.out" 2>"$tmp/told" || fail "$(cat "$tmp/told")" || return
	[ "$(field cost 'target_cpu_ns > 0')" = true ] || fail "$(cat "$tmp/told")"
}

exec 3>&1
check "--func: the BPF time is the kernel's" run_times on_function_call on_function_return --func $program:emulated --func-returns hook
check "… the sums, computed a second time" computed_twice
check "… with its ways out probed" run_times on_function_enter on_function_leave --func $program:emulated --func-returns exits
check "--span: the BPF time is the kernel's" run_times on_foreign_begin on_foreign_end \
	--span "one=uprobe:$program:emulated..uretprobe:$program:emulated,tag=a:arg0" --func-returns hook
check "… the sums, computed a second time" computed_twice
check "a warning when tracing is more than a tenth of the program, and the share at the end" heavy
check "no warning where it is less" light
check "programs that come and go" short_lived
finish
