#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Debian's Python 3.11 as it is, by --preset python: each module that it imports, and each collection with what it freed.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
# shellcheck source=tests/e2e/recording.sh
. tests/e2e/recording.sh || exit
need_bpf
python=/usr/bin/python3.11 # not one of the user's own
need_program $python python3.11
if ! "$recorder" --list $python 2>/dev/null | grep -q '  python:gc__start('; then
	echo "ok 1 - unmodified_python # SKIP the python3.11 that is installed has no probes; Debian's has"
	echo "1..1"
	exit 0
fi

rounds=12

modules() { # in the order in which they were found: what another one imports is there first
	local i
	for ((i = 0; i < rounds; i++)); do printf 'module=inner%d\nmodule=outer%d\n' $i $i; done
	echo module=nowhere_to_be_found
}

as_many_as_made() {
	local program
	mkdir "$tmp/folder"
	$python -I $e2e/unmodified/answer.py "$tmp/folder" $rounds >"$tmp/python.said" &
	program=$!
	wait_for 60 grep -q ready "$tmp/python.said" || fail "the program does not run" || return
	begin_recording python --preset python -p $program || return
	touch "$tmp/folder/go"
	wait $program || fail "the program ended with $?" || return
	wait "$tracer" || fail "ended with $?: $(cat "$tmp/python.err")" || return
	export_log "$tmp/python.txtrace"
	jq -rs 'map(select(.type == "span" and .label == "import" and (.unfinished | not) and .tag != "module=traceback")) | sort_by(.end_ns)[] | .tag' \
		"$tmp/python.txtrace.jsonl" >"$tmp/modules"
	modules | diff - "$tmp/modules" && is_whole python
}

# The first one is of what the imports left behind, those behind the last are made by the end of the program.
collections() {
	local i
	for ((i = 0; i < rounds; i++)); do echo "generation=$((i % 3)),freed=$i"; done >"$tmp/wanted"
	grep -qx "freed=$((rounds * (rounds - 1) / 2))" "$tmp/python.said" || fail "$(cat "$tmp/python.said")" || return
	jq -rs 'map(select(.type == "span" and .label == "gc")) | sort_by(.begin_ns)[] | .tag' "$tmp/python.txtrace.jsonl" | sed "1d; $((rounds + 2)),\$d" | diff "$tmp/wanted" -
}

check "each import, of modules that import others and that are not there" as_many_as_made
check "each collection, with its generation and what it freed" collections
finish
