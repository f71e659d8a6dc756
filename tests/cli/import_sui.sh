#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# takes long: some seconds of a CPU
# Sui's transaction trace as a log: made files with known answers, the samples beside the tree, and files that somebody has changed.
# TXTRACE_SAMPLES: where the samples are. TXTRACE_HOSTILE_FILES says how many of the latter: 60 as it is; TXTRACE_SEED: others.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

samples=${TXTRACE_SAMPLES:-$PWD/../shared/samples}/sui
seed=${TXTRACE_SEED:-1}
count=${TXTRACE_HOSTILE_FILES:-60}
python3 tests/cli/import_sui_files.py make "$tmp" || exit 1

import() { # import STATUS ARGUMENT...: into log.txtrace, and its records into records
	local status=$1
	shift
	rm -f "$tmp/log.txtrace" "$tmp/records"
	run "$status" import -f sui -o log.txtrace "$@" || return
	[ "$status" = 2 ] && return
	cp "$tmp/err" "$tmp/said_of_import"
	(cd "$tmp" && "$txtrace" export -f jsonl log.txtrace >"$tmp/records" 2>"$tmp/err") || [ "$status" = 1 ] || return
	sed 's/_ns":\([0-9]\{17,\}\)/_ns":"\1"/g' "$tmp/records" >"$tmp/exact"
}

sound() {
	run 0 verify log.txtrace || fail "verify: $(cat "$tmp/out")"
}

# The stories begin at 1,700,000,000 s. Times, which jq would round, are strings in the file exact; this makes them µs since then.
us='def us: (.[10:] | tonumber) / 1000;'

# records TYPE JQ EXPECTED: what jq makes of the records of this type, in one line
records() {
	local found
	found=$(jq -rc "$us select(.type == \"$1\") | $2" "$tmp/exact" | tr '\n' ' ' | sed 's/ $//')
	[ "$found" = "$3" ] || fail "$1: $found, not $3"
}

says() { # says SENTENCE...: all that the import said, but for what it says of the event types
	diff <(printf 'txtrace: %s\n' "$@") <(grep -v ": the events are of types 0 and 1 alone" "$tmp/said_of_import")
}

guessed='txtrace: the events are of types 0 and 1 alone, taken for begin and complete; if the writer knew four types they are enqueued and scheduled: give --sui-variants 4'
transaction='.label == "transaction"'
span='[.key[0:2], (.begin_ns | us), .wall_ns, .detached_ns, .unknown_ns, .lower_bound, .unfinished]'
child='[.label, (.begin_ns | us), .wall_ns, .detached_ns, .unknown_ns, .lower_bound]'

# The worked example of the format's description.
example() {
	import 0 example.bin && sound || return
	records header '[.start_monotonic_ns, .start_realtime_ns]' '["1700000000123456789","1700000000123456789"]' &&
		records instant '[.name, .time_ns]' '["batch 0 1","1700000000123456789"] ["execution begin","1700000000123556789"]' &&
		records open_span '.key' "$(printf '01%.0s' {1..32})" &&
		records span '[.label, .begin_ns, .wall_ns, .lower_bound, .unfinished, .end_tid]' \
			'["execution","1700000000123556789",0,true,true,0] ["transaction","1700000000123556789",0,true,true,0]' &&
		says "transactions that never completed, unfinished spans: 1" "of these, executions that began: 1"
}

two_types() {
	import 0 two.bin && sound || return
	records span "select($transaction) | $span" \
		'["01",100,500000,0,500000,false,false] ["02",200,70500000,0,70500000,false,false] ["04",70800,0,0,0,true,false] ["03",700,70100000,0,70100000,true,true]' &&
		records span "select($transaction | not) | $child" \
			'["execution",100,500000,0,500000,false] ["execution",200,70500000,0,70500000,false] ["execution",700,70100000,0,70100000,true]' &&
		records loss . '' && [ "$(head -n 1 "$tmp/said_of_import")" = "$guessed" ] || return
	records counter '[.name, (.time_ns | us), .value]' \
		'["executing",100,1] ["executing",200,2] ["executing",600,1] ["executing",700,2] ["executing",70700,1]' || return
	says "transactions that never completed, unfinished spans: 1" "of these, executions that began: 1" \
		"completions of executions whose begin is not in the files: 1"
}

