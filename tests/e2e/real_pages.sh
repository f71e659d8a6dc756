#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Pages of real recordings in a real browser: PostgreSQL, the bank, one with losses, and one without spans. Each has the figures of the report, can be used, and
# the console stays silent.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
if ! command -v chromium >/dev/null; then
	echo "ok 1 - real_pages # SKIP there is no chromium"
	echo "1..1"
	exit 0
fi
# shellcheck source=tests/e2e/postgres.sh
. tests/e2e/postgres.sh || exit

make_page() { # make_page NAME
	"$reader" view -o "$tmp/$1.html" "$tmp/$1.txtrace" && "$reader" report --json "$tmp/$1.txtrace" >"$tmp/$1.json"
}

record_postgres() {
	start_server || return
	as_postgres $binaries/pgbench -n -c 4 -T 600 -h "$data" postgres >"$tmp/postgres.said" 2>&1 & # until it has been recorded
	"$recorder" -q -f -d 1500ms --preset postgresql -o "$tmp/postgres.txtrace" -p "$server" 2>"$tmp/postgres.err" || fail "$(cat "$tmp/postgres.err")" || return
	pkill -INT -f "pgbench -n -c 4 -T 600 -h $data postgres"
	make_page postgres && [ "$(jq '[.labels[].count] | add' "$tmp/postgres.json")" -gt 1000 ] || fail "$(jq -c '[.labels[] | [.label, .count]]' "$tmp/postgres.json")"
}

record_bank() {
	"$recorder" -q -o "$tmp/bank.txtrace" -- "$programs/bank" --transactions 2000 --rate 1000 >"$tmp/bank.said" && make_page bank
}

# The recorder is stopped while the program marks: what does not fit into the small rings is lost.
record_lossy() {
	local program tracer
	"$programs/probe_loop" --mode begin-end --rate 200000 --seconds 30 >"$tmp/lossy.said" &
	program=$!
	"$recorder" -q --ring-size 128K -o "$tmp/lossy.txtrace" --stream "$tmp/lossy.stream" -p $program 2>"$tmp/lossy.err" &
	tracer=$!
	wait_for 30 test -s "$tmp/lossy.stream"
	kill -STOP $tracer && sleep 0.5 && kill -CONT $tracer && sleep 0.3
	kill -INT $tracer
	wait $tracer || fail "$(cat "$tmp/lossy.err")" || return
	kill $program
	wait $program
	make_page lossy && [ "$(jq .losses.lost "$tmp/lossy.json")" -gt 0 ] || fail "nothing was lost"
}

record_idle() {
	"$recorder" -q -d 200ms -o "$tmp/idle.txtrace" -- sleep 1 2>"$tmp/idle.err" && make_page idle && [ "$(jq '.labels | length' "$tmp/idle.json")" = 0 ]
}

shows_them() {
	python3 tests/cli/view_browser.py "$tmp" real postgres bank lossy idle >"$tmp/browsed" 2>&1 && [ "$(grep -c '^ok' "$tmp/browsed")" = 4 ] || fail "$(cat "$tmp/browsed")"
}

check "PostgreSQL is recorded, and has a page" record_postgres
check "the bank, too" record_bank
check "a program whose events are lost in part" record_lossy
check "a program without spans" record_idle
check "in a browser they have the figures of the report, and can be used" shows_them
finish
