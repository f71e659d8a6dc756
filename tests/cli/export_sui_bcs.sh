#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Sui's transaction trace, exported, in the eyes of npm's @mysten/bcs: it reads every event, and writes each batch as it is.
# BCS: where the library is.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

bcs=${BCS:-build/setup/bcs}
python3 tests/cli/import_sui_files.py make "$tmp" || exit 1

reason=
command -v node >/dev/null || reason="there is no node here; install nodejs and npm, then run tests/setup/bcs.sh"
[ -e "$bcs/node_modules/@mysten/bcs/dist/index.mjs" ] || reason=${reason:-"there is no @mysten/bcs in $bcs; tests/setup/bcs.sh fetches it"}

read_batches() { # read_batches FILE: into $tmp/events
	node tests/cli/export_sui_bcs.mjs "$bcs" "$tmp/$1" >"$tmp/events" 2>"$tmp/complaints" || fail "$(head -n 5 "$tmp/complaints")"
}

# The events of the log, in the order of time, with the numbers of four types less $1.
events_of_log() {
	run 0 export -f jsonl log.txtrace || return
	python3 - "$1" "$tmp/out" <<-'PY'
		import json, sys
		keys, stages = {}, ["enqueued", "scheduled", "execution begin", "execution complete"]
		for line in map(json.loads, open(sys.argv[2], encoding="utf-8")):
		    if line["type"] == "open_span":
		        keys[line["id"]] = line["key"]
		    elif line["type"] == "instant" and line["span"] != "0":
		        print(line["time_ns"], keys[line["span"]], stages.index(line["name"]) - int(sys.argv[1]))
	PY
}

imported() { # imported FORMAT LESS FILE COUNT
	run 0 import -f sui -o log.txtrace "$3" && run 0 export -f "$1" -o again.bin log.txtrace && read_batches again.bin || return
	[ "$(wc -l <"$tmp/events")" = "$4" ] || fail "$(wc -l <"$tmp/events") events" || return
	diff <(sort -s -n -k 1,1 "$tmp/events") <(events_of_log "$2")
}

# A transaction of a program: its times, cut to µs behind the first one.
native() {
	"$make_log" "$tmp/native.txtrace" <<-TEXT || return
		header pid=7 start_monotonic_ns=0 start_realtime_ns=1700000000000000000
		span begin_ns=1001 end_ns=99001999 pid=7 tid=8 end_tid=8 id=1 flags=keyed,root label="tx" key="$(printf 'k%.0s' {1..32})" work_ns=99000998 detached_ns=2998 unknown_ns=98998000
		summary time_ns=99001999
	TEXT
	run 0 export -f sui -o native.bin native.txtrace && read_batches native.bin || return
	diff <(printf "%s $(printf '6b%.0s' {1..32}) %s\n" 1700000000000001001 0 1700000000000003001 2 1700000000099001999 3) "$tmp/events"
}

if [ -n "$reason" ]; then
	skip "@mysten/bcs" "$reason"
else
	check "two event types" imported sui2 2 two.bin 6
	check "four event types" imported sui 0 four.bin 16
	check "batches that overlap" imported sui2 2 overlap.bin 8
	check "legal batches that no writer makes" imported sui2 2 odd.bin 8
	check "a span of a program" native
fi
finish
