#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Debian's Redis as it is, by --preset redis, under redis-benchmark: as many commands as the server counts.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
# shellcheck source=tests/e2e/recording.sh
. tests/e2e/recording.sh || exit
need_bpf
need_program redis-server redis-server
need_program redis-benchmark redis-tools

server=
socket=$tmp/s
trap 'kill $server 2>/dev/null; wait' EXIT

answers() {
	[ "$(redis-cli -s "$socket" ping 2>/dev/null)" = PONG ]
}

start_server() {
	redis-server --port 0 --unixsocket "$socket" --dir "$tmp" --save '' --appendonly yes --appendfsync always >"$tmp/server" 2>&1 &
	server=$!
	wait_for 60 answers || fail "$(cat "$tmp/server")"
}

# How many commands the server has executed, without this one.
executed() {
	redis-cli -s "$socket" info commandstats | sed -n 's/^cmdstat_[^:]*:calls=\([0-9]*\),.*/\1/p' | awk '{ sum += $1 } END { print sum }'
}

# Of spans with label $2, those whose parent has label $3.
children_of() { # children_of NAME LABEL PARENT
	jq -s --arg child "$2" --arg parent "$3" 'map(select(.type == "span")) | (map({key: .id, value: .label}) | from_entries) as $labels |
		map(select(.label == $child and $labels[.parent] == $parent)) | length' "$tmp/$1.txtrace.jsonl"
}

benchmark() {
	local before after commands
	before=$(executed)
	begin_recording bench -p "$server" --preset redis || return
	redis-benchmark -s "$socket" -t set,get -n 400 -c 4 -q >"$tmp/said" 2>&1 || fail "$(cat "$tmp/said")" || return
	redis-cli -s "$socket" save >"$tmp/saved" && grep -qx OK "$tmp/saved" || fail "$(cat "$tmp/saved")" || return
	after=$(executed)
	end_recording bench || return
	# The count before lacks the command that asked for it, the count after its own, which is in the log.
	commands=$((after - before))
	[ "$commands" -gt 800 ] || fail "the server executed $commands commands" || return
	same "executed commands" "$(spans_of bench execute)" $commands &&
		same commands "$(spans_of bench command)" $commands &&
		same "commands of a read" "$(children_of bench command read)" $commands &&
		same "executions of a command" "$(children_of bench execute command)" $commands &&
		same snapshots "$(spans_of bench save)" 1 &&
		same "snapshots of a command" "$(children_of bench save execute)" 1 &&
		same "flushes outside of before-sleep" "$(children_of bench flush-aof before-sleep)" "$(spans_of bench flush-aof)" &&
		same "unfinished spans" "$(jq -s 'map(select(.type == "span" and .unfinished)) | length' "$tmp/bench.txtrace.jsonl")" 0 &&
		is_whole bench
}

is_offered() {
	"$recorder" --list "$(command -v redis-server)" >"$tmp/list" && grep -q -- ': --preset redis$' "$tmp/list" || fail "$(cat "$tmp/list")"
}

check "a server of our own" start_server
check "--list offers the preset" is_offered
check "as many commands as the server counts, each in its place" benchmark
finish
