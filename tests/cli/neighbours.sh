#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# neighbours: who had the CPU, on a log whose waits can be added up in the head, and on random ones against a second computation.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

make_from neighbours
make_from empty
make_from small

# agrees BY SEED [lossy]
agrees() {
	local log=$tmp/random
	python3 tests/cli/neighbours_check.py random "${@:2}" | "$make_log" "$log.txtrace" && run 0 export -f jsonl random.txtrace &&
		cp "$tmp/out" "$log.jsonl" && run 0 neighbours --json --by "$1" random.txtrace &&
		python3 tests/cli/neighbours_check.py compare "$log.jsonl" "$tmp/out"
}

# By process the sums are those by thread, put together.
processes_are_their_threads() {
	local by=$1 sums='[.rows[] | [.runnable_ns, .unknown_ns, ([.neighbours[] | [.pid, .ns]] | group_by(.[0]) | map([.[0][0], (map(.[1]) | add)]))]]'
	python3 tests/cli/neighbours_check.py random 7 | "$make_log" "$tmp/random.txtrace" || return
	run 0 neighbours --json --by "$by" random.txtrace && jq -c "$sums" "$tmp/out" >"$tmp/threads" || return
	run 0 neighbours --json --by "$by" --who process random.txtrace && jq -c "$sums" "$tmp/out" >"$tmp/processes" || return
	diff "$tmp/threads" "$tmp/processes"
}

# A row's cells and what is unknown are its runnable time, whatever was forgotten.
small_memory() {
	awk 'BEGIN {
		print "header pid=1 cpus=1 command=\"many\" start_monotonic_ns=1"
		for (i = 1; i <= 20000; i++) {
			print "other_run begin_ns=" 1000 * i " end_ns=" 1000 * i + 100 " pid=" i + 9 " tid=" i + 9 " comm=\"n" i "\" cpu=0"
			print "run begin_ns=" 1000 * i + 100 " end_ns=" 1000 * i + 200 " pid=1 tid=1 cpu=0 runnable_ns=100 left_as=preempted"
			print "span begin_ns=" 1000 * i " end_ns=" 1000 * i + 200 " pid=1 tid=1 end_tid=1 id=" i " label=\"label-" i % 5000 "\" work_ns=200 on_cpu_ns=100 runnable_ns=100"
		}
		print "summary time_ns=300000000"
	}' </dev/null | "$make_log" "$tmp/many.txtrace"
	run 0 neighbours --json --max-memory 256K many.txtrace || return
	jq -e '([.rows[].runnable_ns] | add) == 2000000 and ([.rows[] | .unknown_ns + ([.neighbours[].ns] | add) == .runnable_ns] | all) and .memory_used_up' \
		"$tmp/out" >/dev/null || fail "$(jq -c '.rows[0]' "$tmp/out")" || return
	run 0 neighbours --max-memory 256K many.txtrace && grep -q '^the memory is used up' "$tmp/out" || fail "it is not said" || return
	run 0 neighbours --json many.txtrace && jq -e '(.memory_used_up | not) and ([.rows[].unknown_ns] | add) == 0' "$tmp/out" >/dev/null ||
		fail "512 MiB do not do"
}

# While it waits once, two others take turns, 5 us each: who had the CPU is known from the first turn on.
long_wait() {
	awk 'BEGIN {
		print "header pid=1 cpus=1 command=\"long\" start_monotonic_ns=1"
		for (i = 0; i < 10000; i++)
			print "other_run begin_ns=" 1000 + 5000 * i " end_ns=" 6000 + 5000 * i " pid=" 8 + i % 2 " tid=" 8 + i % 2 " comm=\"n\" cpu=0"
		print "run begin_ns=50001000 end_ns=50001100 pid=1 tid=1 cpu=0 runnable_ns=50000000 left_as=preempted"
		print "summary time_ns=60000000"
	}' </dev/null | "$make_log" "$tmp/long.txtrace"
	run 0 neighbours --json --by thread long.txtrace && jq -e '.rows[0] | .unknown_ns == 0 and [.neighbours[].ns] == [25000000, 25000000]' "$tmp/out" >/dev/null ||
		fail "$(jq -c '.rows[0]' "$tmp/out")"
}

# Waits of one capture are not charged to tasks of another one, whose times lie in them.
two_captures() {
	{
		echo 'header pid=1 capture_id="a" boot_id="b" start_monotonic_ns=100'
		echo 'other_run begin_ns=100 end_ns=200 pid=9 tid=9 comm="first" cpu=0'
		echo 'summary time_ns=250'
	} | "$make_log" "$tmp/one.txtrace"
	{
		echo 'header pid=1 capture_id="c" boot_id="b" start_monotonic_ns=150'
		echo 'run begin_ns=200 end_ns=300 pid=1 tid=1 cpu=0 runnable_ns=100 left_as=preempted'
		echo 'span begin_ns=100 end_ns=300 pid=1 tid=1 end_tid=1 id=1 label="x" work_ns=200 on_cpu_ns=100 runnable_ns=100'
		echo 'summary time_ns=350'
	} | "$make_log" "$tmp/two.txtrace"
	run 0 neighbours --json one.txtrace two.txtrace && jq -e '.rows[0] | .unknown_ns == 100 and .neighbours == []' "$tmp/out" >/dev/null ||
		fail "$(jq -c .rows "$tmp/out")"
}

check "every label, with who had the CPU that it waited for" expects neighbours 0 neighbours neighbours.txtrace
check "every thread" expects neighbours_thread 0 neighbours --by thread neighbours.txtrace
check "whole processes, the worst one" expects neighbours_process 0 neighbours --who process --top 1 -n 1 neighbours.txtrace
check "JSON" expects neighbours_json 0 neighbours --json neighbours.txtrace
check "a log in which nobody waited" expects neighbours_empty 0 neighbours empty.txtrace
check "a log that does not tell who had the CPUs" expects neighbours_small 0 neighbours small.txtrace
check "the report has a part of its own for interrupts" expects report_interrupt 0 report neighbours.txtrace
check "so has the call tree" expects tree_interrupt 0 tree neighbours.txtrace
for seed in 1 2; do
	check "labels: a random log, seed $seed" agrees label $seed
	check "threads: a random log, seed $seed" agrees thread $seed
	check "labels: with losses, seed $seed" agrees label $seed lossy
	check "threads: with losses, seed $seed" agrees thread $seed lossy
done
check "labels: processes are their threads" processes_are_their_threads label
check "threads: processes are their threads" processes_are_their_threads thread
check "two captures are two worlds" two_captures
check "a small memory says so, and everything adds up" small_memory
check "who had the CPU is known of a wait of 10,000 turns" long_wait
finish
