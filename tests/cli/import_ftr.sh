#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# takes long: some seconds of a CPU
# FTR as a log and back: made files with known answers, the samples beside the tree, and files that somebody has changed.
# TXTRACE_SAMPLES: where the samples are. TXTRACE_HOSTILE_FILES says how many of the latter: 10 as it is; TXTRACE_SEED: others.
# shellcheck source=tests/cli/import.sh
. tests/cli/import.sh || exit

samples=${TXTRACE_SAMPLES:-$PWD/../shared/samples}/ftr
seed=${TXTRACE_SEED:-1}
count=${TXTRACE_HOSTILE_FILES:-10}
python3 tests/cli/ftr_files.py make "$tmp" || exit 1
# Debian's packages are those of Debian's python3
check_python=
for python in python3 /usr/bin/python3; do
	"$python" -c 'import cbor2, lz4.block' 2>/dev/null && check_python=$python && break
done

said() { # said SENTENCE...: all that the import said
	diff <(printf 'txtrace: %s\n' "$@") "$tmp/said_of_import"
}

place() { # place NAME: of a chunk in the made files
	sed -n "s/^$1 //p" "$tmp/offsets"
}

span='[.id, .tid, .label, .parent, .begin_ns, .end_ns, .unknown_ns]'
spans='["10",2,"read","0",1,5,4] ["11",2,"read","0",2,6,4] ["2305843009213693952",2,"read","0",7,7,0] ["21",3,"work","10",3,9,6] ["9223372036854775808",3,"work","0",9,9,0]'
attribute='select(.name != "track") | [.span, .name, .value_type, .value]'

whole() {
	import 0 "$1" && run 0 verify log.txtrace || return
	records span "$span" "$spans" &&
		records thread '[.tid, .comm]' '[1,"ftr"] [2,"bus"] [3,"worker"]' &&
		records attribute "$attribute" '["10","addr","uint",4096] ["10","took","double",4.001] ["11","ftr.ps","uint",500000] ["11","ratio","double",0.1] ["11","ratio","double",0.5] ["21","addr","int",-7] ["21","addr","uint",1099511627776] ["21","parsed","bool",true] ["9223372036854775808","ftr.ps","uint",500] ["9223372036854775808","parsed","string","parsed"] ["9223372036854775808","parsed","pointer","0x40"]' &&
		records link '[.from, .to, .name]' '["21","20","work.events"] ["10","11","next"] ["21","9223372036854775808","next"]' &&
		records instant 'select(.span != "0") | [.time_ns, .span, .name]' '[4,"21","parsed"]' &&
		records header '[.start_monotonic_ns, .start_realtime_ns / 1000000000]' '[0,1700000000]' &&
		said "transactions of no length, which may have been open when the recording ended: 1"
}

# Streams that are no threads are tracks; all of the time is unknown.
tracks() {
	import 0 whole.ftr && run 0 report --json --by track log.txtrace || return
	[ "$(jq -c '[.rows[] | .count] | add' "$tmp/out")" = 5 ] && grep -q '"bus"' "$tmp/out" || fail "$(cat "$tmp/out")"
}

odd() {
	import 0 odd.ftr && records span '.id' '10 11 2305843009213693952 21' || return
	records header '.start_realtime_ns / 1000000000' 1700000001 || return
	grep -q "^txtrace: further chunks of info, of which the last one counts: 1$" "$tmp/said_of_import" || fail "$(cat "$tmp/said_of_import")" || return
	import 0 values.ftr && records span "$span" '["30",2,"read","0",9,9,0]' || return
	records attribute "$attribute" '["30","addr","bool",true] ["30","x","string",""] ["30","ratio","double",1.5] ["30","ratio","double",-3]' || return
	said "transactions of no length, which may have been open when the recording ended: 1" \
		"transactions that end before they begin, which get no length: 1" "parts of transactions that are no attributes, left out: 1" \
		"attributes of unknown types, left out: 1" "attributes whose value is not of their type, left out: 1" \
		"texts that the dictionary does not have, unknown: 1"
}

