#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The report by other keys than the label.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

# tests/cli/logs/blocks.txt, in ns: disk 5,000 + 1,000; lock 6,000 + 4,000; unknown 700 (nothing before it) + 300 (a stay is missing). The sleep has
# not ended. Spans without a parent were charged 5,000 for the disk and 10,000 for locks; the child and the lower bound do not count.
make_from blocks

# Every row of every key, on random logs, against Python.
random_reports() {
	local seed by
	for seed in 11 12; do
		python3 tests/cli/analyses_check.py random $seed "$tmp/truth.json" >"$tmp/random.txt" || return
		"$make_log" "$tmp/random.txtrace" <"$tmp/random.txt" && run 0 export -f jsonl random.txtrace && mv "$tmp/out" "$tmp/random.jsonl" || return
		for by in thread process track key tag:shard tag:kind reason; do
			run 0 report --by $by --json random.txtrace || return
			python3 tests/cli/analyses_check.py report "$tmp/random.jsonl" "$tmp/out" $by || fail "seed $seed by $by" || return
		done
	done
}

names() { # names KEY: those of the rows, with their numbers of spans
	run 0 report --by "$1" --json blocks.txtrace && jq -c '[.rows[] | [.name, .count]]' "$tmp/out"
}

keys() {
	[ "$(names key:4)" = '[["616200ff",2],["61",1],[null,0]]' ] || fail "$(names key:4)" || return
	[ "$(names key)" = '[["616200ff32",1],["616200ff31",1],["61",1],[null,0]]' ] || fail "$(names key)"
}

# The last shard of a tag counts; "shard" without a value, an empty value and another name are none.
tags() {
	[ "$(names tag:shard)" = '[["2",2],[null,1]]' ] || fail "$(names tag:shard)" || return
	[ "$(names tag:kind)" = '[[null,2],["write",1]]' ] || fail "$(names tag:kind)"
}

# The last name before the end counts: 1 and 4 are on "lane", 2 got an empty one, which takes it back, 3 (of another process) has none, and what is said to
# the keyed span 1 or after the end is not for them. A number is no name.
tracks() {
	"$make_log" "$tmp/tracks.txtrace" <<-'END' || return
		thread time_ns=1 pid=10 tid=11 comm="worker" seed=1
		attribute time_ns=2 pid=10 tid=11 span=1 name="track" value_type=string value="first"
		attribute time_ns=3 pid=10 tid=11 span=1 name="track" value_type=string value="lane"
		attribute time_ns=3 pid=10 tid=11 span=1 name="track" value_type=uint value=7
		attribute time_ns=3 pid=10 tid=11 span=1 name="tracks" value_type=string value="no"
		attribute time_ns=3 pid=10 tid=11 span=2 name="track" value_type=string value="lane"
		attribute time_ns=4 pid=10 tid=11 span=2 name="track" value_type=string value=""
		span begin_ns=1 end_ns=10 pid=10 tid=11 end_tid=11 id=1 label="k" key="a" flags=keyed work_ns=9 on_cpu_ns=9
		span begin_ns=1 end_ns=11 pid=10 tid=11 end_tid=11 id=1 label="a" work_ns=10 on_cpu_ns=10
		span begin_ns=1 end_ns=21 pid=10 tid=11 end_tid=11 id=2 label="b" work_ns=20 on_cpu_ns=20
		attribute time_ns=25 pid=10 tid=11 span=2 name="track" value_type=string value="late"
		span begin_ns=1 end_ns=31 pid=20 tid=21 end_tid=21 id=2 label="c" work_ns=30 on_cpu_ns=30
		attribute time_ns=32 pid=20 tid=21 span=4 name="track" value_type=string value="lane"
		span begin_ns=1 end_ns=41 pid=20 tid=21 end_tid=21 id=4 label="d" work_ns=40 on_cpu_ns=40
		summary time_ns=50
	END
	run 0 report --by track --json tracks.txtrace || return
	[ "$(jq -c '[.rows[] | [.name, .count, .wall_ns.sum]]' "$tmp/out")" = '[["lane",2,50],["21",1,30],["worker 11",2,29]]' ] ||
		fail "$(jq -c '[.rows[] | [.name, .count, .wall_ns.sum]]' "$tmp/out")"
}

