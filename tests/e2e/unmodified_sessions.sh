#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A server with a process for each session: all sessions of Debian's PostgreSQL 15 under pgbench with four clients, those that come while it is traced and
# those that were there before. As many transactions are traced as pgbench says it made.
# runs alone: --exe takes the sessions of every server of this program, and unmodified_postgres.sh has one, too
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
# shellcheck source=tests/e2e/postgres.sh
. tests/e2e/postgres.sh || exit

transaction='transaction=postgresql:transaction__start..postgresql:transaction__commit|postgresql:transaction__abort'
query='query=postgresql:query__start(sql)..postgresql:query__done,parent=transaction,tag=sql:str(sql)'
clients=4
each=60

# Sessions make transactions of their own, to be opened. pgbench's end with a query END, and are told apart by it.
as_many_as_said() { # as_many_as_said NAME
	local wanted=$((clients * each))
	same "transactions that pgbench made" "$(said_by_pgbench "$1")" $wanted &&
		same "queries that end one" "$(spans_of "$1" query '.tag == "sql=END;"')" $wanted &&
		same "traced transactions with such an end" "$(jq -s 'map(select(.type == "span")) |
			(map(select(.label == "query" and .tag == "sql=END;") | {key: "\(.pid) \(.parent)", value: true}) | from_entries) as $ended |
			map(select(.label == "transaction" and $ended["\(.pid) \(.id)"])) | length' "$tmp/$1.txtrace.jsonl")" $wanted &&
		same "unfinished transactions" "$(spans_of "$1" transaction .unfinished)" 0 &&
		same "out of balance" "$(spans_of "$1" transaction '.on_cpu_ns + (.stolen_ns // 0) + .runnable_ns + .blocked_ns + .detached_ns + .unknown_ns != .work_ns')" 0 &&
		same losses "$(jq -s 'map(select(.type == "loss")) | length' "$tmp/$1.txtrace.jsonl")" 0
}

start_recorder() { # start_recorder NAME OPTION...: until it records
	local name=$1
	shift
	"$recorder" -q --ring-size 64M -o "$tmp/$name.txtrace" --stream "$tmp/$name.stream" "$@" --span "$transaction" --span "$query" 2>"$tmp/$name.err" &
	tracer=$!
	wait_for 60 test -s "$tmp/$name.stream" || fail "the recorder does not record: $(cat "$tmp/$name.err")"
}

stop_recorder() { # stop_recorder NAME
	kill -INT "$tracer"
	wait "$tracer" || fail "the recorder ended with $?: $(cat "$tmp/$1.err")" || return
	export_log "$tmp/$1.txtrace"
}

sessions_to_come() { # sessions_to_come NAME OPTION...
	start_recorder "$@" || return
	as_postgres $binaries/pgbench -n -c $clients -t $each -h "$data" postgres >"$tmp/$1.said" 2>&1 || fail "$(cat "$tmp/$1.said")" || return
	stop_recorder "$1" && as_many_as_said "$1"
}

# The sessions of pgbench's clients, without its first one, which asks how large the database is, and ends. Held before they do anything.
holds_sessions() {
	local pid
	for pid in $(pgrep -P "$server" -f '^postgres: postgres postgres \[local\]'); do
		case " $first $backend " in
		*" $pid "*) continue ;;
		esac
		if [ -z "$first" ]; then
			first=$pid
		else
			kill -STOP "$pid" && backend="$backend $pid"
		fi
	done
	[ "$(echo "$backend" | wc -w)" = $clients ]
}

sessions_before() {
	local client
	first=
	backend=
	PGOPTIONS="-W 6" as_postgres $binaries/pgbench -n -c $clients -j $clients -t $each -h "$data" postgres >"$tmp/before.said" 2>&1 &
	client=$!
	wait_for 60 holds_sessions || fail "no sessions: $(cat "$tmp/before.said")" || return
	start_recorder before -p "$server" -f || return
	# shellcheck disable=SC2086
	kill -CONT $backend
	wait "$client" || fail "$(cat "$tmp/before.said")" || return
	stop_recorder before && as_many_as_said before &&
		same "sessions with transactions" "$(jq -s 'map(select(.type == "span" and .label == "transaction") | .pid) | unique | length' "$tmp/before.txtrace.jsonl")" $clients
}

check "a server of our own" start_server
check "-p POSTMASTER -f: all sessions to come" sessions_to_come followed -p "$server" -f
check "--exe: all sessions to come" sessions_to_come exe --exe $binaries/postgres
check "-p POSTMASTER -f: the sessions that were there before" sessions_before
finish
