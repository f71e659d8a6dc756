#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# takes long: 15 s of a CPU
# Targets that others hold or confine: under strict seccomp and under a filter that kills, and under ptrace. None of them is harmed, and their spans are what the
# programs say.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
need_account

trap 'kill -KILL $(jobs -p) 2>/dev/null; wait 2>/dev/null' EXIT

# ---- seccomp ----

# Its spans come in pairs, each with its tag, its attribute and its event, and the program has lived.
sandboxed_is_whole() { # sandboxed_is_whole NAME
	cat "$tmp/$1.out"
	grep -qx 'done' "$tmp/$1.out" || fail "the program was ended" || return
	export_log "$tmp/$1.txtrace" && is_sound "$tmp/$1.txtrace.jsonl" || return
	python3 $e2e/check_sandboxes.py sandboxed "$tmp/$1.txtrace.jsonl"
}

attached_to_sandboxed() { # attached_to_sandboxed HOW
	local pid
	"$programs/sandboxed" --how "$1" --repeat 200 >"$tmp/attached.out" &
	pid=$!
	"$recorder" -q -o "$tmp/attached.txtrace" -p $pid || fail "it ended with $?" || return
	wait $pid || fail "the program ended with $?" || return
	sandboxed_is_whole attached
}

# A hooked return comes through a system call where the kernel is 6.11 or newer.
functions_of_sandboxed() { # functions_of_sandboxed HOW RETURNS
	"$recorder" -q -o "$tmp/function.txtrace" --func sandboxed:sandboxed_work --func-returns "$2" -- \
		"$programs/sandboxed" --how "$1" --repeat 200 >"$tmp/function.out" 2>"$tmp/function.err" || fail "it ended with $?: $(cat "$tmp/function.err")" || return
	sandboxed_is_whole function || return
	[ "$(grep '"type":"span"' "$tmp/function.txtrace.jsonl" | grep -c '"label":"sandboxed_work"')" = 200 ] || fail "its function was not called 200 times"
}

# ---- ptrace ----

ptraced() { # ptraced HOW REPEAT
	"$recorder" -q -f -o "$tmp/$1.txtrace" -- "$programs/ptraced" --how "$1" --repeat "$2" --output "$tmp/$1.truth" 2>"$tmp/$1.err" ||
		fail "it ended with $?: $(cat "$tmp/$1.err")" || return
	export_log "$tmp/$1.txtrace"
}

# For each span, what it was blocked for is what its parent held it for, or more.
held_for_as_long_as_it_was() {
	ptraced hold 20 && compare hold || return
	python3 $e2e/check_sandboxes.py held "$tmp/hold.truth" "$tmp/hold.txtrace.jsonl"
}

# Ten system calls, a stop before and one behind each: 20 times it left its CPU for that, and for nothing else.
stopped_at_each_system_call() {
	ptraced syscalls 50 && is_sound "$tmp/syscalls.txtrace.jsonl" || return
	python3 $e2e/check_sandboxes.py syscalls "$tmp/syscalls.txtrace.jsonl"
}

# Over the probes, too: each mark is made once, and the program ends well.
stepped_through_its_marks() {
	ptraced steps 100 && is_sound "$tmp/steps.txtrace.jsonl" || return
	python3 $e2e/check_sandboxes.py steps "$tmp/steps.txtrace.jsonl"
}

# Its threads stand in ptrace stops when the recorder comes; then it is let go.
attached_while_held() {
	local pid holder
	"$programs/spin" --repeat 10 --output "$tmp/late.truth" &
	pid=$!
	mkfifo "$tmp/let_go"
	python3 $e2e/hold_by_ptrace.py $pid <"$tmp/let_go" >"$tmp/held" &
	holder=$!
	exec 7>"$tmp/let_go"
	wait_for 60 grep -q held "$tmp/held" || fail "it is not held" || return
	"$recorder" --messages json -o "$tmp/late.txtrace" -p $pid 2>"$tmp/late.err" 7>&- &
	wait_for 60 grep -qs '"message":"recording"' "$tmp/late.err" || fail "$(cat "$tmp/late.err")" || return
	exec 7>&-
	wait $holder || fail "the holder ended with $?" || return
	wait $pid || fail "the program ended with $?" || return
	wait $! || fail "the recorder ended with $?" || return
	export_log "$tmp/late.txtrace" && compare late
}

for how in strict filter; do
	check "under $how seccomp: attached to" attached_to_sandboxed "$how"
	for returns in hook exits; do
		check "under $how seccomp: a function, its returns by $returns" functions_of_sandboxed "$how" $returns
	done
done
check "held by ptrace in the middle of its spans: that long it was stopped" held_for_as_long_as_it_was
check "stopped at each system call, as strace does it" stopped_at_each_system_call
check "stepped through its marks" stepped_through_its_marks
check "held by ptrace while the recorder comes" attached_while_held
finish
