#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# takes long: some seconds of a CPU
# Sui's transaction trace as an export: what was imported comes back byte for byte, keyed spans become transactions, and what has no room is told.
# TXTRACE_SAMPLES: where the samples are.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

samples=${TXTRACE_SAMPLES:-$PWD/../shared/samples}/sui
python3 tests/cli/import_sui_files.py make "$tmp" || exit 1

# round_trip FORMAT FILE ARGUMENT...: also that nothing is said
round_trip() {
	local format=$1 file=$2
	shift 2
	run 0 import -f sui "$@" -o log.txtrace "$file" && run 0 export -f "$format" -o again.bin log.txtrace || return
	[ ! -s "$tmp/err" ] || fail "$(cat "$tmp/err")" || return
	(cd "$tmp" && if [ -d "$file" ]; then find "$file/" -name '*.bin' | sort -V | xargs cat; else cat "$file"; fi | cmp - again.bin)
}

says() { # says SENTENCE...: all that the export said
	diff <(printf 'txtrace: %s\n' "$@") "$tmp/err"
}

hex() { # hex FILE
	od -An -v -tx1 "$1" | tr -d ' \n'
}

digest() { # digest BYTE: as a key, and as hex without blanks
	printf "$1%.0s" {1..32}
}

# spans FILE: the transactions that a file has, as begin, waiting, executing and end, in ns
spans() {
	run 0 import -f sui --sui-variants "$2" -o again.txtrace "$1" && run 0 verify again.txtrace && run 0 export -f jsonl again.txtrace || return
	sed 's/_ns":\([0-9]\{17,\}\)/_ns":"\1"/g' "$tmp/out" |
		jq -rc 'select(.type == "span" and .label == "transaction") | [.key[0:2], .begin_ns[10:], .detached_ns, .unknown_ns, .unfinished, .lower_bound]' |
		sort | tr '\n' ' ' | sed 's/ $//'
}

# Keyed spans of a program: ns that are cut, two threads, one that nobody entered, one that stays open; and what is no transaction.
make_native() {
	"$make_log" "$tmp/native.txtrace" <<-TEXT || return
		header pid=7 start_monotonic_ns=1000 start_realtime_ns=1700000000000001000
		thread time_ns=1000 pid=7 tid=8 comm="one" seed=1
		thread time_ns=1000 pid=7 tid=9 comm="two" seed=1
		instant time_ns=150000 pid=7 tid=8 span=1 name="scheduled"
		instant time_ns=160000 pid=7 tid=8 span=1 name="retry"
		stay enter_ns=200900 exit_ns=300000 span=1 span_pid=7 pid=7 tid=8 keyed=1
		stay enter_ns=250000 exit_ns=400999 span=1 span_pid=7 pid=7 tid=9 keyed=1
		span begin_ns=100500 end_ns=400999 pid=7 tid=8 end_tid=9 id=1 flags=keyed,root,moved label="tx" key="$(digest '\\x11')" work_ns=350499 unknown_ns=250099 detached_ns=100400
		span begin_ns=300000 end_ns=500000 pid=7 tid=8 end_tid=8 id=2 flags=keyed,root label="tx" key="$(digest '\\x22')" work_ns=200000 on_cpu_ns=150000 detached_ns=50000
		span begin_ns=310000 end_ns=510000 pid=7 tid=8 end_tid=8 id=3 flags=keyed,root label="tx" key="$(digest '\\x33')" work_ns=200000 detached_ns=200000
		span begin_ns=320000 end_ns=520000 pid=7 tid=8 end_tid=8 id=4 flags=keyed,root label="tx" key="short" work_ns=200000 unknown_ns=200000
		span begin_ns=330000 end_ns=530000 pid=7 tid=8 end_tid=8 id=5 flags=root label="tx" work_ns=200000 unknown_ns=200000
		counter time_ns=540000 pid=7 tid=8 name="queue" value=3
		loss first_ns=540000 last_ns=550000 span_event_cnt=2
		span begin_ns=80000000 end_ns=90000000 pid=7 tid=8 end_tid=8 id=7 flags=keyed,root label="tx" key="$(digest '\\x77')" tag="a=b" work_ns=10000000 unknown_ns=10000000
		span begin_ns=400000 end_ns=90000000 pid=7 tid=8 end_tid=0 id=6 flags=keyed,root,unfinished,lower_bound label="tx" key="$(digest '\\x66')" work_ns=89600000 unknown_ns=89600000
		summary time_ns=90000000
	TEXT
	run 0 verify native.txtrace || fail "$(cat "$tmp/out")"
}