# A process that ends stays where it was. A later record without a container means that it has left: 30 does, at 32.
containers() {
	local first second
	first=$(printf '1%.0s' {1..64}) second=$(printf '2%.0s' {1..64})
	"$make_log" "$tmp/containers.txtrace" <<-END || return
		header pid=10 capture_id="one" boot_id="b" start_monotonic_ns=1
		process time_ns=1 pid=10 start_ns=1 seed=1 comm="a" container="$first" pod="12345678-9abc-def0-1234-56789abcdef0"
		process time_ns=1 pid=20 start_ns=1 seed=1 comm="b" container="$first" pod="12345678-9abc-def0-1234-56789abcdef0"
		process time_ns=1 pid=30 start_ns=1 seed=1 comm="c" container="$second"
		process time_ns=1 pid=40 start_ns=1 seed=1 comm="d"
		span begin_ns=1 end_ns=11 pid=10 tid=10 end_tid=10 id=1 label="q" work_ns=10 on_cpu_ns=10
		process time_ns=12 pid=20 start_ns=1 exit=1 comm="b"
		span begin_ns=1 end_ns=21 pid=20 tid=20 end_tid=20 id=1 label="q" work_ns=20 on_cpu_ns=20
		span begin_ns=1 end_ns=31 pid=30 tid=30 end_tid=30 id=1 label="q" work_ns=30 on_cpu_ns=30
		process time_ns=32 pid=30 start_ns=1 comm="c"
		span begin_ns=1 end_ns=41 pid=30 tid=30 end_tid=30 id=2 label="q" work_ns=40 on_cpu_ns=40
		span begin_ns=1 end_ns=51 pid=40 tid=40 end_tid=40 id=1 label="q" work_ns=50 on_cpu_ns=50
		span begin_ns=1 end_ns=61 pid=50 tid=50 end_tid=50 id=1 label="q" work_ns=60 on_cpu_ns=60
		summary time_ns=70
	END
	run 0 report --by container --json containers.txtrace || return
	[ "$(jq -c '[.rows[] | [.name, .count, .wall_ns.sum]]' "$tmp/out")" = "[[null,3,150],[\"$first\",2,30],[\"$second\",1,30]]" ] ||
		fail "$(jq -c '[.rows[] | [.name, .count, .wall_ns.sum]]' "$tmp/out")" || return
	run 0 report --by container containers.txtrace && grep -q '^111111111111 ' "$tmp/out" && grep -q '^(no container) ' "$tmp/out" && ! grep -q "$first" "$tmp/out" || fail "$(cat "$tmp/out")" || return
	run 0 report --by pod --json containers.txtrace || return
	[ "$(jq -c '[.rows[] | [.name, .count, .wall_ns.sum]]' "$tmp/out")" = '[[null,4,180],["12345678-9abc-def0-1234-56789abcdef0",2,30]]' ] ||
		fail "$(jq -c '[.rows[] | [.name, .count, .wall_ns.sum]]' "$tmp/out")" || return
	run 0 report --cost --by container --json containers.txtrace && [ "$(jq -c '[.rows[] | [.name, .spans]] | sort' "$tmp/out")" = "[[\"\",3],[\"$first\",2],[\"$second\",1]]" ] ||
		fail "$(jq -c .rows "$tmp/out")" || return
	# pid 10 of another capture is another process
	"$make_log" "$tmp/other_host.txtrace" <<-'END' || return
		header pid=10 capture_id="other" boot_id="b" start_monotonic_ns=1
		span begin_ns=1 end_ns=11 pid=10 tid=10 end_tid=10 id=1 label="q" work_ns=10 on_cpu_ns=10
		summary time_ns=50
	END
	run 0 report --by container --json containers.txtrace other_host.txtrace || return
	[ "$(jq -c '[.rows[] | .count]' "$tmp/out")" = '[4,2,1]' ] || fail "$(jq -c '[.rows[] | [.name, .count]]' "$tmp/out")"
}

