#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# kill -9 of the recorder: the program runs on, and nobody traces it any more.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
loop=
patience=150 # seconds; a recorder that starts on an emulated machine that is busy besides takes 20
trap 'kill -KILL $loop 2>/dev/null' EXIT

said() { # said VALUE: the last window of the loop
	tail -n 1 "$tmp/loop" | grep -q "\"traced\":$1"
}

start_loop() {
	"$programs/probe_loop" --mode tagged --steps 500 --window-ms 200 >"$tmp/loop" &
	loop=$!
	wait_for $patience said false
}

kill_recorder() {
	local round tracer
	for round in 1 2 3; do
		"$recorder" -q -o "$tmp/$round.txtrace" -p $loop 2>"$tmp/err" &
		tracer=$!
		wait_for $patience said true || fail "round $round: it was never traced; $(cat "$tmp/err"; tail -n 1 "$tmp/loop")" || return
		kill -KILL $tracer
		wait $tracer
		wait_for $patience said false || fail "round $round: a probe stayed" || return
		runs $loop || fail "round $round: the program is gone" || return
	done
}

ends_well() {
	kill -TERM $loop && wait $loop
}

check "a program that marks spans runs" start_loop
check "three recorders are killed: each time the program runs on, untraced" kill_recorder
check "the program ends well" ends_well
finish
