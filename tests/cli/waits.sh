#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# blame and blocked: who waited for what and whom, on a log whose waits can be added up in the head, and on random ones against a second computation.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

make_from waits
make_from empty
make_from small

# agrees COMMAND SEED
agrees() {
	python3 tests/cli/waits_check.py random "$2" | "$make_log" "$tmp/random.txtrace" && run 0 export -f jsonl random.txtrace &&
		cp "$tmp/out" "$tmp/random.jsonl" && run 0 "$1" --json random.txtrace && python3 tests/cli/waits_check.py "$1" "$tmp/random.jsonl" "$tmp/out"
}

# capture NAME ID TIME LABEL: a wait of 10 in a span with the id 1, and, if it has a label, its end
capture() {
	{
		echo "header pid=1 capture_id=\"$2\" boot_id=\"b\" start_monotonic_ns=$3"
		echo "run begin_ns=$3 end_ns=$(($3 + 10)) pid=1 tid=1 left_as=blocked reason=lock syscall_nr=202 object=1"
		echo "wake time_ns=$(($3 + 20)) pid=1 tid=1 flags=interrupt span=1"
		echo "run begin_ns=$(($3 + 20)) end_ns=$(($3 + 30)) pid=1 tid=1 blocked_ns=10 left_as=blocked reason=lock syscall_nr=202 object=1"
		[ -z "$4" ] || echo "span begin_ns=$3 end_ns=$(($3 + 40)) pid=1 tid=1 end_tid=1 id=1 label=\"$4\" work_ns=40 on_cpu_ns=30 lock_ns=10"
		echo "summary time_ns=$(($3 + 50))"
	} | "$make_log" "$tmp/$1.txtrace"
}

# Of two captures that are read as one log: the second one's ids, threads and descriptors are others.
two_captures() {
	capture one a 100 "" && capture two b 1000 second && run 0 blame --json one.txtrace two.txtrace || return
	jq -e '[.pairs[] | [.waiter.name, .ns]] | sort == [[null, 10], ["second", 10]]' "$tmp/out" >/dev/null || fail "$(jq -c .pairs "$tmp/out")" || return
	run 2 show one.txtrace two.txtrace 1 && grep -q ' is of 2 captures: ' "$tmp/err"
}

# Another thread waits for another futex in a span of another label, 20,000 times; nothing of it goes missing in 1 MiB.
many() {
	awk 'BEGIN {
		print "header pid=1 cpus=1 command=\"many\" start_monotonic_ns=1"
		for (i = 1; i <= 20000; i++) {
			print "run begin_ns=" 1000 * i " end_ns=" 1000 * i + 100 " pid=1 tid=" i " left_as=blocked reason=lock syscall_nr=202 object=" i
			print "wake time_ns=" 1000 * i + 200 " pid=1 tid=" i " waker_pid=1 waker_tid=1 waker_comm=\"w" i "\" span=" i " waker_span=" i + 1
			print "run begin_ns=" 1000 * i + 200 " end_ns=" 1000 * i + 300 " pid=1 tid=" i " blocked_ns=100 left_as=preempted"
			print "span begin_ns=" 1000 * i " end_ns=" 1000 * i + 400 " pid=1 tid=" i " end_tid=" i " id=" i " label=\"label-" i "\" work_ns=400 on_cpu_ns=400"
		}
		print "summary time_ns=300000000"
	}' </dev/null | "$make_log" "$tmp/many.txtrace"
}

small_memory() { # small_memory COMMAND SUM-OF-ALL (a jq expression)
	run 0 "$1" --json --max-memory 1M many.txtrace || return
	jq -e "$2 == 2000000 and .waits.all.ns == 2000000 and .memory_used_up" "$tmp/out" >/dev/null || fail "$(jq -c ".waits, $2" "$tmp/out")" || return
	run 0 "$1" --max-memory 1M many.txtrace && grep -q '^memory  *used up: ' "$tmp/out" || fail "it is not said" || return
	run 0 "$1" --json many.txtrace && jq -e '.memory_used_up | not' "$tmp/out" >/dev/null || fail "512 MiB do not do"
}

check "blame: every wait is charged to the label that ended it" expects blame 0 blame waits.txtrace
check "blame: JSON" expects blame_json 0 blame --json waits.txtrace
check "blame: the first rows, the others summed up" expects blame_limit 0 blame -n 2 waits.txtrace
check "blame: a log without waits" expects blame_empty 0 blame empty.txtrace
check "blame: labels that are no friends of terminals" expects blame_small 0 blame small.txtrace
for seed in 1 2 3 4 5; do
	check "blame: a random log, seed $seed" agrees blame $seed
done
check "blocked: every object with its cost, who waited and who ended it" expects blocked 0 blocked waits.txtrace
check "blocked: by reason" expects blocked_reason 0 blocked --by reason waits.txtrace
check "blocked: by label" expects blocked_label 0 blocked --by label -n 4 waits.txtrace
check "blocked: JSON" expects blocked_json 0 blocked --json waits.txtrace
check "blocked: JSON by label" expects blocked_label_json 0 blocked --by label --json waits.txtrace
check "blocked: a log without waits" expects blocked_empty 0 blocked empty.txtrace
for seed in 1 2 3 4 5; do
	check "blocked: a random log, seed $seed" agrees blocked $seed
done
check "two captures are two worlds" two_captures
check "many labels, threads and futexes" many
check "blame: a small memory says so, and nothing is missing" small_memory blame '([.pairs[].ns] | add) + .waits.in_no_span.ns + .waits.unseen.ns'
check "blocked: a small memory says so, and nothing is missing" small_memory blocked '([.objects[].ns] | add)'
finish
