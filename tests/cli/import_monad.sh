#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# takes long: some seconds of a CPU
# Monad's event rings as a log: made rings with known answers, the samples beside the tree, a ring that a writer writes meanwhile, and rings that
# somebody has changed. TXTRACE_SAMPLES: where the samples are. TXTRACE_HOSTILE_FILES: how many changed ones (20); TXTRACE_SEED: others.
# shellcheck source=tests/cli/import.sh
. tests/cli/import.sh || exit

samples=${TXTRACE_SAMPLES:-$PWD/../shared/samples}/monad
seed=${TXTRACE_SEED:-1}
count=${TXTRACE_HOSTILE_FILES:-20}
writer=$BUILD/programs/monad_writer
[ -x "$writer" ] || writer=build/programs/monad_writer
python3 tests/cli/import_monad_files.py make "$tmp" || exit 1

import() { # import STATUS ARGUMENT...: into log.txtrace, and its records into records; in exact, times are strings
	import_log "$@" || return
	[ "$1" = 2 ] || records_of_log "$1"
}

records_of_log() {
	(cd "$tmp" && "$txtrace" export -f jsonl log.txtrace >"$tmp/records" 2>"$tmp/err") || [ "$1" = 1 ] || return
	sed 's/_ns":\([0-9]\{17,\}\)/_ns":"\1"/g' "$tmp/records" >"$tmp/exact"
}

sound() {
	run 0 verify log.txtrace || fail "verify: $(cat "$tmp/out")"
}

# The stories begin at 1,700,000,000 s; µs since then.
us='def us: (.[10:] | tonumber) / 1000;'

records() { # records TYPE JQ EXPECTED: what jq makes of the records of this type, in one line
	local found
	found=$(jq -rc "$us select(.type == \"$1\") | $2" "$tmp/exact" | tr '\n' ' ' | sed 's/ $//')
	[ "$found" = "$3" ] || fail "$1: $found, not $3"
}