more() {
	import 0 exact.ftr && records attribute "$attribute" '["1","x","double",0.1] ["1","x","double",0.10000000149011612] ["1","x.exact","string","7"]' || return
	import 0 femto.ftr && grep -q "the times are taken for ps, .*; the file says 10^-15 s" "$tmp/said_of_import" &&
		records attribute 'select(.name == "took") | .value' 0.004001 || return
	import 0 no_info.ftr && records header .start_realtime_ns 0 || return
	import 0 undeclared.ftr && records thread .comm 'ftr stream 77' && records span "$span" '["1",2,"","0",0,1,1]' || return
	import 0 losses.ftr && records loss '[.first_ns, .last_ns, .cpu, .span_event_cnt, .sched_event_cnt, .pid, .tid]' '[1,9,3,5,7,11,13]' && records span . '' || return
	import 0 empty.ftr && records span . '' && import 0 after.ftr && records span "$span" "$spans" || return
	import 2 whole.ftr after.ftr && grep -q "import one at a time" "$tmp/err"
}

# damaged NAME PLACE SPANS LOSSES WORDS
damaged() {
	import 1 "$1.ftr" && records span .id "$3" && records loss '[.first_ns, .last_ns, .span_event_cnt]' "$4" || return
	[ "$(grep -c "^txtrace: '$1.ftr', byte $(place "$2"): $5$" "$tmp/said_of_import")" = 1 ] || fail "$1: $(cat "$tmp/said_of_import")" || return
	[ "$(grep -c '"type":"damage"' "$tmp/records")" -ge 1 ]
}

all_damaged() {
	local all='10 11 2305843009213693952 21 9223372036854775808' first='10 11 2305843009213693952' rest='what follows in this file is not read'
	damaged bad_lz4 third "$all" '[2,8,1]' "a chunk of transactions is left out: its LZ4 data are damaged: they are not 50 bytes" &&
		damaged bad_block third '10 21 9223372036854775808' '[2,8,1]' "in a chunk of transactions, byte 28 of its contents can't be read; what follows in the chunk is left out" &&
		damaged bad_tag third "$all" '' "a chunk of unknown contents is left out: a chunk has the unknown tag 40" &&
		damaged bad_shape third "$all" '[0,0,1]' "a chunk of transactions is left out: it is not made as such a chunk is" &&
		damaged bad_item fourth "$first" '' "this is no CBOR; $rest" &&
		damaged no_chunk fourth "$first" '' "there is something else than a chunk; $rest" &&
		damaged cut fourth "$first" '[3,9,1]' "a chunk is cut off; $rest" &&
		damaged huge fourth "$first" '[3,9,1]' "a chunk is cut off; $rest" &&
		damaged overflow fourth "$first" '' "a chunk is cut off; $rest" &&
		damaged deep fourth "$first" '' "this is no CBOR; $rest" || return
	import 2 other.ftr && grep -q "the format is not recognised" "$tmp/err" || return
	import 2 -f ftr other.ftr && grep -q "it does not begin with CBOR's tag 55799 and an array" "$tmp/err"
}

ftr() { # ftr COMMAND FILE...: what python3-cbor2 and python3-lz4 read
	(cd "$tmp" && "$check_python" "$OLDPWD/tests/cli/ftr_check.py" "$@") >"$tmp/differences" || fail "$*: $(head -n 3 "$tmp/differences")"
}

# Every file comes back, in single precision with the exact values, in double precision, and compressed; the text format says the same.
round_trip() { # round_trip FILE
	local checks format
	import 0 "$1" || return
	checks=(log "$1" records -- safe ftr -- text "$1" ftr-text)
	for format in ftr ftr-double ftr-lz4 ftr-text; do
		run 0 export -f $format -o $format log.txtrace || return
		[ $format = ftr-text ] || checks+=(-- same "$1" "$format")
	done
	[ ! -e "${1%.ftr}.expected.json" ] || checks+=(-- expected ftr "$1")
	[ ! -e "${1%.ftr}.lwtrt" ] || checks+=(-- own_text "$1" "${1%.ftr}.lwtrt")
	ftr "${checks[@]}"
}

