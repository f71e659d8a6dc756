#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Targets that are killed, exec, exit or fork at any moment of attaching, and what is no target at all: the recorder ends well or says one sentence, and nobody
# is harmed.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
need_account

others=()
trap 'kill -KILL "${others[@]}" 2>/dev/null; wait 2>/dev/null' EXIT

# ends_well STATUS: 0, or 2 and one sentence
ends_well() {
	case $1 in
	0) ;;
	2) [ "$(wc -l <"$tmp/race.err")" = 1 ] || fail "not one sentence: $(cat "$tmp/race.err")" ;;
	*) fail "the tracer ended with $1: $(cat "$tmp/race.err")" ;;
	esac
}

# moments NUMBER: from the first system call of the recorder to the first span, some milliseconds apart. A third of them, or all with TXTRACE_ALL_STEPS=1
# (attach_steps.sh tries steps instead of times).
moments() {
	printf '%s\n' 0 0.005 0.01 0.02 0.03 0.04 0.05 0.06 0.07 0.08 0.09 0.1 0.12 0.14 0.17 0.2 0.25 0.3 |
		awk -v number="$1" -v all="${TXTRACE_ALL_STEPS:-0}" 'all != 0 || NR % 3 == number'
}

# at_moments NUMBER SIGNAL OPTION...: the target gets the signal meanwhile
at_moments() {
	local number=$1 signal=$2 moment pid status
	shift 2
	for moment in $(moments "$number"); do
		"$programs/probe_loop" --mode begin-end --steps 1000 >/dev/null &
		pid=$!
		others=("$pid")
		(sleep "$moment" && kill -"$signal" $pid) &
		timeout 300 "$recorder" -q -o "$tmp/race.txtrace" -p $pid "$@" 2>"$tmp/race.err"
		status=$?
		kill -KILL $pid 2>/dev/null
		wait
		ends_well $status || return
	done
}

# A shell that becomes a program with marks, which becomes one without.
execs_meanwhile() {
	local moment pid status
	for moment in $(moments 1); do
		sh -c "sleep $moment; exec \"$programs/spin\" --wait-traced 0 --repeat 3 --output \"$tmp/exec.truth\"" &
		pid=$!
		others=("$pid")
		timeout 300 "$recorder" -q -f -o "$tmp/race.txtrace" -p $pid 2>"$tmp/race.err"
		status=$?
		wait $pid || fail "the program ended with $?" || return
		ends_well $status || return
	done
}

# Children come and go all the time while the tracer does.
storm() {
	local pid status
	"$programs/family" --wait-traced 0 --children 1000000 --spans 2 --exec 1 >/dev/null &
	pid=$!
	others=("$pid")
	for _ in 1 2 3 4 5; do
		timeout 300 "$recorder" -q -f -d 300ms -o "$tmp/storm.txtrace" -p $pid 2>"$tmp/race.err"
		status=$?
		[ $status = 0 ] || fail "the tracer ended with $status: $(cat "$tmp/race.err")" || return
		export_log "$tmp/storm.txtrace" || return
		is_sound "$tmp/storm.txtrace.jsonl" || return
		runs $pid || fail "the family died" || return
	done
	kill -KILL $pid
	wait $pid 2>/dev/null
	true
}

maps_no_file() { # maps_no_file PID
	grep -q stack "/proc/$1/maps" && ! grep -q / "/proc/$1/maps"
}

records_or_has_ended() { # records_or_has_ended PID: it records, or never will
	is_recording "$1" || has_ended "$1"
}