same_as_default() {
	run 0 report --json blocks.txtrace && cp "$tmp/out" "$tmp/default" && run 0 report --by label --json blocks.txtrace && cmp "$tmp/default" "$tmp/out"
}

is_no_key="option '--by' takes label, thread, process, container, pod, track, trace, reason, key, key:BYTES or tag:NAME, not"

# Labels of different programs are added up, and that is said: which labels, and which programs.
mixed_in_one_log() {
	"$make_log" "$tmp/mixed.txtrace" <<-'END' || return
		process time_ns=1 pid=10 start_ns=1 seed=1 exe="/opt/shop" command="./shop -t 2"
		process time_ns=1 pid=20 start_ns=1 seed=1 exe="/opt/bank" command="bank"
		process time_ns=1 pid=30 start_ns=1 seed=1 exe="/opt/bank" command="bank -v"
		span begin_ns=1 end_ns=11 pid=10 tid=10 end_tid=10 id=1 label="query" work_ns=10 on_cpu_ns=10
		span begin_ns=1 end_ns=11 pid=20 tid=20 end_tid=20 id=1 label="query" work_ns=10 on_cpu_ns=10
		span begin_ns=1 end_ns=12 pid=20 tid=20 end_tid=20 id=2 label="pay" work_ns=11 on_cpu_ns=11
		span begin_ns=1 end_ns=12 pid=30 tid=30 end_tid=30 id=2 label="pay" work_ns=11 on_cpu_ns=11
		span begin_ns=1 end_ns=13 pid=40 tid=40 end_tid=40 id=2 label="pay" work_ns=11 on_cpu_ns=11
		summary time_ns=50
	END
	run 0 report mixed.txtrace && grep -q '^programs *query adds up spans of different programs: /opt/shop, /opt/bank$' "$tmp/out" || fail "$(cat "$tmp/out")" || return
	run 0 report --json mixed.txtrace && [ "$(jq -c .mixed_programs "$tmp/out")" = '[{"label":"query","programs":["/opt/shop","/opt/bank"]}]' ] || return
	run 0 report --label pay mixed.txtrace && ! grep -q different "$tmp/out" || fail "$(cat "$tmp/out")" || return
	run 0 report --by process --json mixed.txtrace && [ "$(jq -c .mixed_programs "$tmp/out")" = '[]' ]
}

# What tracing cost, and what threads waited for, likewise.
mixed_otherwise() {
	run 0 report --cost mixed.txtrace && grep -q '^query adds up spans of different programs: /opt/shop, /opt/bank$' "$tmp/out" || fail "$(cat "$tmp/out")" || return
	run 0 report --cost --json mixed.txtrace &&
		[ "$(jq -c '[.rows[] | [.name, .programs]]' "$tmp/out")" = '[["pay",["/opt/bank"]],["query",["/opt/shop","/opt/bank"]]]' ] || fail "$(cat "$tmp/out")" || return
	run 0 report --by reason mixed.txtrace && ! grep -q different "$tmp/out" || fail "$(cat "$tmp/out")" || return
	"$make_log" "$tmp/blocks_of_two.txtrace" <<-'END' || return
		process time_ns=1 pid=10 start_ns=1 seed=1 exe="/opt/shop" command="./shop -t 2"
		process time_ns=1 pid=20 start_ns=1 seed=1 exe="/opt/bank" command="bank"
		run begin_ns=11 end_ns=15 pid=10 tid=10 blocked_ns=10
		run begin_ns=11 end_ns=15 pid=20 tid=20 blocked_ns=10
		summary time_ns=50
	END
	run 0 report --by reason blocks_of_two.txtrace &&
		grep -q '^each row adds up blocks of different programs: /opt/shop, /opt/bank$' "$tmp/out" || fail "$(cat "$tmp/out")" || return
	run 0 report --by reason --json blocks_of_two.txtrace && [ "$(jq -c .programs "$tmp/out")" = '["/opt/shop","/opt/bank"]' ] || fail "$(cat "$tmp/out")"
}

