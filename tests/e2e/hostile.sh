#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A program that means harm is traced beside an honest one: it may spoil its own spans. The honest one's are exact, the recorder goes on, and nothing that the
# hostile one says reaches a terminal as it is.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
need_account

others=()
span_memory=2G
trap 'kill -KILL "${others[@]}" 2>/dev/null; wait 2>/dev/null' EXIT

# run_beside NAME HOSTILE-COMMAND...: both are traced until the honest program has ended
run_beside() {
	local name=$1 honest hostile status
	shift
	"$programs/many_threads" --threads 8 --repeat 8 --output "$tmp/$name.truth" &
	honest=$!
	"$@" >"$tmp/$name.out" 2>&1 &
	hostile=$!
	others=("$honest" "$hostile")
	"$recorder" -q --ring-size 64M --span-memory "$span_memory" -o "$tmp/$name.txtrace" -p $hostile,$honest 2>"$tmp/$name.err" &
	others+=("$!")
	wait $honest || fail "the honest program ended with $?: $(cat "$tmp/$name.err")" || return
	kill -KILL $hostile 2>/dev/null
	wait "${others[2]}"
	status=$?
	[ $status = 0 ] || fail "the tracer ended with $status: $(cat "$tmp/$name.err")" || return
	export_log "$tmp/$name.txtrace"
}

beside() { # beside NAME HOSTILE-COMMAND...: and the honest one is exact
	run_beside "$@" && compare "$1"
}

commits() { # commits KIND
	beside "$1" "$programs/hostile" --wait-traced 200 --what "$1" || return
	[ "$(grep -c '"type":"span"' "$tmp/$1.txtrace.jsonl")" -gt 64 ] || fail "the hostile program was not traced"
}

# With room for a thousand spans: nothing is lost but what was refused to the hostile one. So without these losses the log is what it always is.
commits_in_little_room() {
	local span_memory=1M lost refused
	run_beside little "$programs/hostile" --wait-traced 200 --what open || return
	lost=$(sed -n 's/.* received, \([0-9,]*\) lost$/\1/p' "$tmp/little.err")
	refused=$(sed -n 's/.* \([0-9,]*\) of the lost events found no room: .*/\1/p' "$tmp/little.err")
	[ -n "$lost" ] && [ "$lost" = "$refused" ] || fail "$(cat "$tmp/little.err")" || return
	mv "$tmp/little.txtrace.jsonl" "$tmp/little.all"
	jq -c 'if .type == "loss" then empty elif .type == "summary" then .recorder.sent_cnt -= .recorder.lost_cnt | .recorder.lost_cnt = 0 else . end' \
		"$tmp/little.all" >"$tmp/little.txtrace.jsonl" && compare little
}

# A million spans that nobody ends: what the recorder has in memory follows the limit. Without one that would be 370 MB.
spans_are_bounded() {
	local anonymous_kb most_kb=0 tracer
	"$recorder" -q --sync --ring-size 64M --span-memory 16M -o "$tmp/endless.txtrace" -- "$programs/hostile" --wait-traced 0 --what open --rounds 5000 \
		2>"$tmp/endless.err" &
	tracer=$!
	others=("$tracer")
	while runs $tracer; do
		anonymous_kb=$(awk '/^RssAnon:/ { print $2 }' /proc/$tracer/status 2>/dev/null)
		[ "${anonymous_kb:-0}" -le "$most_kb" ] || most_kb=$anonymous_kb
		sleep 0.1
	done
	wait $tracer || fail "the tracer ended with $?: $(cat "$tmp/endless.err")" || return
	echo "$most_kb kB"
	[ "$most_kb" -gt 1000 ] && [ "$most_kb" -lt 131072 ] || fail "that is not what the limit says" || return
	export_log "$tmp/endless.txtrace" || return
	python3 - "$tmp/endless.txtrace.jsonl" <<-'END'
		import json, sys
		records = [json.loads(line) for line in open(sys.argv[1])]
		spans = sum(record["type"] == "span" for record in records)
		lost = sum(record["span_event_cnt"] for record in records if record["type"] == "loss")
		recorder = [record for record in records if record["type"] == "summary"][0]["recorder"]
		print(spans, "spans,", lost, "lost,", recorder)
		sys.exit(not (10000 < spans < 20000 and spans + lost == 1000000 and recorder["lost_cnt"] == lost and
			      recorder["sent_cnt"] == recorder["received_cnt"] + lost))
	END
}