four_types() {
	import 0 four.bin && sound || return
	records span "select($transaction) | $span" \
		'["01",0,130000,30000,100000,false,false] ["04",200,120000,20000,100000,false,false] ["05",400,50000,0,50000,true,false] ["05",500,70000,0,70000,true,false] ["02",40,530000,530000,0,true,true] ["03",50,520000,520000,0,true,true]' &&
		records span "select($transaction | not) | $child" \
			'["waiting for inputs",0,10000,10000,0,false] ["waiting for an executor",10,20000,20000,0,false] ["waiting for inputs",50,10000,10000,0,false] ["execution",30,100000,0,100000,false] ["waiting for inputs",200,10000,10000,0,false] ["waiting for an executor",210,10000,10000,0,false] ["execution",220,100000,0,100000,false] ["execution",400,50000,0,50000,false] ["execution",500,70000,0,70000,false] ["waiting for inputs",40,530000,530000,0,true] ["waiting for an executor",60,510000,510000,0,true]' || return
	! grep -q "event types\|types 0 and 1" "$tmp/said_of_import" || fail "$(cat "$tmp/said_of_import")" || return
	says "transactions that never completed, unfinished spans: 2" "events that a transaction has had before it completed, of which the first counts: 1"
}

# Each of the three questions, by the command that docs/formats.md names.
commands() {
	import 0 four.bin && run 0 report --json log.txtrace || return
	[ "$(jq -c '[.labels[] | [.label, .count, .lower_bounds.count // 0, .wall_ns.sum]] | sort' "$tmp/out")" = \
		'[["execution",4,0,320000],["transaction",2,4,250000],["waiting for an executor",2,1,30000],["waiting for inputs",3,1,30000]]' ] ||
		fail "$(jq -c '[.labels[] | [.label, .count, .lower_bounds.count // 0, .wall_ns.sum]] | sort' "$tmp/out")" || return
	run 0 workers --json log.txtrace && [ "$(jq -c '[.counters[] | [.name, .max]]' "$tmp/out")" = '[["executing",1]]' ] || fail "$(jq -c .counters "$tmp/out")" || return
	run 0 histogram --json -l execution log.txtrace || return
	run 0 report --json --by key log.txtrace && [ "$(jq '[.rows[] | .count + (.lower_bounds.count // 0)] | add' "$tmp/out")" = 17 ] || fail "$(cat "$tmp/out")" || return
	run 0 spans -l transaction log.txtrace && grep -q unfinished "$tmp/out" || fail "$(cat "$tmp/out")"
}

# Batches that overlap have threads of their own; the records are in the order of time.
overlaps() {
	import 0 overlap.bin && sound || return
	records instant '[.tid, .name, (.time_ns | us)]' \
		'[2,"batch 0 2",0] [4,"batch 2 2",50] [4,"execution begin",50] [2,"execution begin",100] [3,"batch 1 2",300] [3,"execution begin",300] [3,"execution complete",400] [2,"execution complete",500] [4,"execution complete",500] [2,"batch 3 2",500] [2,"execution begin",500] [2,"execution complete",600]' &&
		says "events whose time lies before that of the event in front of them, put into order: 2"
}

odd() {
	import 0 odd.bin && sound || return
	records instant 'select(.span == "0") | .name' \
		'batch 0 2 a1700000000.1500000000 l0.999 e d3 d4 e d9 batch 1 4 c1700000001500016999 a1700000003.0 d5 e d7 e a1700000002.0 e e batch 2 0 c1700000002000000000 batch 3 2 c1700000002000000000 d8 e l2.0 e batch 4 0' ||
		return
	records span "select($transaction) | [.key[0:2], .begin_ns, .wall_ns]" \
		'["01","1700000001500000999",7000] ["03","1700000002000000000",0] ["02","1700000003000005000",7000] ["04","1700000002000008000",2000000000]'
}