# one_log NAME COMMAND [LOST]: a span of a process of which only the command of the capture is known; of 100 events so many were lost
one_log() {
	pid=$((pid + 1))
	"$make_log" "$tmp/$1.txtrace" <<-END
		header pid=$pid capture_id="$1" boot_id="b" command="$2" start_monotonic_ns=$pid
		span begin_ns=$((pid + 1)) end_ns=$((pid + 11)) pid=$pid tid=$pid end_tid=$pid id=$pid label="tx" work_ns=10 on_cpu_ns=10
		summary time_ns=$((pid + 50)) sent_cnt=100 received_cnt=$((100 - ${3:-0})) lost_cnt=${3:-0}
	END
}

# What was lost of the first log is not forgotten when the last one has no loss.
losses_of_logs() {
	local pid=2000 by
	one_log lossy "shop" 7 && one_log whole "shop" || return
	for by in label thread process; do
		run 0 report --by $by lossy.txtrace whole.txtrace && grep -q '^events *200 sent, 193 received, 7 lost' "$tmp/out" || fail "$(cat "$tmp/out")" || return
		run 0 report --by $by --json lossy.txtrace whole.txtrace &&
			[ "$(jq -c '.losses | [.sent, .received, .lost]' "$tmp/out")" = '[200,193,7]' ] || fail "$(jq -c .losses "$tmp/out")" || return
	done
	run 0 report --json whole.txtrace && [ "$(jq -c '.losses | [.sent, .received, .lost]' "$tmp/out")" = '[100,100,0]' ]
}

mixed_of_logs() {
	local pid=1000
	one_log first "/usr/bin/shop -t 2" && one_log second "./shop -t 4" && one_log third "/usr/bin/bank" && one_log fourth "/opt/shop" || return
	run 0 report first.txtrace second.txtrace && ! grep -q different "$tmp/out" || fail "$(cat "$tmp/out")" || return
	run 0 report first.txtrace third.txtrace &&
		grep -q '^programs *tx adds up spans of different programs: /usr/bin/shop, /usr/bin/bank$' "$tmp/out" || fail "$(cat "$tmp/out")" || return
	run 0 report --json first.txtrace fourth.txtrace && [ "$(jq -c .mixed_programs "$tmp/out")" = '[{"label":"tx","programs":["/usr/bin/shop","/opt/shop"]}]' ]
}

check "a label of different programs in one log" mixed_in_one_log
check "what tracing cost and what was waited for, of different programs" mixed_otherwise
check "a label of logs of different programs" mixed_of_logs
check "events and losses of several logs are added up" losses_of_logs
check "by thread" expects report_thread 0 report --by thread blocks.txtrace
check "by the value of a tag" expects report_tag 0 report -b tag:shard blocks.txtrace
check "by reason" expects report_reason 0 report --by reason blocks.txtrace
check "by reason, JSON" expects report_reason_json 0 report --by reason --json blocks.txtrace
check "by reason: the filter is for spans" expects report_reason_label 0 report --by reason --label commit blocks.txtrace
check "keys, whole and in part" keys
check "tags with a name twice, without a value, with a similar name" tags
check "containers and pods" containers
check "tracks that the program named; else threads" tracks
check "by label is the default" same_as_default
check "random logs by every key: the same in Python" random_reports
check "no such key" complains "$is_no_key 'colour'" report --by colour blocks.txtrace
check "no tag" complains "$is_no_key 'tag:'" report --by tag: blocks.txtrace
check "too long a part of a key" complains "option '--by' takes key:BYTES with 1 to 64 bytes, not 'key:65'" report --by key:65 blocks.txtrace
finish
