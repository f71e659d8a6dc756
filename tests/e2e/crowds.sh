#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# runs alone: it takes a CPU offline
# Several recorders at one program, threads by the ten thousand, CPUs that go and come back.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
need_account

tracers=()
loop=
cpu=/sys/devices/system/cpu/cpu$(($(nproc --all) - 1))/online
trap 'kill -KILL "${tracers[@]}" $loop 2>/dev/null; [ ! -w "$cpu" ] || echo 1 >"$cpu"; wait 2>/dev/null' EXIT

start_tracer() { # start_tracer NAME OPTION...
	local name=$1
	shift
	"$recorder" -q -o "$tmp/$name.txtrace" "$@" 2>"$tmp/$name.err" &
	tracers+=("$!")
	wait_for 60 is_recording $! || fail "it does not record: $(cat "$tmp/$name.err")"
}

end_tracer() { # end_tracer PID NAME
	kill -INT "$1"
	wait "$1" || fail "the tracer ended with $?: $(cat "$tmp/$2.err")" || return
	export_log "$tmp/$2.txtrace"
}

# Both see all of it, and a third that is killed meanwhile takes nothing from them.
two_recorders() {
	cp "$programs/many_threads" "$tmp/crowd"
	start_tracer one --exe "$tmp/crowd" && start_tracer two --exe "$tmp/crowd" && start_tracer three --exe "$tmp/crowd" || return
	"$tmp/crowd" --wait-traced 0 --threads 8 --repeat 10 --output "$tmp/one.truth" &
	loop=$!
	sleep 0.1
	kill -KILL "${tracers[2]}"
	wait $loop || fail "the program ended with $?" || return
	cp "$tmp/one.truth" "$tmp/two.truth"
	end_tracer "${tracers[0]}" one && end_tracer "${tracers[1]}" two && compare one && compare two
}

# Each has one span.
ten_thousand_threads() {
	"$recorder" -q --ring-size 64M -o "$tmp/storm.txtrace" -- "$programs/thread_storm" --threads 20000 --seconds 120 >"$tmp/storm.out" 2>"$tmp/storm.err" ||
		fail "it ended with $?: $(cat "$tmp/storm.err")" || return
	cat "$tmp/storm.out"
	echo "# MEASURED $(jq -r .each_second "$tmp/storm.out") threads a second" >&3
	export_log "$tmp/storm.txtrace" && python3 $e2e/check_truth.py - "$tmp/storm.txtrace.jsonl" || return
	[ "$(grep '"type":"span"' "$tmp/storm.txtrace.jsonl" | grep '"label":"life"' | grep -c '"lower_bound":false')" = 20000 ] || fail "not 20,000 whole spans" || return
	[ "$(grep '"type":"thread"' "$tmp/storm.txtrace.jsonl" | jq -r '.tid' | wc -l)" -ge 20001 ] || fail "not 20,001 threads are told"
}

# The program moves, its spans stay whole, nothing is lost.
a_cpu_goes_and_comes_back() {
	"$programs/many_threads" --threads 4 --repeat 40 --output "$tmp/unplugged.truth" &
	loop=$!
	start_tracer unplugged -p $loop || return
	echo 0 >"$cpu" || fail "the CPU stays" || return
	sleep 0.3
	echo 1 >"$cpu" || fail "the CPU does not come back" || return
	sleep 0.3
	echo 0 >"$cpu" && sleep 0.2 && echo 1 >"$cpu" || return
	wait $loop || fail "the program ended with $?" || return
	wait "${tracers[-1]}" || fail "the tracer ended with $?: $(cat "$tmp/unplugged.err")" || return
	export_log "$tmp/unplugged.txtrace" && compare unplugged
}

exec 3>&1
check "two recorders at once each record all of it, though a third is killed" two_recorders
check "20,000 threads, as quickly as they can be made: each is told, each has its span" ten_thousand_threads
if [ -w "$cpu" ] && echo 0 >"$cpu" 2>/dev/null && echo 1 >"$cpu"; then
	check "a CPU is taken away and comes back" a_cpu_goes_and_comes_back
else
	number=$((number + 1))
	echo "ok $number - a CPU is taken away and comes back # SKIP no CPU can be taken away here"
fi
finish