# Only the first two of four types: it looks like two.
ambiguous() {
	import 0 waits.bin && grep -q "but 10 of 10 pairs are at most 3 µs apart, .* give --sui-variants 4$" "$tmp/said_of_import" || fail "$(cat "$tmp/said_of_import")" || return
	records span 'select(.label == "execution") | .wall_ns' '2000 2000 2000 2000 2000 2000 2000 2000 2000 2000' || return
	import 0 --sui-variants 4 waits.bin && sound && says "transactions that never completed, unfinished spans: 10" || return
	! grep -q "types" "$tmp/said_of_import" || return
	records span 'select(.label == "waiting for inputs") | .wall_ns' '2000 2000 2000 2000 2000 2000 2000 2000 2000 2000' || return
	# a file with four types, read as one with two
	import 2 --sui-variants 2 four.bin && grep -q "byte 0: .*event type 2 in front of byte [0-9]* of it, where there are 2 types; its events are left out" "$tmp/err" &&
		run 2 import -f sui --sui-variants 3 -o log.txtrace two.bin && grep -q "'--sui-variants' does not know '3'" "$tmp/err" || fail "$(cat "$tmp/err")"
}

# A batch that no writer makes is named by its records: 1,200 such names take 68 MB, and are not all held back at once.
long_names() {
	python3 - "$tmp/names.bin" <<-'PY' || return
		import struct, sys
		payload = b"\xb9\x94\1" + b"\0" + struct.pack("<QI", 1_700_000_000, 0) + b"\1\0\0" * 19000
		with open(sys.argv[1], "wb") as out:
		    for _ in range(1200):
		        out.write(struct.pack("<I", len(payload)) + payload)
	PY
	import 0 names.bin && sound && run 0 export -f sui -o again.bin log.txtrace && cmp "$tmp/names.bin" "$tmp/again.bin" || return
	[[ $BUILD != *sanitize* ]] || return 0 # a sanitizer takes memory of its own
	python3 - "$txtrace" "$tmp" <<-'PY'
		import resource, subprocess, sys
		subprocess.run([sys.argv[1], "import", "-f", "sui", "-o", sys.argv[2] + "/log.txtrace", sys.argv[2] + "/names.bin"], check=True, capture_output=True)
		taken = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
		sys.exit(f"{taken} KiB" if taken > 50000 else 0)
	PY
}

# What the types are is known only when all was read.
standard_input() {
	(cd "$tmp" && "$txtrace" import -f sui -o piped.txtrace - <two.bin 2>"$tmp/err")
	[ $? = 2 ] && grep -q "it can be read only once: give --sui-variants 2 or 4, or a file" "$tmp/err" || fail "$(cat "$tmp/err")" || return
	(cd "$tmp" && "$txtrace" import -f sui --sui-variants 2 -o piped.txtrace - <two.bin) && import 0 two.bin || return
	run 0 export -f jsonl piped.txtrace && diff <(tail -n +2 "$tmp/records") <(tail -n +2 "$tmp/out")
}

sets() {
	import 0 set && sound && records span "select($transaction) | $span" '["01",100,100000,0,100000,false,false]' || return
	import 0 mixed && sound && records span "select($transaction) | $span" '["01",0,50000,20000,30000,false,false]' || return
	import 0 gap && sound || return
	records loss '[(.first_ns | us), (.last_ns | us), .span_event_cnt]' '[100,900,1]' || return
	records span "select($transaction) | [.key[0:2], .loss, .lower_bound]" '["03",false,true] ["02",true,true]' || return
	grep -q "^txtrace: files that are missing between others, by their numbers: 1$" "$tmp/said_of_import" || fail "$(cat "$tmp/said_of_import")" || return
	import 2 broken_set && import 1 late_bincode && grep -q "tx-trace-1.bin', byte 0: .* bincode and not BCS.*; the file is left out$" "$tmp/said_of_import" &&
		records loss '.span_event_cnt' 1
}

