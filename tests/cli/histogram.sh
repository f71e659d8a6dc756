#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Histograms of spans' times.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

# tests/cli/logs/small.txt: transactions of 1 to 10 ms, so 1 in [1, 2), 2, 3, 4 in [2, 5), 5 to 9 in [5, 10), 10 in [10, 20); half of it for a lock.
make_from small
make_from empty

random_histograms() {
	local of
	python3 tests/cli/analyses_check.py random 31 "$tmp/truth.json" | "$make_log" "$tmp/random.txtrace" || return
	run 0 export -f jsonl random.txtrace && mv "$tmp/out" "$tmp/random.jsonl" || return
	for of in wall work on_cpu runnable blocked detached unknown lock disk network sleep page_fault pipe wait stopped other throttled poll interrupt; do
		run 0 histogram --json --of $of random.txtrace && python3 tests/cli/analyses_check.py histogram "$tmp/random.jsonl" "$tmp/out" $of || fail "$of" || return
	done
}

# At both sides of every bound, and at the largest number there is.
bounds() {
	python3 - >"$tmp/bounds.txt" <<-'END'
		values = sorted({value for power in range(20) for step in (1, 2, 5) for value in (step * 10 ** power - 1, step * 10 ** power) if value < 2 ** 64} | {2 ** 64 - 1})
		for number, value in enumerate(values, 1):
		    print(f"span begin_ns=0 end_ns={value} pid=1 tid=1 id={number} label=\"x\" work_ns={value} on_cpu_ns={value}")
		print("summary time_ns=9")
	END
	"$make_log" "$tmp/bounds.txtrace" <"$tmp/bounds.txt" && run 0 export -f jsonl bounds.txtrace && mv "$tmp/out" "$tmp/bounds.jsonl" || return
	run 0 histogram --json bounds.txtrace && python3 tests/cli/analyses_check.py histogram "$tmp/bounds.jsonl" "$tmp/out" wall || return
	jq -e '.labels[0].buckets | length == 59 and .[0].from_ns == 0 and .[-1].to_ns == null' "$tmp/out" >/dev/null || fail "$(jq -c '.labels[0].buckets | length, .[-1]' "$tmp/out")"
}

many_labels() {
	awk 'BEGIN { for (i = 0; i < 100000; i++) print "span begin_ns=" i " end_ns=" i + 1 " pid=1 tid=1 id=" i + 1 " label=\"user-" i "\" work_ns=1 on_cpu_ns=1"
		print "summary time_ns=100000" }' </dev/null | "$make_log" "$tmp/labels.txtrace"
	run 0 histogram -n 1 labels.txtrace && grep -q "^99,999 more labels with less of it: 'txtrace histogram --limit 0' shows them$" "$tmp/out" || return
	run 0 histogram -n 0 --max-memory 4M labels.txtrace && grep -q '^(all other labels): wall of [0-9,]* spans$' "$tmp/out"
}

check "wall times" expects histogram 0 histogram small.txtrace
check "waits for locks, of one label" expects histogram_lock 0 histogram --of lock -l tx small.txtrace
check "JSON" expects histogram_json 0 histogram --json -l 't*' small.txtrace
check "a log without spans" expects histogram_none 0 histogram empty.txtrace
check "random spans: the same in Python" random_histograms
check "every bound of the buckets" bounds
check "100,000 labels, in less memory than they would take" many_labels
check "no such time" complains "option '--of' takes wall, work, on_cpu, runnable, blocked, detached, unknown, lock, disk, network, sleep, page_fault, pipe, wait, stopped, \
other, throttled, poll, interrupt or stolen, not 'cpu'" histogram --of cpu small.txtrace
finish
