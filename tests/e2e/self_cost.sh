#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What tracing costs: events are counted exactly, each file of a capture tells its part, and the estimate stands beside what was measured.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

loop=
trap 'kill -KILL $loop 2>/dev/null' EXIT
cp "$recorder" "$tmp/txtrace-bpf" # other tests run the other one meanwhile
recorder=$tmp/txtrace-bpf

# says LOG JQ-FILTER WANTED: of report --cost --json
says() {
	local is
	"$reader" report --cost --json "$1" >"$tmp/cost.json" || return
	is=$(jq -c "$2" "$tmp/cost.json")
	[ "$is" = "$3" ] || fail "$2 is $is, not $3"
}

# events LOG: kind and number, of the recorder's own count
events() {
	"$reader" export --format jsonl "$1" | jq -r 'select(.type == "cost" and .event != "") | "\(.event) \(.event_cnt)"' | sort |
		awk '{ sum[$1] += $2 } END { for (kind in sum) print kind, sum[kind] }' | sort
}

# marks MODE EXPECTED: 6,400 iterations of a loop around marks; EXPECTED are the lines of events() about them
# Beside the scheduler's events, and the stack of a futex that it may have waited for.
marks() {
	"$recorder" -q -o "$tmp/$1.txtrace" -- "$programs/probe_loop" --mode "$1" --iterations 6400 >"$tmp/loop.out" || return
	diff <(printf '%s\n' "$2") <(events "$tmp/$1.txtrace" | grep -vE '^(switch|wake|thread|thread_exit|exec|other|move|process|stack) ')
}

# hits MODE EVENTS-OF-ALL-SPANS: the same, by label. Whoever was pushed off pays for switches too, so these are not looked at.
hits() {
	says "$tmp/$1.txtrace" '[.rows[] | select(.name == "loop") | .spans, .events.span, .events.key, .events.text, .events.mark]' "$2"
}

# The recorder's count of all events is what it said it sent; each kind that was sent has a record.
adds_up() { # adds_up LOG...
	"$reader" report --cost --json "$@" >"$tmp/cost.json" && jq -e '.cost.events == .losses.sent and
		([.cost.classes[].events] | add) == .losses.sent' "$tmp/cost.json" >/dev/null || fail "$(jq -c '[.cost, .losses]' "$tmp/cost.json")"
}

second_computation() {
	local mode
	for mode in begin-end tagged attributed keyed handoff counter; do
		"$reader" report --cost --json "$tmp/$mode.txtrace" >"$tmp/cost.json" && export_log "$tmp/$mode.txtrace" &&
			python3 tests/cli/cost_check.py check "$tmp/$mode.txtrace.jsonl" "$tmp/cost.json" || return
	done
}