# torn NAME OFFSET WORDS: all of two.bin is there
torn() {
	import 0 two.bin && grep '"type":"span"' "$tmp/records" >"$tmp/whole" || return
	import 1 "$1.bin" && [ "$(grep -c "^txtrace: '$1.bin', byte $2: $3; its events are left out$" "$tmp/said_of_import")" = 1 ] || fail "$(cat "$tmp/said_of_import")" || return
	[ "$(grep -c "byte" "$tmp/said_of_import")" = 1 ] && [ "$(grep -c '"type":"damage"' "$tmp/records")" = 1 ] || return
	diff "$tmp/whole" <(grep '"type":"span"' "$tmp/records" | sed 's/"loss":true/"loss":false/')
}

all_torn() {
	torn cut_length 268 "the length of a batch is cut off: 2 of its 4 bytes are there" &&
		torn cut_batch 268 "a batch of 51 bytes is cut off after 36" &&
		torn huge_length 268 "a batch of 4294967280 bytes is cut off after 51" || return
	# a packed file that is cut off: its first batch
	import 1 cut.bin.gz && records span "select($transaction) | .key[0:2]" '01 02' && grep -q "the packed data are damaged or cut off" "$tmp/said_of_import"
}

# bad FILE LOST WORDS: transactions 1 and 3 are whole, and the loss lies between them
bad() {
	import 1 "$1" && [ "$(grep -c "^txtrace: '$1', byte 92: $3; its events are left out$" "$tmp/said_of_import")" = 1 ] || fail "$1: $(cat "$tmp/said_of_import")" || return
	records span "select($transaction) | $span" '["01",100,100000,0,100000,false,false] ["03",600,100000,0,100000,false,false]' &&
		records loss '[(.first_ns | us), (.last_ns | us), .span_event_cnt]' "[200,600,$2]"
}

all_bad() {
	bad bad_type.bin 1 "a batch can't be read: event type 5 in front of byte 88 of it, where there are 2 types" &&
		bad bad_variant.bin 1 "a batch can't be read: a record of the unknown variant 4 at byte 1 of it" &&
		bad bad_left.bin 2 "a batch can't be read: behind its last record bytes are left over: 1" &&
		bad bad_minimal.bin 1 "a batch can't be read: the ULEB128 at byte 0 of it is not minimal" &&
		bad bad_count.bin 1 "a batch can't be read: the ULEB128 at byte 0 of it is above 32 bits" &&
		bad bad_short.bin 1 "a batch can't be read: it ends inside what begins at byte 87 of it" &&
		bad bad_zero.bin 1 "a batch of 0 bytes, which has not even a count" &&
		bad bad_time.bin 1 "a batch can't be read: a time beyond the year 2262 in front of byte 14 of it" &&
		bad bad_sum.bin 1 "a batch can't be read: a time beyond the year 2262 in front of byte 27 of it" &&
		bad bad_large.bin.gz 1 "a batch of 67108865 bytes is larger than the 64 MiB that are read" || return
	# the log says that something is missing, also if that was the first batch
	import 1 bad_first.bin && records span "select($transaction) | .key[0:2]" '01 02 04 03' && [ "$(grep -c '"type":"damage"' "$tmp/records")" = 1 ] || return
	import 1 timeless.bin && grep -q "^txtrace: 'timeless.bin', byte 0: records in front of any absolute time, which are left out: 2$" "$tmp/said_of_import" &&
		records span "select($transaction) | .key[0:2]" '01 02 04 03'
}