says() { # says SENTENCE...: all that the import said
	diff <([ $# = 0 ] || printf 'txtrace: %s\n' "$@") <(grep -v "records, .* are in" "$tmp/said_of_import")
}

span='[.label, .key_text // "", (.begin_ns | us), .wall_ns, .unknown_ns, .lower_bound, .unfinished, .parent]'
loss='[(.first_ns | us), (.last_ns | us), .span_event_cnt]'

# The worked example of the format's description.
example() {
	import 0 example.ring && sound || return
	records header '[.start_monotonic_ns, .start_realtime_ns]' '["1700000000000000000","1700000000000000000"]' &&
		records instant '[.name, (.time_ns | us)]' '["type 2",0] ["lost event 2",0]' && records loss "$loss" '[0,0,1]' &&
		says "holes, numbers that a writer took and did not finish: 1, the first is event 2"
}

said_of_blocks=("blocks without an end or a begin, lower bounds: 2" "of these, blocks that were rejected: 1"
	"transactions that did not end, unfinished spans: 1" "ends of what has not begun, or has ended: 1"
	"begins of what had begun, of which the first counts: 1"
	"events whose time lies before that of the event in front of them, put into order: 1")
blocks() {
	import 0 blocks.ring && sound && says "${said_of_blocks[@]}" || return
	records span "$span" \
		'["transaction","7/1",30,40000,40000,false,false,"1"] ["transaction","7/0",20,70000,70000,false,false,"1"] ["block","7",10,90000,90000,false,false,"0"] ["block","8",210,10000,10000,true,true,"0"] ["transaction","9/5",340,0,0,true,false,"5"] ["transaction","9/2",320,80000,80000,true,true,"5"] ["block","9",310,90000,90000,true,true,"0"]' || return
	records instant '[.name, (.time_ns | us), .span]' \
		'["BLOCK_START",0,"1"] ["TXN_HEADER_START",22,"2"] ["TXN_HEADER_END",23,"2"] ["TXN_LOG",50,"2"] ["reject",60,"3"] ["TXN_END",80,"2"] ["BLOCK_END",110,"1"] ["BLOCK_START",200,"4"] ["BLOCK_QC",205,"1"] ["reject",220,"4"] ["BLOCK_START",300,"5"] ["BLOCK_FINALIZED",305,"1"] ["BLOCK_VERIFIED",400,"1"]' &&
		records attribute 'select(.name | endswith("bytes") | not) | [.span, .name, .value]' \
			"[\"1\",\"number\",7] [\"2\",\"hash\",\"0x$(printf 'ab%.0s' {1..32})\"] [\"3\",\"reason\",3] [\"4\",\"number\",8] [\"4\",\"reason\",9] [\"5\",\"number\",9]" &&
		records thread .comm 'blocks transactions' && records loss . ''
}

# What the documentation says of commands.
commands() {
	import 0 blocks.ring && run 0 report --json log.txtrace || return
	[ "$(jq -c '[.labels[] | [.label, .count, .lower_bounds.count // 0, .wall_ns.sum]] | sort' "$tmp/out")" = \
		'[["block",1,2,90000],["transaction",2,2,110000]]' ] || fail "$(jq -c '.labels[] | [.label, .count, .lower_bounds.count, .wall_ns.sum]' "$tmp/out")" || return
	run 0 spans -l transaction log.txtrace && run 0 concurrency -l transaction log.txtrace && run 0 tree log.txtrace &&
		grep -q transaction "$tmp/out"
}

holes() {
	import 0 holes.ring && sound || return
	records span "$span + [.loss]" '["transaction","7/0",50,0,0,true,false,"1",true] ["block","7",10,50000,50000,false,false,"0",false]' &&
		records loss "$loss" '[10,40,2] [40,40,1] [40,50,1] [60,60,1]' &&
		records instant 'select(.span == "0") | .name' 'lost events 3 to 4 RECORD_ERROR lost event 6 lost event 9' &&
		says "holes, numbers that a writer took and did not finish: 4, the first is event 3" \
			"events that the writer could not record in full: 1" "ends of what has not begun, or has ended: 1"
}

# The number of the block has expired with its payload; the hash runs over the end of the buffer.
wraps() {
	import 0 wrap.ring && sound || return
	records span "$span" '["transaction","event 65534/0",20,20000,20000,false,false,"1"] ["block","",10,40000,40000,false,false,"0"]' &&
		records attribute 'select(.name == "hash") | .value' 0x0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20 &&
		records loss "$loss" '[0,0,3] [0,0,65530] [0,0,1]' &&
		says "holes, numbers that a writer took and did not finish: 65530, the first is event 4" \
			"events that were overwritten before they were read: 3, the first is event 1" \
			"payloads that were overwritten; their events are there: 1, the first is event 65534"
}

others() {
	import 0 other.ring && sound && says || return
	records instant '[.name, .tid]' '["type 77",3] ["type 3",3]' &&
		records attribute '[.name, .value]' '["type 77 word 0",5] ["type 77 word 3",18446744073709552000] ["type 77 bytes",3]' || return
	import 0 --payloads other.ring && records attribute 'select(.name == "type 77 payload") | .value' abc || return
	import 0 sparse.ring && says "holes, numbers that a writer took and did not finish: 4294967296, the first is event 1095216660480" \
		"events that were overwritten before they were read: 1095216660479, the first is event 1"
}

# What is missing is told, and what is there is kept.
damaged() {
	import 0 blocks.ring && grep '"type":"span"' "$tmp/records" >"$tmp/whole" || return
	import 0 short.ring && says "${said_of_blocks[@]}" && diff "$tmp/whole" <(grep '"type":"span"' "$tmp/records") || return
	import 0 packed.ring.zst && diff "$tmp/whole" <(grep '"type":"span"' "$tmp/records") || return
	import 1 torn.ring.zst && diff "$tmp/whole" <(grep '"type":"span"' "$tmp/records") && grep -q '"type":"damage"' "$tmp/records" &&
		grep -q "byte [0-9]*: the packed data are damaged or cut off; what was unpacked is read" "$tmp/said_of_import" || return
	import 1 cut.ring && records span "$span" \
		'["transaction","event 1/1",30,40000,40000,false,false,"1"] ["transaction","event 1/0",20,70000,70000,false,false,"1"] ["block","",10,80000,80000,true,true,"0"]' &&
		records loss "$loss" '[90,90,13]' || return
	grep -q "^txtrace: 'cut.ring', byte 2097861: the file ends here, and its header asks for 140509184 bytes: events behind the end: 13, payloads: 3$" "$tmp/said_of_import" || fail "$(cat "$tmp/said_of_import")" || return
	import 1 cut_payloads.ring && grep -q "byte 6291488: .* events behind the end: 0, payloads: 9$" "$tmp/said_of_import" || return
	import 1 late.ring && grep -q "byte 2097216: event 2 has a time beyond the year 2262; it is left out$" "$tmp/said_of_import" &&
		records instant '[.name, (.time_ns | us)]' '["TXN_LOG",0] ["lost event 2",1] ["TXN_LOG",1]' || fail "$(cat "$tmp/said_of_import")"
}

refused() { # refused NAME WORDS
	import 2 "bad_$1.ring" && grep -q "^txtrace: can't import 'bad_$1.ring': $2$" "$tmp/err" && [ ! -e "$tmp/log.txtrace" ] || fail "$1: $(cat "$tmp/err")"
}

all_refused() {
	refused version "it begins with 'RING02', and only rings that begin with 'RING01' can be read" &&
		refused capacity "its capacity of descriptors, at byte 40, 65537 is no power of two from 65536 to 4294967296" &&
		refused small ".* 32768 is no power of two .*" && refused large ".* 8589934592 is no power of two .*" &&
		refused payload "the size of its payload buffer, at byte 48, 402653184 is no power of two from 134217728 to 1099511627776" &&
		refused context "the size of its context area, at byte 56, 12 is no power of two .*" &&
		refused header "it ends inside the header of a ring, after 100 of 136 bytes" || return
	import 1 blocks.ring holes.ring && grep -q "only one ring can be imported at a time, and this one is left out" "$tmp/said_of_import" || return
	printf abc >"$tmp/text" && run 2 import --follow -f sui -o log.txtrace text && grep -q "files of the format 'sui' can't be followed$" "$tmp/err"
}

standard_input() {
	import 0 packed.ring.zst || return
	(cd "$tmp" && "$txtrace" import -f monad -o piped.txtrace - <packed.ring.zst 2>/dev/null) || return
	(cd "$tmp" && "$txtrace" import -f monad -o whole.txtrace - <blocks.ring 2>/dev/null) || return
	(cd "$tmp" && "$txtrace" export -f jsonl piped.txtrace >piped && "$txtrace" export -f jsonl whole.txtrace >whole) || return
	diff <(tail -n +2 "$tmp/records") <(tail -n +2 "$tmp/piped") && diff <(tail -n +2 "$tmp/records") <(tail -n +2 "$tmp/whole")
}

sample() { # sample STATUS NAME
	import "$1" --payloads "$samples/$2.ring.zst" || return
	[ "$1" = 1 ] || sound || return
	python3 tests/cli/import_monad_check.py "$tmp" "$samples/$2.ring.zst"
}

torn_sample() {
	import 1 "$samples/torn.ring.zst" && grep -q "byte 6291456: the packed data are damaged or cut off" "$tmp/said_of_import" || return
	grep '"type":"span"' "$tmp/records" | jq -c '[.id, .label, .begin_ns, .wall_ns, .unfinished]' | sort >"$tmp/torn"
	import 0 "$samples/exec.ring.zst" && diff "$tmp/torn" <(grep '"type":"span"' "$tmp/records" | jq -c '[.id, .label, .begin_ns, .wall_ns, .unfinished]' | sort)
}

of_samples() {
	local name
	for name in threads hole wrap exec other-schema real-first-4000; do
		check "sample $name" sample 0 $name
	done
	check "sample truncated" sample 1 truncated
	check "sample torn" torn_sample
	check "sample refused-version" import 2 "$samples/refused-version.ring.zst"
	check "sample refused-capacity" import 2 "$samples/refused-capacity.ring.zst"
}

# ---- a ring that is written meanwhile ----

start_import() { # start_import ARGUMENT...: in the background
	(cd "$tmp" && exec "$txtrace" import --follow --payloads -o log.txtrace "$@" >"$tmp/out" 2>"$tmp/said_of_import") &
	importer=$!
}

# accounted GIVEN: read + lost are the numbers that the writer has given out, and no event was put together out of two.
accounted() {
	python3 - "$tmp/records" "$1" "$(expired)" <<-'PY'
		import json, sys
		events = lost = payloads = word = 0
		for line in open(sys.argv[1], encoding="utf-8"):
		    record = json.loads(line)
		    if record["type"] == "instant":
		        events += record["name"] == "type 2"
		    elif record["type"] == "loss":
		        lost += record["span_event_cnt"]
		    elif record["type"] == "attribute" and record["name"] == "type 2 word 0":
		        word = record["value"]
		    elif record["type"] == "attribute" and record["name"] == "type 2 word 1":
		        assert record["value"] == word ^ 0x5554, (record, word)
		    elif record["type"] == "attribute" and record["name"] == "type 2 payload":
		        assert record["value"].startswith(f"{word}:"), (record, word)
		        payloads += 1
		lost -= int(sys.argv[3])
		print(f"{events} events, {payloads} with their payload, {lost} lost, of {sys.argv[2]}")
		sys.exit(events + lost != int(sys.argv[2]) or not events or payloads + int(sys.argv[3]) != events)
	PY
}

expired() {
	sed -n 's/.*payloads that were overwritten; their events are there: \([0-9]*\),.*/\1/p' "$tmp/said_of_import" | grep . || echo 0
}

# A slow writer that ends of itself: everything arrives.
follow_all() {
	"$writer" "$tmp/live.ring" --events 20000 --pause-us 20 >"$tmp/given" &
	local pid=$!
	wait_for_ring || return
	start_import live.ring
	wait $pid && wait $importer && records_of_log 0 && sound && accounted "$(cat "$tmp/given")" || fail "$(cat "$tmp/said_of_import")" || return
	! grep -q "overwritten\|holes" "$tmp/said_of_import" || fail "$(cat "$tmp/said_of_import")"
}

wait_for_ring() { # until the writer holds its lock and has written
	local try
	for try in {1..500}; do
		[ -s "$tmp/live.ring" ] && [ "$(od -An -tu8 -j64 -N8 "$tmp/live.ring" 2>/dev/null | tr -d ' ')" -gt 0 ] 2>/dev/null && return
		sleep 0.02
	done
	fail "the writer does not write ($try)"
}

# Faster than any reader: laps, so that events are overwritten, and payloads expire.
follow_fast() {
	rm -f "$tmp/live.ring"
	"$writer" "$tmp/live.ring" --events 400000 --threads 2 --payload 512 >"$tmp/given" &
	local pid=$!
	wait_for_ring || return
	start_import live.ring
	wait $pid && wait $importer && records_of_log 0 && accounted "$(cat "$tmp/given")" || fail "$(cat "$tmp/said_of_import")"
}

# Killed in the middle of a record: the hole is told, and the import ends of itself.
follow_killed() {
	rm -f "$tmp/live.ring"
	"$writer" "$tmp/live.ring" --events 5000 --pause-us 20 --die-in-record >"$tmp/given"
	[ $? = 137 ] || fail "the writer did not die" || return
	import 0 --follow --payloads live.ring && sound && accounted 5001 &&
		grep -q "^txtrace: holes, numbers that a writer took and did not finish: 1, the first is event 5001$" "$tmp/said_of_import" || fail "$(cat "$tmp/said_of_import")" || return
	rm -f "$tmp/live.ring"
	"$writer" "$tmp/live.ring" --events 20000 --pause-us 20 --die-in-record >"$tmp/given" &
	local pid=$!
	wait_for_ring || return
	start_import live.ring
	wait $pid 2>/dev/null
	wait $importer && records_of_log 0 && sound && accounted 20001 || fail "$(cat "$tmp/said_of_import")"
}

# wait_for_looks COUNT: until the import has slept so many times more; between two looks at the ring it sleeps once.
wait_for_looks() {
	local before now try
	before=$(looks) || return
	for ((try = 0; try < 3000; try++)); do
		now=$(looks) || return
		[ $((now - before)) -lt "$1" ] || return 0
		sleep 0.05
	done
	fail "the import has looked $((now - before)) times"
}

looks() {
	awk '/^voluntary_ctxt_switches/ { print $2; found = 1 } END { exit !found }' "/proc/$importer/status"
}

# One writer's thread stalls in a record, and others go on: the import does not wait for ever.
follow_stalled() {
	rm -f "$tmp/live.ring"
	"$writer" "$tmp/live.ring" --events 3000 --stall-at 1000 --linger >"$tmp/given" &
	local pid=$! try
	wait_for_ring || return
	start_import live.ring
	for try in {1..1000}; do
		[ -s "$tmp/given" ] && break
		sleep 0.02
	done
	# it looks a hundred times for number 1000, and reads on in the next few: an interrupt ends it properly
	wait_for_looks 150 || return
	kill -INT $importer
	wait $importer || fail "the import ended with $? ($try): $(cat "$tmp/said_of_import")" || return
	kill $pid
	wait $pid 2>/dev/null
	records_of_log 0 && sound && accounted 3000 || return
	grep -q "^txtrace: holes, numbers that a writer took and did not finish: 1, the first is event 1000$" "$tmp/said_of_import" || fail "$(cat "$tmp/said_of_import")"
}

# Whatever the file holds, the import ends with a status of its own, and what it wrote is a log.
hostile() {
	local file status
	rm -rf "$tmp/hostile"
	python3 tests/cli/import_monad_files.py mutate "$seed" "$count" "$tmp/hostile" "$@" || return
	for file in "$tmp"/hostile/*; do
		timeout 60 "$txtrace" import -f monad -o "$tmp/hostile.txtrace" "$file" >/dev/null 2>"$tmp/err"
		status=$?
		case $status in
		0 | 1) ;;
		2) continue ;;
		*) fail "$(basename "$file") of seed $seed: status $status: $(head -n 5 "$tmp/err")" || return ;;
		esac
		"$txtrace" verify "$tmp/hostile.txtrace" >"$tmp/out" 2>&1
		[ $? = $status ] || fail "$(basename "$file") of seed $seed: $(cat "$tmp/out")" || return
	done
}

check "the example of the description" example
check "blocks and transactions" blocks
check "the commands that answer" commands
check "holes, and events that could not be recorded" holes
check "numbers and payloads that run over the end" wraps
check "other contents" others
check "files that are cut off" damaged
check "files that are refused" all_refused
check "standard input" standard_input
check "a ring that is written meanwhile" follow_all
check "a ring that is written faster than it is read" follow_fast
check "a writer that is killed in the middle of a record" follow_killed
check "a writer's thread that stalls" follow_stalled
check "$count changed rings, seed $seed" hostile "$tmp"/blocks.ring "$tmp"/holes.ring "$tmp"/wrap.ring "$tmp"/other.ring
if [ -d "$samples" ]; then
	of_samples
else
	skip "samples" "there are none beside the tree"
fi
finish
