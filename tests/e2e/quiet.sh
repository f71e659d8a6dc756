#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A recorder that has nothing to do sleeps; what comes then is recorded as ever.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

tracer=
program=
trap 'kill -KILL $tracer $program 2>/dev/null; wait 2>/dev/null' EXIT

times_woken() { # of all of its threads, since they began
	cat /proc/$tracer/task/*/status | awk '$1 == "voluntary_ctxt_switches:" { sum += $2 } END { print sum }'
}

# Of five seconds, in which it would look at the rings fifty times. It may still begin, or write, in the first ones.
sleeps() {
	local before
	before=$(times_woken)
	sleep 5
	echo "woken $(($(times_woken) - before)) times in 5 s"
	[ $(($(times_woken) - before)) -le 30 ]
}

# Threads sleep in a span. The recorder does, too, and has all that they do then.
recorder_sleeps() {
	local log=$tmp/quiet.txtrace mode=$1
	mkfifo "$tmp/go.$mode" || return
	"$programs/sleepers" --threads 20 --until "$tmp/go.$mode" &
	program=$!
	"$recorder" -q --sched "$mode" -o "$log" -p $program 2>"$tmp/err" &
	tracer=$!
	wait_for 6 is_recording $tracer || fail "it does not record: $(cat "$tmp/err")" || return
	wait_for 6 sleeps || fail "it never sleeps" || return
	echo >"$tmp/go.$mode"
	wait $program || fail "the program ended with $?" || return
	wait $tracer || fail "txtrace-bpf ended with $?: $(cat "$tmp/err")" || return
	[ "$("$reader" sql --csv "$log" "SELECT count(*) FROM spans WHERE label = 'awake'" | tail -n 1)" = 20000 ] || fail "not 20,000 spans"
}

check "timeline: a recorder without events sleeps, and wakes up" recorder_sleeps timeline
check "the same without the scheduler's events" recorder_sleeps off
finish