refused() {
	import 2 bincode.bin && grep -q "files of the writer's first versions, which were bincode and not BCS, begin so, and can't be read$" "$tmp/err" || return
	import 2 other.bin && grep -q "no batch in it can be read$" "$tmp/err" && [ ! -e "$tmp/log.txtrace" ] || return
	import 0 empty.bin && sound && records span . ''
}

detected() {
	local name
	for name in example two four overlap odd waits two.bin.gz set mixed bad_first bad_type; do
		[ -e "$tmp/$name" ] || name=$name.bin
		rm -f "$tmp/log.txtrace"
		(cd "$tmp" && "$txtrace" import -o log.txtrace "$name" >"$tmp/out" 2>"$tmp/err")
		[ -s "$tmp/log.txtrace" ] || fail "$name: $(cat "$tmp/err")" || return
	done
	run 2 import -o log.txtrace bincode.bin && grep -q bincode "$tmp/err" || return
	run 2 import -o log.txtrace other.bin && grep -q "the format is not recognised: give --format$" "$tmp/err"
}

sample() { # sample STATUS NAME [ARGUMENT...]
	local status=$1 name=$2 path=$samples/$2
	shift 2
	[ -e "$path" ] || path=$path.bin
	import "$status" "$@" "$path" || return
	[ "$status" = 1 ] || sound || return
	run "$status" workers --json log.txtrace && cp "$tmp/out" "$tmp/workers.json" && run "$status" report --json log.txtrace && cp "$tmp/out" "$tmp/report.json" || return
	python3 tests/cli/import_sui_check.py "$tmp" "${path%/}"
}

# What the expected file says of the place, as the import says it.
damaged_sample() { # damaged_sample NAME OFFSET
	sample 1 "$1" && grep -q "^txtrace: '.*$1.bin', byte $2: " "$tmp/said_of_import" && grep -q " at $2: " "$samples/$1.bin.expected.json"
}

of_samples() {
	local name
	for name in tiny two-variant four-variant dropped-batches threads-out-of-order odd-but-legal vector-2-variant vector-4-variant chrome-input \
		empty rotated; do
		check "sample $name" sample 0 $name
	done
	check "sample only-enqueued-scheduled" sample 0 only-enqueued-scheduled --sui-variants 4
	check "sample bad-event-type" damaged_sample bad-event-type 1165
	check "sample left-over" damaged_sample left-over 1165
	check "sample huge-length" damaged_sample huge-length 1165
	check "sample torn-batch" damaged_sample torn-batch 5825
	check "sample torn-length" damaged_sample torn-length 5825
	check "sample uleb-not-minimal" damaged_sample uleb-not-minimal 0
	check "sample bincode-era" import 2 "$samples/bincode-era.bin"
}

# Whatever the file holds, the import ends with a status of its own, and what it wrote is a log.
hostile() {
	local file status
	rm -rf "$tmp/hostile"
	python3 tests/cli/import_sui_files.py mutate "$seed" "$count" "$tmp/hostile" "$@" || return
	for file in "$tmp"/hostile/*; do
		timeout 20 "$txtrace" import -f sui -o "$tmp/hostile.txtrace" "$file" >/dev/null 2>"$tmp/err"
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
check "two event types" two_types
check "four event types" four_types
check "the commands that answer" commands
check "batches that overlap" overlaps
check "legal batches that no writer makes" odd
check "event types that can't be told apart" ambiguous
check "names that are long" long_names
check "standard input" standard_input
check "directories, and files that are missing" sets
check "torn tails" all_torn
check "bad batches between good ones" all_bad
check "files that are refused" refused
check "the format is found out" detected
check "$count changed files, seed $seed" hostile "$tmp"/two.bin "$tmp"/four.bin "$tmp"/overlap.bin "$tmp"/odd.bin "$tmp"/bad_type.bin
if [ -d "$samples" ]; then
	of_samples
	check "$count changed samples, seed $seed" hostile "$samples"/four-variant.bin "$samples"/threads-out-of-order.bin "$samples"/odd-but-legal.bin
else
	skip "samples" "there are none beside the tree"
fi
finish
