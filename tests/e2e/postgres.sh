# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Sourced after e2e.sh and need_bpf: a PostgreSQL server of our own, to be traced. Skips the test where there is none.
# shellcheck disable=SC2154 # e2e.sh sets tmp
# shellcheck source=tests/e2e/recording.sh
. tests/e2e/recording.sh || exit

binaries=/usr/lib/postgresql/15/bin
if [ ! -x $binaries/pgbench ] || ! id postgres >/dev/null 2>&1; then
	echo "ok 1 - PostgreSQL # SKIP postgresql-15 is not installed"
	echo "1..1"
	exit 0
fi

data=$(mktemp -d /tmp/txtrace-postgres.XXXXXX) # not in $tmp, which is root's alone; and the path of a socket has to be short
server=
backend=
trap 'kill -CONT $backend 2>/dev/null; kill -QUIT $server 2>/dev/null; wait; rm -rf "$data"' EXIT

as_postgres() {
	setpriv --reuid postgres --regid postgres --init-groups env -u LSAN_OPTIONS -u ASAN_OPTIONS PGOPTIONS="${PGOPTIONS-}" "$@"
}

# A server of our own, with its socket beside its data; nothing waits for a disk.
start_server() {
	chown postgres "$data" &&
		as_postgres $binaries/initdb -D "$data" -A trust --no-sync >"$tmp/initdb" 2>&1 || fail "$(cat "$tmp/initdb")" || return
	cd "$data" || return
	as_postgres $binaries/postgres -D "$data" -k "$data" -c listen_addresses= -c fsync=off -c autovacuum=off >"$tmp/server" 2>&1 &
	cd "$OLDPWD" || return
	wait_for 60 as_postgres $binaries/pg_isready -q -h "$data" || fail "$(cat "$tmp/server")" || return
	server=$(head -n 1 "$data/postmaster.pid")
	as_postgres $binaries/pgbench -i -q -h "$data" postgres >"$tmp/filled" 2>&1 || fail "$(cat "$tmp/filled")"
}

said_by_pgbench() { # said_by_pgbench NAME: how many transactions it made
	sed -n 's|^number of transactions actually processed: \([0-9]*\)/.*|\1|p' "$tmp/$1.said"
}
