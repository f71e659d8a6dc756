#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Pay for what you use: the same programs with known answers under --sched ledger (the accounts are as exact, the timeline is not there) and off.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
need_account

# trace MODE PROGRAM [ARGUMENT...]
trace() {
	local mode=$1 program=$2
	shift 2
	"$recorder" -q --sched "$mode" -o "$tmp/$mode.$program.txtrace" -- "$programs/$program" "$@" --output "$tmp/$mode.$program.truth" ||
		fail "txtrace-bpf ended with $?" || return
	export_log "$tmp/$mode.$program.txtrace"
}

# of MODE PROGRAM: its truth and its log
of() {
	printf '%s\n' "$tmp/$1.$2.truth" "$tmp/$1.$2.txtrace.jsonl"
}

exact() {
	trace ledger "$1" || return
	mapfile -t files < <(of ledger "$1")
	account_so_far || fail "the scheduler's account cannot be had" || return
	python3 $e2e/check_modes.py ledger "${files[@]}" "${account[@]:1}"
}

wall_only() {
	trace off "$1" || return
	mapfile -t files < <(of off "$1")
	python3 $e2e/check_modes.py off "${files[@]}"
}

said() { # said MODE TEXT
	"$reader" report "$tmp/$1.waits.txtrace" >"$tmp/report" && grep -q "$2" "$tmp/report" || { head -3 "$tmp/report"; return 1; }
}

no_program() { # no_program NAME: the recorder that runs now has not loaded it
	! "$BPFTOOL" prog show name "$1" 2>/dev/null | grep -q "pids txtrace-bpf($2)"
}

off_loads_nothing() {
	local pid name
	"$programs/idle" --output "$tmp/idle.truth" &
	local target=$!
	"$recorder" -q --sched off -o "$tmp/idle.txtrace" -p $target &
	pid=$!
	wait_for 10 grep -q txtrace "/proc/$pid/comm" && wait_for 20 test -e "$tmp/idle.txtrace.partial"
	for name in on_sched_switch on_sched_waking on_migrate on_wakeup_new; do
		no_program $name $pid || fail "$name is loaded"
	done
	kill -INT $pid
	wait $pid
	kill -KILL $target 2>/dev/null
	wait $target 2>/dev/null
	return 0
}

for program in spin waits lock nested many_threads; do
	check "ledger: $program: every ledger is as exact, and no stay on a CPU and no wakeup is told" exact $program
done
for program in waits handoff; do
	check "off: $program: wall and detached time, the rest is unknown; nothing is a lower bound for that" wall_only $program
done
check "a report says that there is no timeline" said ledger "; no timeline (--sched ledger)"
check "a report says that there are no ledgers" said off "; no timeline, no ledgers (--sched off)"
check "off: the scheduler's programs are not loaded" off_loads_nothing
finish