# The recorder looks when the old program has gone and the new one is not mapped yet.
in_the_midst_of_an_exec() {
	local pid tracer
	mkfifo "$tmp/exec.go"
	exec 8<>"$tmp/exec.go"
	"$programs/half_exec" -- "$programs/spin" --wait-traced 60 --repeat 3 --output "$tmp/half.truth" <"$tmp/exec.go" 8>&- &
	pid=$!
	others=("$pid")
	wait_for 60 maps_no_file $pid || fail "files are mapped: $(cat /proc/$pid/maps)" || return
	"$recorder" -q -o "$tmp/half.txtrace" -p $pid 2>"$tmp/race.err" 8>&- &
	tracer=$!
	others+=("$tracer")
	wait_for 60 records_or_has_ended $tracer || fail "it does not record" || return
	exec 8>&-
	wait $tracer || fail "the tracer ended with $?: $(cat "$tmp/race.err")" || return
	wait $pid || fail "the program ended with $?" || return
	export_log "$tmp/half.txtrace" && compare half
}

# ---- what is no target ----

# refuses PATTERN ARGUMENT...
refuses() {
	local pattern=$1 status
	shift
	timeout 600 "$recorder" -q -o "$tmp/refused.txtrace" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
	cat "$tmp/err"
	[ $status = 2 ] || fail "the status is $status" || return
	[ "$(wc -l <"$tmp/err")" = 1 ] || fail "that is not one sentence" || return
	grep -qE "^txtrace-bpf: .*($pattern)" "$tmp/err" || fail "it does not say: $pattern" || return
	[ ! -e "$tmp/refused.txtrace" ] || fail "it left a log"
}

zombie() {
	python3 -c 'import os, time; pid = os.fork() or os._exit(0); print(pid, flush=True); time.sleep(60)' >"$tmp/zombie" &
	others=("$!")
	wait_for 20 test -s "$tmp/zombie"
	wait_for 20 grep -q '^State:.Z' "/proc/$(cat "$tmp/zombie")/status" || fail "there is no zombie" || return
	refuses 'ended already' -p "$(cat "$tmp/zombie")"
}

# The recorder's own pid, told by a shell that becomes it.
itself() {
	# shellcheck disable=SC2016
	bash -c 'exec "$0" -q -o "$1" -p $$' "$recorder" "$tmp/refused.txtrace" 2>"$tmp/err"
	[ $? = 2 ] && grep -q 'recorder itself' "$tmp/err"
}

thread() {
	"$programs/bank" --directory "$tmp" >/dev/null &
	others=("$!")
	wait_for 20 test -n "$(ls "/proc/$!/task")"
	wait_for 20 eval "[ \$(ls /proc/$!/task | wc -l) -gt 2 ]"
	refuses 'is a thread of' -p "$(find "/proc/$!/task" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -n | tail -n 1)"
}

no_pid=$(cat /proc/sys/kernel/pid_max)
ulimit -c 0

check "killed at any moment of attaching" at_moments 0 KILL
check "ended at any moment of attaching, with -f" at_moments 1 TERM -f
check "stopped and killed at any moment" at_moments 2 STOP -d 200ms
check "exec at any moment of attaching" execs_meanwhile
check "in the midst of an exec" in_the_midst_of_an_exec
check "a storm of children that exec" storm
check "a list with one pid that does not exist" refuses "$no_pid" -p "$$,$no_pid"
check "a list with junk" refuses "not '1,x'" -p 1,x
check "a list that ends with a comma" refuses "takes a pid" -p 1,
check "a list with an empty place" refuses "takes a pid" -p 1,,2
check "a pid with a sign" refuses "takes a pid" -p -5
check "a pid that is too large" refuses "takes a pid" -p 4294967297
check "a zombie" zombie
check "itself" itself
check "a kernel thread" refuses 'kernel thread' -p 2
check "a thread" thread
check "a cgroup that is none" refuses "no cgroup" --cgroup /tmp
check "a cgroup that does not exist" refuses "no cgroup '/sys/fs/cgroup/no-such-thing'" --cgroup /sys/fs/cgroup/no-such-thing
check "an executable that does not exist" refuses "/no/such/program" --exe /no/such/program
check "an executable that is a folder" refuses "can be executed" --exe /tmp
check "an empty name" refuses "'--comm'" --comm ''
check "a command and a rule" refuses "at once" --comm x -- true
check "--list of what is no program" refuses "no ELF file" --list /etc/passwd
check "--list of nobody" refuses "no process" --list "$no_pid"
finish