# Enqueued at 100.5, scheduled at 150, begun at 200.9, complete at 400.999 µs: the first time is exact, all others are cut to µs behind it.
native() {
	make_native && run 0 export -f sui -o native.bin native.txtrace || return
	says "times cut to whole µs: 10" "keyed spans whose key has not the 32 bytes of a digest, left out: 1" "spans without a key, left out: 1" \
		"transactions that no thread entered, which have no begin: 1" "transactions without an end: 1" \
		"labels, tags, attributes and parents of transactions, and names of threads, left out: 8" "values of counters, left out: 1" \
		"instants, links, runs, wakeups, stacks and other records without a place, left out: 1" \
		"records of losses and damage, left out: readers of the file can't know of them: 1" || return
	local found
	found=$(spans native.bin 4)
	[ "$found" = '["11","000100500",100000,200000,false,false] ["22","000299500",50000,150000,false,false] ["33","000309500",0,200000,false,true] ["66","000399500",0,89600500,true,true] ["77","080000000",0,10000000,false,false]' ] ||
		fail "$found"
}

# Files with two event types have neither enqueued nor scheduled.
native_two() {
	make_native && run 0 export -f sui2 -o native.bin native.txtrace &&
		grep -q "^txtrace: events before the begin of an execution, which files with two event types can't tell: 6$" "$tmp/err" || fail "$(cat "$tmp/err")" || return
	local found
	found=$(spans native.bin 2)
	[ "$found" = '["11","000200900",0,200000,false,false] ["22","000349900",0,150000,false,false] ["33","000509900",0,0,false,true] ["66","000399900",0,89600100,true,true] ["77","080000000",0,10000000,false,false]' ] ||
		fail "$found"
}

# The bytes: one batch, its times as the writer tells them.
bytes() {
	"$make_log" "$tmp/bytes.txtrace" <<-TEXT || return
		header pid=7 start_monotonic_ns=0 start_realtime_ns=1700000000000000000
		span begin_ns=123456789 end_ns=223456789 pid=7 tid=8 end_tid=8 id=1 flags=keyed,root label="tx" key="$(digest '\\x11')" work_ns=100000000 unknown_ns=100000000
		summary time_ns=223456789
	TEXT
	run 0 export -o out.suitrace2 bytes.txtrace || return
	[ "$(hex "$tmp/out.suitrace2")" = "620000000500""00f153650000000015cd5b07""010000""03$(digest 11)00""02000000000000000000e1f505""03$(digest 11)01" ] || fail "$(hex "$tmp/out.suitrace2")"
}

# A batch has at most 10,000 records, and 15 s between its first event and the next one's.
limits() {
	{
		echo "header pid=7 start_monotonic_ns=0 start_realtime_ns=1700000000000000000"
		python3 -c '
for number in range(1, 2001):
	print(f"""span begin_ns={number}000 end_ns={number}001 pid=7 tid=8 end_tid=8 id={number} flags=keyed,root label="tx" key="{number:032}" work_ns=1 unknown_ns=1""")
for number in (3000, 6000):
	print(f"""span begin_ns={number}0000000 end_ns={number}0000001 pid=7 tid=8 end_tid=8 id={number} flags=keyed,root label="tx" key="{number:032}" work_ns=1 unknown_ns=1""")
'
		echo "summary time_ns=60000000001"
	} | "$make_log" "$tmp/limits.txtrace" || return
	run 0 export -f sui -o limits.bin limits.txtrace || return
	[ "$(python3 tests/cli/export_sui_check.py "$tmp/limits.bin")" = "9999 2003 7 7" ] || fail "$(python3 tests/cli/export_sui_check.py "$tmp/limits.bin")"
}

# directory_comes_back FORMAT DIRECTORY
directory_comes_back() {
	rm -rf "$tmp/files"
	run 0 import -f sui -o log.txtrace "$2" && run 0 export -f "$1" -o files log.txtrace && ! grep -v "losses and damage" "$tmp/err" || fail "$(cat "$tmp/err")" || return
	(cd "$tmp" && diff -r -x '*.txt' "$2" files)
}