# Many threads, keys, hand-offs, in several files. The bank knows how many transactions it did.
bank_in_parts() {
	mkdir "$tmp/parts"
	"$recorder" -q -o "$tmp/parts/bank.txtrace" --rotate-size 16K --keep 0 -- "$programs/bank" --transactions 3000 --rate 1500 >"$tmp/bank.out" || return
	local parts=("$tmp/parts"/*.txtrace) part
	[ "${#parts[@]}" -gt 1 ] || fail "there are only ${#parts[@]} files" || return
	for part in "${parts[@]}"; do
		"$reader" dump --kind cost "$part" | grep -q 'event="" ' || fail "'$part' says nothing of the cost" || return
	done
	adds_up "$tmp/parts" || return
	says "$tmp/parts" '.cost.classes.text.events >= 3000' true || return
	diff <(printf '%s\n' "begin_detached 3000" "link 3000" "tag 3000") <(events "$tmp/parts" | grep -E '^(begin_detached|link|tag) ')
}

merged_the_same() {
	"$reader" report --cost --json "$tmp/parts" | jq -S '[.rows, .cost, .losses.sent]' >"$tmp/parts.json" || return
	"$reader" merge -o "$tmp/merged.txtrace" "$tmp/parts"/*.txtrace >"$tmp/merge.out" || return
	"$reader" report --cost --json "$tmp/merged.txtrace" | jq -S '[.rows, .cost, .losses.sent]' | diff "$tmp/parts.json" - &&
		"$reader" verify "$tmp/merged.txtrace" >"$tmp/verify.out" || fail "$(tail -n 5 "$tmp/verify.out")" || return
	export_log "$tmp/merged.txtrace" && "$reader" report --cost --json "$tmp/merged.txtrace" >"$tmp/cost.json" &&
		python3 tests/cli/cost_check.py check "$tmp/merged.txtrace.jsonl" "$tmp/cost.json"
}

everything_is_known() {
	says "$tmp/merged.txtrace" '[.cost.is_whole, .cost.timing_ns > 0, .cost.recorder_cpu_ns > 0, .cost.ring_bytes > .cost.events * 48,
		.cost.classes.span.entry_ns > 0, .cost.classes.span.calibrated >= 4096]' '[true,true,true,true,true,true]'
}

# Timing runs needs CAP_SYS_ADMIN. Without it that is not known, and the rest is.
without_sys_admin() {
	"$programs/probe_loop" --mode begin-end --steps 1000 >"$tmp/loop.out" &
	loop=$!
	wait_for 20 grep -qs probe_loop "/proc/$loop/comm"
	setpriv --bounding-set -sys_admin --inh-caps -sys_admin -- "$recorder" -o "$tmp/less.txtrace" -p $loop -d 1 >"$tmp/out" 2>"$tmp/err"
	local status=$?
	kill $loop
	loop=
	if [ $status = 2 ] && grep -q uprobe_multi "$tmp/err"; then
		return 0 # this kernel does not record without it
	fi
	[ $status = 0 ] || fail "$(cat "$tmp/err")" || return
	grep -q 'tracing cost at least ' "$tmp/err" || fail "$(cat "$tmp/err")" || return
	says "$tmp/less.txtrace" '[.cost.is_whole, .cost.classes.span.run_ns, .cost.classes.span.entry_ns > 0]' '[false,null,true]'
}

# Processes that run our recorder.
recorders() {
	find /proc -maxdepth 2 -name exe -lname "$(realpath "$recorder")" 2>/dev/null
}

nobody_is_left() {
	[ -z "$(recorders)" ]
}

# It, txtrace-symbols, txtrace-unwind, txtrace-elf, txtrace-readers with its txtrace-reader, and txtrace-trial; while a file is read there is one more.
are_all_there() {
	[ "$(recorders | wc -l)" = 7 ]
}

# The process in which the way to a program is calibrated ends with the recorder, however that ends.
calibration_ends() {
	"$programs/probe_loop" --mode begin-end --steps 1000 >"$tmp/loop.out" &
	loop=$!
	wait_for 20 grep -qs probe_loop "/proc/$loop/comm"
	"$recorder" -q -o "$tmp/killed.txtrace" -p $loop &
	local tracer=$!
	wait_for 20 test -s "$tmp/killed.txtrace.partial" || return
	wait_for 20 are_all_there || fail "$(recorders)" || return
	kill -KILL $tracer
	wait $tracer 2>/dev/null
	wait_for 20 nobody_is_left || return
	kill $loop
	loop=
}

# Recorded every other quarter of a second: what an iteration takes, as the program says, against what the logs say that its two probes cost.
beside_the_truth() {
	python3 $e2e/cost_truth.py "$recorder" "$reader" "$programs/probe_loop" "$tmp" >"$tmp/truth.out" || fail "$(cat "$tmp/truth.out")" || return
	sed 's/^/# /' "$tmp/truth.out" >&3
}

exec 3>&1
check "begin and end, 6,400 times" marks begin-end "$(printf '%s\n' "begin 6400" "end 6400")"
check "tags too" marks tagged "$(printf '%s\n' "begin 6400" "end 6400" "tag 6400")"
check "attributes too" marks attributed "$(printf '%s\n' "attr 6400" "begin 6400" "end 6400")"
check "spans by key" marks keyed "$(printf '%s\n' "key_begin 6400" "key_end 6400")"
check "hand-offs" marks handoff "$(printf '%s\n' "begin_detached 6400" "end 6400" "enter 6400" "leave 6400")"
check "counters" marks counter "counter 6400"
check "each span of these paid for two probes" hits begin-end '[6400,12800,0,0,0]'
check "… and its tag" hits tagged '[6400,12800,0,6400,0]'
check "… and its attribute" hits attributed '[6400,12800,0,6400,0]'
check "… by key" hits keyed '[6400,0,12800,0,0]'
check "who enters a span pays for that, who began and ended it was not in it" hits handoff '[6400,12800,0,0,0]'
check "all that was sent has its record" adds_up "$tmp/begin-end.txtrace"
check "the same, computed a second time" second_computation
check "a bank in several files: each tells its part, all add up" bank_in_parts
check "merged into one, they say the same" merged_the_same
check "measured, calibrated, counted" everything_is_known
check "without CAP_SYS_ADMIN: at least" without_sys_admin
check "no process of ours is left" nobody_is_left
check "nor after a kill" calibration_ends
check "the estimate beside the truth" beside_the_truth
finish
