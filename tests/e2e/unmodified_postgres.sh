#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Debian's PostgreSQL 15 as it is, by the probes of its own, under pgbench: as many transactions are traced as pgbench says it made, and their
# queries, phases and ledgers are theirs.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
# shellcheck source=tests/e2e/postgres.sh
. tests/e2e/postgres.sh || exit

# The session of pgbench's client: its second one, for the first asks how large the database is, and ends. Held before it does anything.
holds_second_session() {
	local pid
	for pid in $(pgrep -P "$server" -f '^postgres: postgres postgres \[local\]'); do
		[ "$pid" = "$first" ] && continue
		if [ -z "$first" ]; then
			first=$pid
			return 1
		fi
		kill -STOP "$pid" && backend=$pid && return
	done
	return 1
}

# traced NAME OPTION-OF-PGBENCH... -- OPTION-OF-THE-RECORDER...: one session, from its first transaction on.
traced() {
	local name=$1 bench=() tracer client
	shift
	while [ "$1" != -- ]; do
		bench+=("$1")
		shift
	done
	shift
	first=
	PGOPTIONS="-W 6" as_postgres $binaries/pgbench -n -h "$data" "${bench[@]}" postgres >"$tmp/$name.said" 2>&1 &
	client=$!
	wait_for 30 holds_second_session || fail "no session: $(cat "$tmp/$name.said")" || return
	"$recorder" -q --ring-size 64M -o "$tmp/$name.txtrace" --stream "$tmp/$name.stream" -p "$backend" "$@" 2>"$tmp/$name.err" &
	tracer=$!
	wait_for 30 test -s "$tmp/$name.stream" || fail "the recorder does not record: $(cat "$tmp/$name.err")" || return
	kill -CONT "$backend"
	wait $client || fail "$(cat "$tmp/$name.said")" || return
	wait $tracer || fail "the recorder ended with $?: $(cat "$tmp/$name.err")" || return
	export_log "$tmp/$name.txtrace"
}

as_many_as_said() {
	local name=$1
	traced "$@" || return
	same transactions "$(spans_of "$name" transaction)" "$(said_by_pgbench "$name")" &&
		same unfinished "$(spans_of "$name" transaction .unfinished)" 0 &&
		same "out of balance" "$(spans_of "$name" transaction '.on_cpu_ns + (.stolen_ns // 0) + .runnable_ns + .blocked_ns + .detached_ns + .unknown_ns != .work_ns')" 0 &&
		same "marked as losses" "$(jq -s 'map(select(.type == "loss")) | length' "$tmp/$name.txtrace.jsonl")" 0
}

select_only() {
	as_many_as_said select -S -t 300 -- \
		--span 'transaction=postgresql:transaction__start(lxid)..postgresql:transaction__commit|postgresql:transaction__abort,key=tid,tag=lxid' || return
	same "distinct tags" "$(jq -rs 'map(select(.type == "span") | .tag) | unique | length' "$tmp/select.txtrace.jsonl")" 300
}

# Seven queries in each transaction: BEGIN, three updates, a select, an insert, END. The phases of those that are planned are its children.
tpcb_like() {
	as_many_as_said tpcb -t 150 -- --preset postgresql || return
	same queries "$(spans_of tpcb query)" $((7 * 150)) && same parsed "$(spans_of tpcb parse)" $((7 * 150)) &&
		same executed "$(spans_of tpcb execute)" $((7 * 150)) && same planned "$(spans_of tpcb plan)" $((5 * 150)) &&
		same "phases without a query" "$(spans_of tpcb parse '.parent == "0"')" 0 &&
		same "unfinished spans" "$(jq -s 'map(select(.type == "span" and .unfinished)) | length' "$tmp/tpcb.txtrace.jsonl")" 0
}

# A query that fails jumps over its end: it is unfinished, and those behind it are right.
failures() {
	printf 'select 1;\nselect 1/0;\n' >"$data/fails.sql"
	chmod 644 "$data/fails.sql"
	first=
	PGOPTIONS="-W 6" as_postgres $binaries/psql -q -h "$data" -f "$data/fails.sql" -f "$data/fails.sql" postgres >"$tmp/fails.said" 2>&1 &
	local client=$! tracer
	first=none
	wait_for 30 holds_second_session || fail "no session" || return
	"$recorder" -q -o "$tmp/fails.txtrace" --stream "$tmp/fails.stream" -p "$backend" --preset postgresql 2>"$tmp/fails.err" &
	tracer=$!
	wait_for 30 test -s "$tmp/fails.stream" || fail "$(cat "$tmp/fails.err")" || return
	kill -CONT "$backend"
	wait $client
	wait $tracer || fail "$(cat "$tmp/fails.err")" || return
	export_log "$tmp/fails.txtrace"
	same queries "$(spans_of fails query)" 4 && same "unfinished ones" "$(spans_of fails query .unfinished)" 2 &&
		same transactions "$(spans_of fails transaction)" 4 &&
		same "unfinished transactions" "$(spans_of fails transaction .unfinished)" 0
}

# Four sessions that update one row: who waits for it sleeps in epoll, until the backend that has released it sends a signal. That is a lock, and who is
# to blame is the span in which that backend released it.
row_locks() {
	local tracer
	"$recorder" -q --ring-size 64M -o "$tmp/locks.txtrace" --stream "$tmp/locks.stream" -p "$server" -f --preset "${PRESET:-postgresql}" 2>"$tmp/locks.err" &
	tracer=$!
	wait_for 30 test -s "$tmp/locks.stream" || fail "the recorder does not record: $(cat "$tmp/locks.err")" || return
	as_postgres $binaries/pgbench -n -h "$data" -c 4 -j 2 -t 300 postgres >"$tmp/locks.said" 2>&1 || fail "$(cat "$tmp/locks.said")" || return
	kill -INT $tracer
	wait $tracer || fail "the recorder ended with $?: $(cat "$tmp/locks.err")" || return
	export_log "$tmp/locks.txtrace"
	jq -s '[.[] | select(.type == "span" and .label == "lock-wait" and (.lower_bound | not)) | .blocked] |
		{lock: map(.lock) | add, rest: map(.network + .poll + .pipe + .sleep) | add}' "$tmp/locks.txtrace.jsonl" >"$tmp/locks"
	jq -e '.lock > 1000000 and .rest == 0' "$tmp/locks" >/dev/null || fail "lock-wait was blocked, in ns: $(cat "$tmp/locks")" || return
	same "anomalies of the clocks" "$(jq -s 'map(select(.type == "summary") | .recorder.anomalies.clock_mismatch) | add' "$tmp/locks.txtrace.jsonl")" 0
}

releasers_are_blamed() {
	"$reader" blame --json "$tmp/locks.txtrace" >"$tmp/blame.json" || return
	jq -r '[.pairs[] | select(.waiter.name == "lock-wait")] | (map(select(.waker.kind == "span") | .ns) | add) / (map(.ns) | add) > 0.5' "$tmp/blame.json" |
		grep -q true || fail "$(jq -c '.pairs[] | select(.waiter.name == "lock-wait")' "$tmp/blame.json")"
}

check "a server of our own" start_server
check "select-only: as many transactions as pgbench says" select_only
check "tpcb-like, with the preset: transactions, queries and their phases" tpcb_like
check "a failed query is unfinished, its transaction is not" failures
check "who waits for a row waits for a lock" row_locks
check "and is blamed on the span that released it" releasers_are_blamed
finish