# What is cut off costs the one chunk.
cut_sample() {
	import 1 "$samples/cut_in_chunk.ftr" && grep -q "byte 6801: a chunk is cut off" "$tmp/said_of_import" || fail "$(cat "$tmp/said_of_import")" || return
	[ "$(grep -c '"type":"span"' "$tmp/records")" = "$(jq .transactions "$samples/cut_in_chunk.expected.json")" ] || return
	records loss .span_event_cnt 1
}

# A log of a program: names of two types, a tag, a key, losses, states of threads, an unfinished span, a parent, an instant, links.
native() {
	"$make_log" "$tmp/native.txtrace" <<-TEXT || return
		header pid=7 start_monotonic_ns=1000 start_realtime_ns=1700000000000001000
		thread time_ns=1000 pid=7 tid=8 comm="one" seed=1
		run begin_ns=1200 end_ns=1500 pid=7 tid=8 cpu=3 left_as=blocked reason=lock
		wake time_ns=1700 pid=7 tid=8 waker_pid=7 waker_tid=9 waker_comm="two" cpu=1
		run begin_ns=1900 end_ns=2600 pid=7 tid=8 cpu=3 blocked_ns=200 runnable_ns=200 left_as=preempted
		attribute time_ns=2000 pid=7 tid=8 span=2 name="n" value_type=uint value=5
		attribute time_ns=2000 pid=7 tid=8 span=2 name="n" value_type=string value="x"
		instant time_ns=2100 pid=7 tid=8 span=2 name="retry"
		link time_ns=2200 pid=7 tid=8 from=2 to=1 name="after"
		attribute time_ns=2300 pid=7 tid=8 span=1 name="track" value_type=string value="lane"
		span begin_ns=1500 end_ns=2500 pid=7 tid=8 end_tid=8 id=2 parent=1 label="child" tag="a=b" work_ns=1000 on_cpu_ns=600 lock_ns=200 runnable_ns=200
		loss first_ns=2500 last_ns=2600 cpu=2 span_event_cnt=4
		counter time_ns=2600 pid=7 tid=8 name="queue" value=-3
		instant time_ns=2650 pid=7 tid=8 name="lone"
		span begin_ns=500 end_ns=2700 pid=7 tid=8 end_tid=0 id=1 flags=root,unfinished,lower_bound label="parent" work_ns=2200 unknown_ns=2200
		summary time_ns=2700
	TEXT
	run 0 export -f ftr -o native.ftr native.txtrace || fail "$(cat "$tmp/err")" || return
	diff "$tmp/err" - <<-TEXT || return
		txtrace: times before the start of the log, which become its start: 1
		txtrace: attributes renamed, since their name had another type before: 1
		txtrace: wakers of threads, written as attributes without a relation: 1
	TEXT
	ftr safe native.ftr native || return
	import 0 native.ftr || return
	records span '[.label, .parent != "0", .begin_ns, .end_ns]' \
		'["running",false,200,500] ["woken",false,700,700] ["blocked: lock",false,500,700] ["runnable",false,700,900] ["child",true,500,1500] ["running",false,900,1600] ["queue",false,1600,1600] ["instant",false,1650,1650] ["parent",false,0,1700]' || return
	records loss '[.first_ns, .last_ns, .cpu, .span_event_cnt]' '[1500,1600,2,4]' || return
	records attribute 'select(.name != "track") | [.name, .value]' \
		'["on_cpu",3] ["waker","two"] ["waker_tid",9] ["tag","a=b"] ["n",5] ["n.string","x"] ["cpu_ns",600] ["runnable_ns",200] ["blocked.lock_ns",200] ["on_cpu",3] ["value",-3] ["name","lone"] ["lower_bound",true] ["unfinished",true]' || return
	records instant 'select(.span != "0") | .name' retry && records link '.name' 'child.events after'
}

