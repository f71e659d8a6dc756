#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A recorder that has nothing to do sleeps; what comes then is recorded as ever.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

pids=()
trap 'kill -KILL "${pids[@]}" 2>/dev/null; wait 2>/dev/null' EXIT

# What it has told the kernel side: any record is to wake it up.
sleeps() { # sleeps PID
	local map
	for map in $(sed -n 's/^map_id:[[:space:]]*//p' /proc/"$1"/fdinfo/*); do
		bpftool map show id "$map" | grep -q '[.]bss' || continue
		bpftool map dump id "$map" | grep -q '"reader_sleeps": true' && return
	done
	return 1
}

# Threads sleep in a futex. The recorder does, too, until they go on, and has all that they do then.
recorder_sleeps() { # recorder_sleeps MODE
	local log=$tmp/$1.txtrace program tracer
	mkfifo "$tmp/go.$1" || return
	"$programs/sleepers" --threads 20 --until "$tmp/go.$1" &
	program=$!
	"$recorder" -q --sched "$1" -o "$log" -p $program 2>"$tmp/err" &
	tracer=$!
	pids+=("$program" "$tracer")
	wait_for 6 is_recording $tracer || fail "it does not record: $(cat "$tmp/err")" || return
	wait_for 6 sleeps $tracer || fail "it never sleeps" || return
	echo >"$tmp/go.$1"
	wait $program || fail "the program ended with $?" || return
	wait $tracer || fail "txtrace-bpf ended with $?: $(cat "$tmp/err")" || return
	[ "$("$reader" sql --csv "$log" "SELECT count(*) FROM spans WHERE label = 'awake'" | tail -n 1)" = 20000 ] || fail "not 20,000 spans"
}

check "timeline: a recorder without events sleeps, and wakes up" recorder_sleeps timeline
check "the same without the scheduler's events" recorder_sleeps off
finish
