#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Time that a hypervisor stole is shown wherever a ledger is, if there is any, and is nobody's on-CPU.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

make_from stolen
make_from small

# shows PATTERN COMMAND...: a line of what it prints
shows() {
	local pattern=$1
	shift
	run 0 "$@" && grep -qE -- "$pattern" "$tmp/out" || fail "$*: $(cat "$tmp/out")"
}

tables() {
	shows 'stolen' report stolen.txtrace && shows '^pay .* 60\.0 µs' tree stolen.txtrace && shows 'stolen 12.5 % 60.0 µs' show stolen.txtrace 1 &&
		run 0 tree small.txtrace && ! grep -q stolen "$tmp/out" && run 0 report small.txtrace && ! grep -q stolen "$tmp/out"
}

json() {
	run 0 report --json stolen.txtrace && jq -e '[.. | .stolen_ns? // empty] | index(60000)' "$tmp/out" >/dev/null &&
		run 0 spans --json stolen.txtrace && jq -e -s '[.. | .stolen_ns? // empty] | index(60000)' "$tmp/out" >/dev/null
}

exports() {
	run 0 export -f jsonl stolen.txtrace || return
	jq -e -s '(map(select(.type == "span")) | map([.id, .stolen_ns, .stolen_max_ns])) == [["1", 60000, null], ["2", null, 20000]] and
		(map(select(.type == "run").stolen_ns)) == [30000, 60000, null] and (map(select(.type == "other_run").stolen_ns)) == [15000] and
		(map(select(.type == "run").idle_stolen_ns)) == [null, null, 90000]' "$tmp/out" >/dev/null || fail "jsonl: $(cat "$tmp/out")" || return
	run 0 export -f csv stolen.txtrace && [ "$(head -n 1 "$tmp/out" | tr , '\n' | grep -n '^stolen_ns' | cut -d : -f 1)" = 29 ] &&
		grep -q ',60000,0,' "$tmp/out" || fail "csv: $(cat "$tmp/out")" || return
	run 0 export -f chrome stolen.txtrace && grep -q '"stolen_ns":"\?60000' "$tmp/out" || fail "chrome" || return
	run 0 sql stolen.txtrace 'SELECT sum(stolen_ns) FROM spans' && grep -q 60000 "$tmp/out" || fail "sql: $(cat "$tmp/out" "$tmp/err")"
}

# The pieces are the head of the log's text.
who_had_the_cpu() {
	run 0 neighbours --json --by thread stolen.txtrace || return
	jq -e '.rows[] | select(.tid == 11) | .unknown_ns == 0 and ([.neighbours[] | [.kind, .pid, .ns]] | sort) ==
		([["hypervisor", null, 115000], ["idle", null, 10000], ["task", 10, 70000], ["task", 900, 5000]] | sort)' "$tmp/out" >/dev/null || fail "$(jq -c '.rows[] | select(.tid == 11)' "$tmp/out")" || return
	shows '\(hypervisor\)' neighbours stolen.txtrace
}

# What is no code's fault is no on-CPU: the gate holds on a machine whose host is busy, and the figure itself can have one.
gates() {
	run 0 check stolen.txtrace 'pay.on_cpu <= 120us; pay.stolen <= 60us' && run 1 check stolen.txtrace 'pay.stolen <= 59us'
}

comparisons() {
	local run
	for run in base new; do
		awk -v run=$run 'BEGIN {
			print "header pid=1 command=\"x\" start_monotonic_ns=1"
			for (i = 1; i <= 200; i++) {
				stolen = run == "new" ? 40000 : 0
				print "span begin_ns=" i * 1000000 " end_ns=" i * 1000000 + 100000 + i % 7 + stolen " pid=1 tid=1 end_tid=1 id=" i " label=\"tx\" work_ns=" \
					100000 + i % 7 + stolen " on_cpu_ns=" 100000 + i % 7 (stolen ? " stolen_ns=" stolen : "")
			}
			print "summary time_ns=300000000 sent_cnt=400 received_cnt=400"
		}' </dev/null | "$make_log" "$tmp/$run.txtrace"
	done
	run 0 diff --gate 'tx.on_cpu < +2%' base.txtrace -- new.txtrace || return
	(cd "$tmp" && "$txtrace" diff base.txtrace -- new.txtrace >"$tmp/out" 2>&1)
	grep -q stolen "$tmp/out" || fail "$(cat "$tmp/out")"
}

check "report, tree and show have it, and only where there is any" tables
check "so does their JSON" json
check "exports and SQL have it, with the bound where it is not exact" exports
check "neighbours: whoever had the CPU, the hypervisor had taken it" who_had_the_cpu
check "gates on on_cpu do not see it, and it can have one" gates
check "a comparison tells it apart from on-CPU" comparisons
finish
