#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A program that means harm is traced beside an honest one: it may spoil its own spans. The honest one's are exact, the recorder goes on, and nothing that the
# hostile one says reaches a terminal as it is.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh
need_bpf

others=()
trap 'kill -KILL "${others[@]}" 2>/dev/null; wait 2>/dev/null' EXIT

# beside NAME HOSTILE-COMMAND...: both are traced until the honest program has ended
beside() {
	local name=$1 honest hostile status
	shift
	"$programs/many_threads" --threads 8 --repeat 8 --output "$tmp/$name.truth" &
	honest=$!
	"$@" >"$tmp/$name.out" 2>&1 &
	hostile=$!
	others=("$honest" "$hostile")
	"$recorder" -q --ring-size 64M -o "$tmp/$name.txtrace" -p $hostile,$honest 2>"$tmp/$name.err" &
	others+=("$!")
	wait $honest || fail "the honest program ended with $?: $(cat "$tmp/$name.err")" || return
	kill -KILL $hostile 2>/dev/null
	wait "${others[2]}"
	status=$?
	[ $status = 0 ] || fail "the tracer ended with $status: $(cat "$tmp/$name.err")" || return
	export_log "$tmp/$name.txtrace" && compare "$name"
}

commits() { # commits KIND
	beside "$1" "$programs/hostile" --wait-traced 20 --what "$1" || return
	[ "$(grep -c '"type":"span"' "$tmp/$1.txtrace.jsonl")" -gt 64 ] || fail "the hostile program was not traced"
}

# Of itself it sees what it did: what is beyond the limit has no label, and is there.
labels_are_bounded() {
	"$recorder" -q --ring-size 64M -o "$tmp/million.txtrace" -- "$programs/hostile" --wait-traced 0 --what labels --rounds 5000 2>"$tmp/err" || return
	"$reader" report --json "$tmp/million.txtrace" >"$tmp/million.json" || return
	jq -e '[.labels[].label] | unique | length >= 60000' "$tmp/million.json" >/dev/null || fail "the report does not tell them apart" || return
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
check "a million labels: 65,536 are known, the others have none" labels_are_bounded
check "forged notes spoil nobody else's spans" forged
check "nothing that it says reaches a terminal" no_terminal_obeys
finish
