#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Debian's MariaDB as it is, by --preset mariadb, under mariadb-slap: as many statements as the server counts, with their text.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
# shellcheck source=tests/e2e/recording.sh
. tests/e2e/recording.sh || exit
need_bpf
need_program mariadbd mariadb-server-core
need_program mariadb-slap mariadb-client

data=$(mktemp -d /tmp/txtrace-mariadb.XXXXXX) # the path of a socket has to be short
server=
trap 'kill $server 2>/dev/null; wait; rm -rf "$data"' EXIT

ask() { # ask STATEMENT: the last column of the answer
	mariadb --no-defaults -S "$data/s" -u root -N -B -e "$1" | awk '{ print $NF }'
}

answers() {
	[ "$(ask 'select 7' 2>/dev/null)" = 7 ]
}

start_server() {
	mariadb-install-db --no-defaults --user=root --auth-root-authentication-method=normal --datadir="$data/data" --skip-test-db >"$tmp/install" 2>&1 ||
		fail "$(cat "$tmp/install")" || return
	mariadbd --no-defaults --user=root --datadir="$data/data" --socket="$data/s" --skip-networking --pid-file="$data/pid" \
		--innodb-flush-log-at-trx-commit=1 >"$tmp/server" 2>&1 &
	server=$!
	wait_for 60 answers || fail "$(cat "$tmp/server")"
}

counted() { # counted WHAT: by the server
	ask "show global status like 'Com_$1'"
}

texts() { # texts PREFIX: spans of commands with a text that begins so
	spans_of slap command ".tag // \"\" | startswith(\"query=$1\")"
}

statements() {
	local inserts selects
	inserts=$(counted insert) selects=$(counted select)
	begin_recording slap -p "$server" --preset mariadb || return
	mariadb-slap --no-defaults -S "$data/s" -u root --auto-generate-sql --auto-generate-sql-load-type=mixed --number-of-queries=300 \
		--concurrency=4 --engine=innodb >"$tmp/slap" 2>&1 || fail "$(cat "$tmp/slap")" || return
	ask "select table_name from information_schema.tables order by table_name desc limit 1" >"$tmp/sorted" || return
	inserts=$(($(counted insert) - inserts)) selects=$(($(counted select) - selects))
	end_recording slap || return
	[ "$inserts" -gt 0 ] && [ "$selects" -gt 0 ] || fail "the server counted $inserts inserts and $selects selects" || return
	same inserts "$(texts 'INSERT INTO')" "$inserts" &&
		same selects "$(($(texts SELECT) + $(texts select)))" "$selects" &&
		same "statements of commands" "$(jq -s 'map(select(.type == "span")) | (map(select(.label == "command") | {key: .id, value: true}) | from_entries) as $is |
			map(select(.label == "execute" and ($is[.parent] | not))) | length' "$tmp/slap.txtrace.jsonl")" 0 &&
		same "sorts of the query that sorts" "$(spans_of slap sort)" 1 &&
		same "unfinished spans" "$(jq -s 'map(select(.type == "span" and .unfinished)) | length' "$tmp/slap.txtrace.jsonl")" 0 &&
		is_whole slap
}

is_offered() {
	"$recorder" --list "$(command -v mariadbd)" >"$tmp/list" && grep -q -- ': --preset mariadb$' "$tmp/list" || fail "$(cat "$tmp/list")"
}

check "a server of our own" start_server
check "--list offers the preset" is_offered
check "as many statements as the server counts" statements
finish
