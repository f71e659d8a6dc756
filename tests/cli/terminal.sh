#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Colours where there is a terminal that has them and nobody objects; tables no wider than it; no label or file name that it obeys.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

make_from small

# on_terminal COLUMNS COMMAND...: the command's output as a terminal of that width gets it
on_terminal() {
	local columns=$1
	shift
	python3 tests/cli/on_terminal.py "$tmp" "$columns" 40 "$@" | tr -d '\r' >"$tmp/out"
	return "${PIPESTATUS[0]}"
}

escapes() {
	grep -c $'\e' "$tmp/out"
}

plain() { # without its colours
	sed 's/\x1b\[[0-9;]*m//g' "$tmp/out"
}

coloured() {
	TERM=xterm on_terminal 100 "$txtrace" report -l '[ctf]*' small.txtrace || return
	[ "$(escapes)" -gt 10 ] || fail "no colours" || return
	plain | sed '/may be touched/,$d' >"$tmp/plain" # a sentence that is too wide is folded
	run 0 report -l '[ctf]*' small.txtrace && sed '/may be touched/,$d' "$tmp/out" | diff - "$tmp/plain"
}

not_wanted() { # not_wanted NAME=VALUE
	on_terminal 100 env TERM=xterm "$1" "$txtrace" report small.txtrace && [ "$(escapes)" = 0 ]
}

width() {
	python3 -c '
import sys, unicodedata
print(max(sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line.rstrip("\n")) for line in sys.stdin))' <"$1"
}

fits() { # fits COLUMNS
	TERM=dumb on_terminal "$1" "$txtrace" report -l '[ctf]*' small.txtrace || return
	grep -v '^events\|^dropped\|^anomalies\|^ \|^spans\|^bank' "$tmp/out" >"$tmp/tables"
	[ "$(width "$tmp/tables")" -le "$1" ] || fail "$(cat "$tmp/tables")"
}

# Every byte that a terminal obeys has to be one of ours.
no_stranger_speaks() {
	local command
	for command in report spans info dump; do
		TERM=xterm on_terminal 100 "$txtrace" $command small.txtrace || return
		! plain | grep -q $'[\e\a]' || fail "$command lets a label through" || return
	done
	cp "$tmp/small.txtrace" "$tmp/"$'\e[31mred'
	run 0 info $'\e[31mred' && ! grep -q $'\e' "$tmp/out"
}

binary_is_refused() {
	on_terminal 100 "$txtrace" export -f perfetto small.txtrace
	[ $? = 2 ] && grep -q "^txtrace: format 'perfetto' is not for a terminal: give a file with --output$" "$tmp/out"
}

# A picture that takes longer than a second, since it is stopped for as long: how far it is, and about how large it will be; nothing of that in a pipe.
long_export() {
	awk -f tests/cli/long_log.awk </dev/null | "$make_log" "$tmp/long.txtrace" || return
	on_terminal 100 sh -c '"$0" export -o long.json long.txtrace &
		until set -- long.json.??????; [ -s "$1" ]; do :; done
		kill -STOP $! && sleep 1.2 && kill -CONT $! && wait $!' "$txtrace" || return
	python3 - "$tmp/out" "$(stat -c %s "$tmp/long.json")" <<-'END' || return
		import re, sys
		shown = re.findall(r"reading \S+ \S+ of \S+ \S+  [0-9.]+ %, about ([0-9.]+) (KiB|MiB|GiB) to write", open(sys.argv[1]).read())
		assert shown, "it said nothing"
		bytes = float(shown[-1][0]) * {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[shown[-1][1]]
		assert 0.6 < bytes / int(sys.argv[2]) < 1.6, (shown[-1], sys.argv[2])
	END
	run 0 export -o long.json long.txtrace && [ ! -s "$tmp/err" ] && [ ! -s "$tmp/out" ]
}

check "a terminal gets colours, and the same text" coloured
check "NO_COLOR is obeyed" not_wanted NO_COLOR=1
check "a dumb terminal gets none" not_wanted TERM=dumb
check "the report fits 100 columns" fits 100
check "the report fits 80 columns" fits 80
check "labels and names do not reach the terminal as they are" no_stranger_speaks
check "a binary format does not go to a terminal" binary_is_refused
check "a long export says how far it is, and how large it will be" long_export
finish