# The bytes of the sheet's example but for the name of the file's kind: info, dictionary, directory, blocks, relations, each a chunk of its own.
text() {
	import 0 texts.ftr && run 0 export -f ftr -o texts.out.ftr log.txtrace || return
	[ "$(cat "$tmp/err")" = "txtrace: texts with characters that the format does not allow, which are replaced: 1" ] || fail "$(cat "$tmp/err")" || return
	run 0 export -f ftr-text -o texts.txlog log.txtrace || return
	diff "$tmp/texts.txlog" - <<-TEXT
		scv_tr_stream (ID 1, name "not_�_UTF-8", kind "a 'quote'␊")
		scv_tr_generator (ID 2, name "two_words", scv_tr_stream 1,
		)
		tx_begin 1 2 0 s
		tx_record_attribute 1 "a_'quote'␊" STRING = "a 'quote'␊"
		tx_end 1 2 1 ps
	TEXT
}

# Whatever the file holds, the import ends with a status of its own, and what it wrote is a log that can be exported.
hostile() {
	local file status
	rm -rf "$tmp/hostile"
	python3 tests/cli/ftr_files.py mutate "$seed" "$count" "$tmp/hostile" "$@" || return
	for file in "$tmp"/hostile/*; do
		timeout 20 "$txtrace" import -f ftr -o "$tmp/hostile.txtrace" "$file" >/dev/null 2>"$tmp/err"
		status=$?
		case $status in
		0 | 1) ;;
		2) continue ;;
		*) fail "$(basename "$file") of seed $seed: status $status: $(head -n 5 "$tmp/err")" || return ;;
		esac
		"$txtrace" verify "$tmp/hostile.txtrace" >"$tmp/out" 2>&1
		[ $? = $status ] || fail "$(basename "$file") of seed $seed: $(cat "$tmp/out")" || return
		"$txtrace" export -f ftr -o "$tmp/hostile.out" "$tmp/hostile.txtrace" >/dev/null 2>"$tmp/err"
		[ $? = $status ] || fail "$(basename "$file") of seed $seed: export: $(cat "$tmp/err")" || return
	done
}

# Transactions that take 76 MB, as they are sorted: more than 64 MiB go to a file.
large() {
	[[ $BUILD != *sanitize* ]] || return 0 # a sanitizer takes time and memory of its own
	python3 tests/cli/ftr_files.py large 500000 "$tmp/large.ftr" || return
	python3 - "$txtrace" "$tmp" <<-'PY' || return
		import resource, subprocess, sys
		subprocess.run([sys.argv[1], "import", "-o", sys.argv[2] + "/log.txtrace", sys.argv[2] + "/large.ftr"], check=True, capture_output=True)
		taken = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
		sys.exit(f"{taken} KiB" if taken > 110000 else 0)
	PY
	run 0 verify log.txtrace && run 0 report --json log.txtrace || fail "$(cat "$tmp/out")" || return # that includes the order
	[ "$(jq -c '[.labels[] | [.label, .count]] | sort' "$tmp/out")" = '[["read",250000],["work",250000]]' ] || fail "$(cat "$tmp/out")"
}

check "a recording" whole whole.ftr
check "the same, compressed" whole packed.ftr
check "streams are tracks" tracks
check "what no writer makes" odd
check "more that is read" more
check "damaged files" all_damaged
check "texts that the formats do not allow" text
check "transactions that do not fit into memory" large
check "$count changed files, seed $seed" hostile "$tmp"/{whole,packed,odd,values,bad_block}.ftr
if [ -n "$check_python" ]; then
	check "a log of a program" native
	for name in whole packed no_info; do
		check "$name comes back" round_trip $name.ftr
	done
else
	skip "files come back" "there is no python3-cbor2 or python3-lz4"
fi
if [ -d "$samples" ] && [ -n "$check_python" ]; then
	for name in tiny real_my_db real_my_db_c server_plain server_lz4 server_doubles_plain direct_f32_plain direct_f32_lz4 direct_f64_plain no_final_break \
		after_the_end direct_blocks_plain direct_blocks_lz4; do
		check "sample $name comes back" round_trip "$samples/$name.ftr"
	done
	check "sample cut_in_chunk" cut_sample
	check "sample refused_magic" import 2 -f ftr "$samples/refused_magic.ftr"
	check "$count changed samples, seed $seed" hostile "$samples"/{real_my_db,real_my_db_c,server_lz4,direct_f32_plain}.ftr
else
	skip "samples" "there are none beside the tree, or no python3-cbor2"
fi
finish