# Of itself it sees what it did: what is beyond the limit has no label, and is there.
labels_are_bounded() {
	"$recorder" -q --ring-size 64M -o "$tmp/million.txtrace" -- "$programs/hostile" --wait-traced 0 --what labels --rounds 5000 2>"$tmp/err" || return
	"$reader" report --json "$tmp/million.txtrace" >"$tmp/million.json" || return
	jq -e '[.labels[].label] | unique | length >= 60000' "$tmp/million.json" >/dev/null || fail "the report does not tell them apart" || return
	grep -q "labels or names could not be read from the program, and [0-9,]* were beyond the limits" "$tmp/err" || fail "$(cat "$tmp/err")" || return
	export_log "$tmp/million.txtrace" || return
	python3 - "$tmp/million.txtrace.jsonl" <<-'END'
		import json, sys
		spans = [json.loads(line) for line in open(sys.argv[1]) if '"type":"span"' in line]
		labels = {span["label"] for span in spans} - {""}
		print(len(spans), "spans,", len(labels), "labels")
		sys.exit(not (len(spans) == 1000000 and 60000 <= len(labels) <= 65536 and all(label.startswith("label ") for label in labels)))
	END
}

# A file whose notes lie: it starts, it is attached or refused, it ends or goes on.
forged() {
	local path
	mkdir -p "$tmp/forged"
	python3 $e2e/forge_notes.py "$programs/probe_loop" "$tmp/forged" >"$tmp/forged.list" || return
	while read -r path; do
		beside "$(basename "$path")" "$path" --mode attributed --steps 20000 || fail "$(basename "$path")" || return
	done <"$tmp/forged.list"
}

# speaks COMMAND...: nothing that it prints can do anything to a terminal
speaks() {
	"$@" >"$tmp/speech" 2>&1 </dev/null
	python3 - "$tmp/speech" <<-'END' || fail "$*: a terminal would obey that"
		import sys, unicodedata
		text = open(sys.argv[1], "rb").read().decode("utf-8")
		bad = [c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") and c not in "\n\t"]
		print(len(text), "characters,", "bad:", [hex(ord(c)) for c in bad[:10]])
		sys.exit(len(text) < 20 or bool(bad))
	END
}

# Every command on the log of a program that speaks in control characters, and the recorder itself.
no_terminal_obeys() {
	local log=$tmp/controls.txtrace command span
	span=$(grep '"type":"span"' "$log.jsonl" | grep -v many_threads | jq -r 'select(.label | test("owned")) | .id' | head -n 1)
	for command in report "report --by tag" "report --by thread" tree tail histogram flame "flame --folded" workers concurrency spans blocked blame neighbours \
		info dump verify; do
		# shellcheck disable=SC2086 # a command and its options
		speaks "$reader" $command "$log" || return
	done
	speaks "$reader" show "$log" "$span" || return
	speaks "$reader" critical-path "$log" "$span" || return
	speaks "$recorder" -o "$tmp/spoken.txtrace" -- "$programs/hostile" --wait-traced 0 --what controls --rounds 20 || return
	speaks "$recorder" --list "$tmp/forged/forged_names"
}

for kind in pointers strings controls ids labels forks open all; do
	check "beside a program that passes ${kind/all/all of it}, an honest one is exact" commits $kind
done
check "beside a program with more open spans than there is room for, an honest one is exact" commits_in_little_room
check "a million open spans: memory is bounded, and the others are counted as lost" spans_are_bounded
check "a million labels: 65,536 are known, the others have none" labels_are_bounded
check "forged notes spoil nobody else's spans" forged
check "nothing that it says reaches a terminal" no_terminal_obeys
finish
