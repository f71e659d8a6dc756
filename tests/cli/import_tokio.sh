#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Tokio's telemetry as a log: made files with known answers, the samples beside the tree, and files that somebody has changed.
# TXTRACE_SAMPLES: where the samples are. TXTRACE_HOSTILE_FILES says how many of the latter: 60 as it is; TXTRACE_SEED: others.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

samples=${TXTRACE_SAMPLES:-$PWD/../shared/samples}/tokiotrc
seed=${TXTRACE_SEED:-1}
count=${TXTRACE_HOSTILE_FILES:-60}
python3 tests/cli/import_tokio_files.py make "$tmp" || exit 1

import() { # import STATUS FILE...: into log.txtrace, and its records into records
	local status=$1
	shift
	rm -f "$tmp/log.txtrace" "$tmp/records"
	run "$status" import -f tokio -o log.txtrace "$@" || return
	[ "$status" = 2 ] && return
	cp "$tmp/err" "$tmp/said_of_import"
	(cd "$tmp" && "$txtrace" export -f jsonl log.txtrace >"$tmp/records" 2>"$tmp/err") || [ "$status" = 1 ]
}

sound() {
	run 0 verify log.txtrace || fail "verify: $(cat "$tmp/out")"
}

# records TYPE JQ EXPECTED: what jq makes of the records of this type, in one line
records() {
	local found
	found=$(jq -rc "select(.type == \"$1\") | $2" "$tmp/records" | tr '\n' ' ' | sed 's/ $//')
	[ "$found" = "$3" ] || fail "$1: $found, not $3"
}

says() { # says SENTENCE...: all that the import said
	diff <(printf 'txtrace: %s\n' "$@") "$tmp/said_of_import"
}

# The worked example of the format's description.
example() {
	import 0 example.bin && sound || return
	records thread '.comm' "worker 2 worker 1 runtime" &&
		records span '[.label, .begin_ns, .end_ns, .unknown_ns, .tid]' '["poll",100000,400000,300000,3]' &&
		records run '[.tid, .begin_ns, .end_ns, .blocked_ns, .runnable_ns, .left_as, .reason]' \
			'[2,200000,200000,0,0,"blocked","poll"] [2,300000,300000,100000,0,"preempted",null]' &&
		records counter '[.name, .time_ns, .value]' \
			'["local queue",100000,0] ["local queue",200000,3] ["local queue",300000,0] ["global queue",500000,7]' &&
		says "parked times that may end with a wait for a CPU, as this format does not say: 1"
}