# A native log becomes one file; of more than 100 MiB there are several, and a file goes beyond that by its last batch.
makes_files() {
	rm -rf "$tmp/files"
	run 0 export -o files.suitraces native.txtrace && run 0 export -f sui -o one.bin native.txtrace && [ "$(ls "$tmp/files.suitraces")" = tx-trace-0.bin ] &&
		cmp "$tmp/one.bin" "$tmp/files.suitraces/tx-trace-0.bin" || return
	python3 tests/cli/import_sui_files.py large 3000000 "$tmp/large.bin" && run 0 import -f sui -o large.txtrace large.bin && run 0 export -f sui-files -o files large.txtrace || return
	cat "$tmp"/files/tx-trace-{0,1}.bin | cmp - "$tmp/large.bin" && [ "$(find "$tmp/files" -type f | wc -l)" = 2 ] || fail "$(ls -l "$tmp/files")" || return
	python3 - "$tmp"/files/tx-trace-0.bin <<-'PY'
		import os, struct, sys
		for path in sys.argv[1:]:
		    data, at, last = open(path, "rb").read(), 0, 0
		    while at < len(data):
		        last, at = at, at + 4 + struct.unpack_from("<I", data, at)[0]
		    assert last < 100 << 20 <= len(data), (last, len(data))
	PY
}

# Four event types as two, and two as four.
other_types() {
	run 0 import -o log.txtrace four.bin && run 0 export -f sui2 -o two_types.bin log.txtrace &&
		says "events before the begin of an execution, which files with two event types can't tell: 7" || fail "$(cat "$tmp/err")" || return
	[ "$(spans two_types.bin 2)" = '["01","000030000",0,100000,false,false] ["04","000220000",0,100000,false,false] ["05","000400000",0,50000,false,false] ["05","000500000",0,70000,false,false]' ] ||
		fail "$(spans two_types.bin 2)" || return
	run 0 import -o log.txtrace two.bin && run 0 export -f sui -o four_types.bin log.txtrace && [ ! -s "$tmp/err" ] || return
	run 0 import -o log.txtrace four_types.bin && [ "$(grep -c types "$tmp/err")" = 0 ] && run 0 export -f sui2 -o again.bin log.txtrace && cmp "$tmp/two.bin" "$tmp/again.bin"
}

# Two imports that were merged: all transactions come, in batches that need not be the old ones.
merged() {
	run 0 import -o first.txtrace two.bin && run 0 import -o second.txtrace apart.bin && run 0 merge -o merged.txtrace first.txtrace second.txtrace &&
		run 0 export -f sui2 -o merged.bin merged.txtrace || fail "$(cat "$tmp/err")" || return
	local found
	found=$(spans merged.bin 2)
	[ "$found" = '["01","000100000",0,500000,false,false] ["02","000200000",0,70500000,false,false] ["03","000700000",0,70100000,true,true] ["04","070800000",0,0,false,true] ["09","000010000",0,890000,false,false]' ] ||
		fail "$found"
}

any_log() {
	make_from sound && run 0 export -f sui -o out.bin sound.txtrace && grep -q "^txtrace: spans without a key, left out: [0-9]*$" "$tmp/err" || fail "$(cat "$tmp/err")" || return
	# a batch of one absolute time, as of a writer that saw no event
	[ "$(hex "$tmp/out.bin")" = "0e000000""01""00$(python3 -c 'print((1763725200).to_bytes(8, "little").hex())')00000000" ] || fail "$(hex "$tmp/out.bin")"
}

check "the example comes back" round_trip sui2 example.bin
check "two event types come back" round_trip sui2 two.bin
check "four event types come back" round_trip sui four.bin
check "batches that overlap come back" round_trip sui2 overlap.bin
check "legal batches that no writer makes come back" round_trip sui2 odd.bin
check "enqueued and scheduled alone come back" round_trip sui waits.bin --sui-variants 4
check "a file without batches comes back" round_trip sui empty.bin
check "a directory comes back as one file" round_trip sui mixed
for name in set gap; do check "a directory comes back as its files: $name" directory_comes_back sui2-files $name; done
check "a directory comes back as its files: mixed" directory_comes_back sui-files mixed
check "the other event types" other_types
check "keyed spans of a program" native
check "keyed spans, with two event types" native_two
check "a directory of files is made" makes_files
check "the bytes of a batch" bytes
check "the limits of a batch" limits
check "imports that were merged" merged
check "a log of another program" any_log
if [ -d "$samples" ]; then
	for name in tiny:sui2 two-variant:sui2 four-variant:sui dropped-batches:sui threads-out-of-order:sui2 odd-but-legal:sui2 vector-2-variant:sui2 \
		vector-4-variant:sui chrome-input:sui2 empty:sui; do
		check "sample ${name%:*} comes back" round_trip "${name#*:}" "$samples/${name%:*}.bin"
	done
	check "sample rotated comes back" round_trip sui "$samples/rotated"
	check "sample rotated comes back as its files" directory_comes_back sui-files "$samples/rotated"
	check "sample only-enqueued-scheduled comes back" round_trip sui "$samples/only-enqueued-scheduled.bin" --sui-variants 4
else
	skip "samples" "there are none beside the tree"
fi
finish