# Worker 0: parked from 1 to 5 ms, with a wait of 0.3 ms from version 6 on; active for 2 ms, of which 1.6 ms on a CPU from version 5 on.
story() { # story VERSION RUNS ONCPU SENTENCE...
	import 0 "story$1.bin" && sound || return
	records run 'select(.tid == 1) | [.begin_ns, .end_ns, .blocked_ns, .runnable_ns, .left_as]' "$2" || return
	records run 'select(.tid == 2) | [.begin_ns, .end_ns, .blocked_ns, .runnable_ns, .left_as]' "$3" || return
	records span '[.tid, .begin_ns, .end_ns]' '[2,2100000,2900000] [1,5100000,6600000]' || return
	shift 3
	if [ $# = 0 ]; then [ ! -s "$tmp/said_of_import" ]; else says "$@"; fi
}

story_of_4() {
	story 4 '[1000000,1000000,0,0,"blocked"] [5000000,5000000,4000000,0,"unknown"] [7000000,7000000,0,0,"blocked"]' \
		'[2000000,2000000,0,0,"unknown"] [3000000,3000000,0,0,"blocked"]' \
		"active periods without a CPU time in this format: 2" \
		"parked times that may end with a wait for a CPU, as this format does not say: 1"
}

story_of_5() {
	story 5 '[1000000,1000000,0,0,"blocked"] [5000000,5000000,4000000,0,"preempted"] [5400000,7000000,0,400000,"blocked"]' \
		'[2000000,2000000,0,0,"preempted"] [2000000,3000000,0,0,"blocked"]' \
		"parked times that may end with a wait for a CPU, as this format does not say: 1"
}

# The CPU time of worker 1 passes 2^32 µs.
story_of_6() {
	story 6 '[1000000,1000000,0,0,"blocked"] [5000000,5000000,3700000,300000,"preempted"] [5400000,7000000,0,400000,"blocked"]' \
		'[2000000,2000000,0,50000,"preempted"] [2000000,3000000,0,0,"blocked"]'
}

# later VERSION POLLS TASK
later() {
	import 0 "later$1.bin" && sound || return
	records span 'select(.keyed | not) | [.label, .tag, .begin_ns, .end_ns, .parent]' \
		'["src/a.rs:7","task=42",2000000,3000000,"1"] ["src/a.rs:7","task=42",5000000,5500000,"1"]' &&
		records stay '[.tid, .enter_ns, .exit_ns, .span]' '[1,2000000,3000000,"1"] [2,5000000,5500000,"1"]' &&
		records span 'select(.keyed) | [.label, .tag, .key_text, .begin_ns, .end_ns, .detached_ns, .unknown_ns, .lower_bound, .unfinished]' "$2"
}

# Versions 8 to 13 have no end of a task, 8 to 14 no time of its spawn.
later_versions() {
	local version open='["task","task=42,spawned=src/a.rs:7","42",1000000,6000000,3500000,1500000,true,true]' ended=5500000,3000000,1500000
	for version in 8 9 13; do
		later $version "$open" || fail "version $version" || return
	done
	later 14 "[\"task\",\"task=42,spawned=src/a.rs:7\",\"42\",1000000,$ended,true,false]" || return
	for version in 15 16 17 18; do
		later $version "[\"task\",\"task=42,spawned=src/a.rs:7\",\"42\",1000000,$ended,false,false]" || fail "version $version" || return
	done
}

# The second stream begins before the first one's end, and its poll's task ends in the poll.
trc() {
	import 0 trc_story.bin && sound || return
	records run '[.tid, .begin_ns, .end_ns, .blocked_ns, .runnable_ns, .left_as]' \
		'[1,1000000000,1000000000,0,0,"blocked"] [1,1000005000,1000005000,4700,300,"preempted"] [1,1000006000,1000010000,0,1000,"blocked"]' &&
		records span '[.label, .tag, .begin_ns, .end_ns, .keyed]' \
			'["request","span=77",1000001000,1000003000,false] ["src/b.rs:8","task=42",1000006000,1000009000,false] ["task","task=42,spawned=src/b.rs:8",1000006000,1000009000,true]' &&
		records stay '[.tid, .enter_ns, .exit_ns]' '[2,1000001000,1000002000] [1,1000006000,1000009000]' &&
		records header '[.start_monotonic_ns, .start_realtime_ns / 1e9]' '[1000000000,1000000000]' &&
		says "events of unknown kinds, left out: 1" "fields of spans, left out: 1"
}

trc_damaged() {
	import 0 trc_example.bin && says "ends of polls without a start, left out: 1" || return
	import 1 trc_cut.bin && records run .tid "1 1 1" && grep -q "'trc_cut.bin', byte [0-9]*: the frame is cut off; what follows in this file is not read$" "$tmp/said_of_import" || return
	import 1 trc_tag.bin && grep -q "byte 53: the frame has the unknown tag 99; " "$tmp/said_of_import" || fail "$(cat "$tmp/said_of_import")" || return
	import 1 trc_type.bin && grep -q "byte 53: an event of type 8, which has no schema; " "$tmp/said_of_import" || fail "$(cat "$tmp/said_of_import")" || return
	import 1 trc_again.bin && grep -q "type 0 gets a second schema; " "$tmp/said_of_import" || fail "$(cat "$tmp/said_of_import")" || return
	import 1 trc_deep.bin && grep -q "lists stand in lists more than 16 deep; " "$tmp/said_of_import" || fail "$(cat "$tmp/said_of_import")"
}

# Nobody is told to have had a CPU that a worker waited for.
unknown_cpu() {
	import 0 story6.bin && run 0 workers log.txtrace || return
	grep -q "worker 0 1 ran for 1.60 ms at +4.40 ms, in poll for 1.20 ms$" "$tmp/out" || fail "$(cat "$tmp/out")" || return
	run 0 neighbours --by thread log.txtrace || return
	[ "$(grep -c "^worker .*(unknown)  *[0-9.]* [^ ]*s  *100.0 %$" "$tmp/out")" = 2 ] || fail "$(cat "$tmp/out")"
}

# Each record counts; the period begins at the later wakeup, and the idle time at the later sleep.
twice() {
	import 0 twice.bin && sound && run 0 workers --json log.txtrace || return
	[ "$(jq -c '.threads[0].wakeups | [.sleeps, .wakeups, .wait_ns, .periods, .measured_periods, .mean_ratio]' "$tmp/out")" = "[3,2,15000,1,1,1]" ] ||
		fail "$(cat "$tmp/out")"
}

wraps() {
	import 0 wrap.bin && sound && records span '[.tid, .begin_ns, .wall_ns]' '[1,4294967280000,32000] [2,4294967328000,16000]'
}

odd() {
	import 0 odd.bin && sound &&
		records span '[.begin_ns, .end_ns, .unfinished]' '[20000,50000,true] [50000,60000,false] [80000,100000,true]' &&
		says "ends of polls without a start, left out: 1" "polls that did not end before the worker's next one, unfinished spans: 1"
}

# A directory is read in the order of the numbers, and a poll goes on in the next file.
set_of_files() {
	import 0 set && sound && records span '[.begin_ns, .end_ns]' '[100000,250000]'
}

broken_set() {
	import 1 broken_set && records span '[.begin_ns, .end_ns]' '[100000,250000]' && says \
		"'broken_set/trace.0.bin', byte 18: version 5 has no record of code 99; what follows in this file is not read" \
		"'broken_set/trace.1.bin', byte 0: TOKIOTRC version 7 was never public: its layout is unknown; the file is left out"
}

nothing() {
	import 0 header.bin && sound && records span .id ""
}

cut() {
	import 1 cut.bin && records span .wall_ns 300000 && records counter 'select(.name == "global queue")' "" &&
		grep -q "^txtrace: 'cut.bin', byte 46: the record is cut off: 5 bytes are left of it; what follows in this file is not read$" "$tmp/said_of_import"
}

unknown_code() {
	import 1 code.bin && records span .wall_ns 300000 &&
		grep -q "^txtrace: 'code.bin', byte 52: version 5 has no record of code 7; what" "$tmp/said_of_import"
}

refused() { # refused FILE REASON
	import 2 "$1" || return
	[ ! -e "$tmp/log.txtrace" ] || fail "there is a log" || return
	[ "$(cat "$tmp/err")" = "txtrace: can't import '$1': $2" ] || fail "it said: $(cat "$tmp/err")"
}

all_refused() {
	refused refused3.bin "TOKIOTRC version 3 was never this format" &&
		refused refused7.bin "TOKIOTRC version 7 was never public: its layout is unknown" &&
		refused refused10.bin "TOKIOTRC version 10 lived on a branch: its layout is ambiguous" &&
		refused refused11.bin "TOKIOTRC version 11 lived on a branch: its layout is ambiguous" &&
		refused refused12.bin "TOKIOTRC version 12 lived on a branch: its layout is ambiguous" &&
		refused refused19.bin "TOKIOTRC version 19 is not known" &&
		refused magic.bin "it is not TOKIOTRC: the first 8 bytes are TOKIOTRX" &&
		refused short_header.bin "it ends inside the header" &&
		refused empty.bin "it ends inside the header"
}

# The records, without the header, in which each import has ids of its own
all_but_ids() {
	grep -v '"capture_id"' "$tmp/records"
}

packed() {
	gzip -k "$tmp/example.bin" && zstd -q "$tmp/example.bin" -o "$tmp/example.zst" && import 0 example.bin && all_but_ids >"$tmp/plain" || return
	for file in example.bin.gz example.zst; do
		import 0 $file && all_but_ids | diff "$tmp/plain" - || return
	done
	head -c 40 "$tmp/example.bin.gz" >"$tmp/torn.gz" && import 1 torn.gz && grep -q "the packed data are damaged or cut off" "$tmp/said_of_import"
}

detected() {
	run 0 import -o other.txtrace example.bin && import 0 example.bin && run 0 dump other.txtrace && cp "$tmp/out" "$tmp/other" &&
		run 0 dump log.txtrace && cmp "$tmp/other" "$tmp/out"
}

needs_format() {
	run 2 import -o other.txtrace - && [ "$(cat "$tmp/err")" = "txtrace: the format of standard input can't be detected: give --format" ] || fail "$(cat "$tmp/err")" || return
	run 2 import -o other.txtrace records && [ "$(cat "$tmp/err")" = "txtrace: can't import 'records': the format is not recognised: give --format" ] ||
		fail "$(cat "$tmp/err")" || return
	(cd "$tmp" && "$txtrace" import -f tokio -o other.txtrace - <example.bin >/dev/null 2>&1) && run 0 dump other.txtrace && cp "$tmp/out" "$tmp/other" &&
		import 0 example.bin && run 0 dump log.txtrace && cmp "$tmp/other" "$tmp/out"
}

# Two imports are two captures: they can be merged where the format has a wall clock, and are not taken for parts of one.
captures() {
	import 0 trc_story.bin && mv "$tmp/log.txtrace" "$tmp/first.txtrace" && cp "$tmp/records" "$tmp/plain" && import 0 trc_story.bin || return
	[ "$(grep -c '"type":"span"' "$tmp/plain")" -gt 0 ] || fail "there is no span" || return
	run 2 report first.txtrace log.txtrace && grep -q "not of the same boot .* 'txtrace merge' puts such logs together" "$tmp/err" || fail "$(cat "$tmp/err")" || return
	run 0 merge -o merged.txtrace first.txtrace log.txtrace && run 0 export -f jsonl merged.txtrace || return
	[ "$(grep -c '"type":"span"' "$tmp/out")" = $((2 * $(grep -c '"type":"span"' "$tmp/plain"))) ] || fail "$(cat "$tmp/out")"
}

sample() { # sample STATUS NAME [unwrapped]
	import "$1" "$samples/$2" || return
	[ "$1" = 1 ] || sound || return
	python3 tests/cli/import_tokio_check.py "$tmp/records" "$samples/$2.expected.json" ${3:+"$3"}
}

# The figures of the commands: workers, report and spans.
figures() { # figures NAME [unwrapped]
	import 0 "$samples/$1" && run 0 workers --json --limit 0 --queue 'global queue' log.txtrace && cp "$tmp/out" "$tmp/workers.json" &&
		run 0 report --json --limit 0 --by thread log.txtrace && cp "$tmp/out" "$tmp/report.json" &&
		run 0 spans --json --limit 100000 log.txtrace && cp "$tmp/out" "$tmp/spans.json" || return
	python3 tests/cli/import_tokio_figures.py "$tmp" "$samples/$1.expected.json" ${2:+"$2"}
}

# What the expected file says of the place, as the import says it.
damaged_sample() { # damaged_sample NAME OFFSET
	sample 1 "$1" && grep -q "^txtrace: '.*$1', byte $2: " "$tmp/said_of_import" && grep -q " $2\b" "$samples/$1.expected.json"
}

refused_sample() { # refused_sample NAME WORDS
	import 2 "$samples/$1" && grep -q "$2" "$tmp/err"
}

of_samples() {
	local name
	for name in derived-v4 derived-v5 derived-v6 made-v4-idle made-v5-idle made-v6-idle vector-v4 vector-v5 vector-v5-idle header-only-v5 \
		real-v9 made-v9 real-v14 made-v18 made-trc1 real-trc1; do
		check "sample $name" sample 0 $name.bin
	done
	check "sample made-trc1, packed" sample 0 made-trc1.bin.gz
	check "sample real-trc1-streams" sample 0 real-trc1-streams.bin.gz
	check "sample cut-trc1" damaged_sample cut-trc1.bin 9712
	for name in derived-v4 derived-v5 derived-v6 made-v4-idle made-v5-idle made-v6-idle vector-v4 vector-v5 vector-v5-idle; do
		check "figures of $name" figures $name.bin
	done
	check "figures of rotated-v6" figures rotated-v6
	check "figures of rotated-v6-stopped" figures rotated-v6-stopped
	check "figures of made-v6-clock-wrap" figures made-v6-clock-wrap.bin unwrapped
	check "sample made-v6-clock-wrap" sample 0 made-v6-clock-wrap.bin unwrapped
	check "sample rotated-v6" sample 0 rotated-v6
	check "sample rotated-v6-stopped" sample 0 rotated-v6-stopped
	check "sample cut-in-record-v5" damaged_sample cut-in-record-v5.bin 9308
	check "sample unknown-code-v5" damaged_sample unknown-code-v5.bin 301
	check "sample refused-magic" refused_sample refused-magic.bin "not TOKIOTRC: the first 8 bytes are TOKIOTRX"
	check "sample refused-version-3" refused_sample refused-version-3.bin "version 3 was never this format"
	check "sample refused-version-7" refused_sample refused-version-7.bin "version 7 was never public: its layout is unknown"
	check "sample refused-version-10" refused_sample refused-version-10.bin "version 10 lived on a branch: its layout is ambiguous"
	check "sample refused-version-19" refused_sample refused-version-19.bin "version 19 is not known"
}

# Whatever the file holds, the import ends with a status of its own, and what it wrote is a log.
hostile() {
	local file status
	rm -rf "$tmp/hostile"
	python3 tests/cli/import_tokio_files.py mutate "$seed" "$count" "$tmp/hostile" "$@" || return
	for file in "$tmp"/hostile/*; do
		timeout 20 "$txtrace" import -f tokio -o "$tmp/hostile.txtrace" "$file" >/dev/null 2>"$tmp/err"
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
check "version 4: no CPU time" story_of_4
check "version 5: CPU time, and no wait for a CPU" story_of_5
check "version 6: a wait for a CPU, and a CPU clock that passes 2^32 µs" story_of_6
check "versions 8 to 18: tasks and their polls" later_versions
check "TRC: two streams, every type of field" trc
check "TRC: damaged files" trc_damaged
check "the CPU of a run is not known" unknown_cpu
check "a worker that parks and wakes twice" twice
check "a clock that passes 2^32 µs" wraps
check "polls without an end, and without a start" odd
check "a directory" set_of_files
check "a directory with damaged files" broken_set
check "no records" nothing
check "a record that is cut off" cut
check "an unknown code" unknown_code
check "versions and files that are refused" all_refused
check "packed files" packed
check "the format is found out" detected
check "a format that is not found out has to be given" needs_format
check "two imports are two captures" captures
check "$count changed files, seed $seed" hostile "$tmp"/story6.bin "$tmp"/odd.bin "$tmp"/wrap.bin "$tmp"/later18.bin "$tmp"/later9.bin "$tmp"/trc_story.bin "$tmp"/trc_deep.bin
if [ -d "$samples" ]; then
	of_samples
	check "$count changed samples, seed $seed" hostile "$samples"/made-v18.bin "$samples"/made-trc1.bin "$samples"/unknown-code-v5.bin
else
	skip "samples" "there are none beside the tree"
fi
finish
