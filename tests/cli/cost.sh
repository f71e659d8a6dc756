#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# report --cost: what tracing added to spans, on a log whose events can be counted on the fingers, and on random ones against a second computation.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

make_from cost
make_from small
make_from empty

# counted FILTER EXPECTED
counted() {
	run 0 report --cost --json cost.txtrace || return
	[ "$(jq -c "$1" "$tmp/out")" = "$2" ] || fail "$(jq -c "$1" "$tmp/out")"
}

# agrees SEED
agrees() {
	python3 tests/cli/cost_check.py random "$1" "$tmp/random.truth" | "$make_log" "$tmp/random.txtrace" && run 0 export -f jsonl random.txtrace &&
		cp "$tmp/out" "$tmp/random.jsonl" && run 0 report --cost --json random.txtrace &&
		python3 tests/cli/cost_check.py check "$tmp/random.jsonl" "$tmp/out" "$tmp/random.truth"
}

random_logs() {
	for seed in 1 2 3 4 5 6; do
		agrees $seed || fail "seed $seed" || return
	done
}

# A capture in two files: each tells what was since the one before, and together they are the whole.
two_files() {
	local part='cpus=1 command="parts" capture_id="c" boot_id="b" start_monotonic_ns=1' cost='event_cnt=100 timed_event_cnt=10 timed_run_cnt=10'
	mkdir "$tmp/set"
	"$make_log" "$tmp/set/a.000001.txtrace" <<-END || return
		header $part
		span begin_ns=10 end_ns=20 pid=1 tid=1 end_tid=1 id=2 label="a" work_ns=10 on_cpu_ns=10
		cost time_ns=25 since_ns=1 event="end" $cost timed_run_ns=1000 entry=trap entry_ps=400000 empty_run_ps=20000 calibration_cnt=4096
		cost time_ns=25 since_ns=1 event_cnt=100 cpu_ns=5 ring_bytes=64
		continued time_ns=25 next_part=1
	END
	"$make_log" "$tmp/set/a.txtrace" <<-END || return
		header $part part=1 first_sequence=2
		span begin_ns=30 end_ns=40 pid=1 tid=1 end_tid=1 id=3 label="a" work_ns=10 on_cpu_ns=10
		cost time_ns=45 since_ns=25 event="end" $cost timed_run_ns=2000 entry=trap entry_ps=600000 empty_run_ps=20000 calibration_cnt=4352
		cost time_ns=45 since_ns=25 event_cnt=100 cpu_ns=6 ring_bytes=64
		summary time_ns=45 sent_cnt=200 received_cnt=200
	END
	run 0 report --cost --json set || return
	[ "$(jq -c '[.cost.events, .cost.observed_ns, .cost.recorder_cpu_ns, .cost.ring_bytes, .cost.classes.span.entry_ns, .cost.classes.span.run_ns, .rows[0].added_ns]' \
		"$tmp/out")" = '[200,44,11,128,500,130,2520]' ] || fail "$(jq -c . "$tmp/out")"
}

# With no room for more threads or labels, what is not counted is told.
little_memory() {
	awk 'BEGIN {
		print "header pid=1 cpus=1 command=\"many\" start_monotonic_ns=1"
		for (i = 1; i <= 20000; i++)
			print "span begin_ns=" 1000 * i " end_ns=" 1000 * i + 400 " pid=1 tid=" i " end_tid=" i " id=" i " label=\"label-" i "\" work_ns=400"
		print "summary time_ns=300000000"
	}' </dev/null | "$make_log" "$tmp/many.txtrace" || return
	run 0 report --cost --json --max-memory 1M many.txtrace || return
	[ "$(jq '[.rows[].spans] | add' "$tmp/out")" = 20000 ] || fail "spans are missing" || return
	[ "$(jq '(.uncounted > 0) and ([.rows[] | select(.name == null)] | length == 1)' "$tmp/out")" = true ] || fail "$(jq .uncounted "$tmp/out")" || return
	[ "$(jq '.uncounted + ([.rows[].events.span] | add)' "$tmp/out")" = 40000 ] || fail "$(jq .uncounted "$tmp/out")" || return
	run 0 report --cost --max-memory 1M many.txtrace && grep -q 'there was no memory to count' "$tmp/out"
}

# One thread with 100,000 events, in spans of ten and in one over all of them: those are exact, this one to 1 in 100.
long_history() {
	awk 'BEGIN {
		print "header pid=1 cpus=1 command=\"long\" start_monotonic_ns=1"
		print "thread time_ns=1 pid=1 tid=1 seed=1"
		for (i = 1; i <= 100000; i++) {
			print "counter time_ns=" 1000 * i " pid=1 tid=1 name=\"n\" value=1"
			if (i % 10 == 0)
				print "span begin_ns=" 1000 * i - 9500 " end_ns=" 1000 * i + 1 " pid=1 tid=1 end_tid=1 id=" i " label=\"ten\" work_ns=9501"
		}
		print "span begin_ns=50000500 end_ns=100000002 pid=1 tid=1 end_tid=1 id=7 label=\"half\" work_ns=49999502"
		print "summary time_ns=300000000"
	}' </dev/null | "$make_log" "$tmp/long.txtrace" && run 0 report --cost --json long.txtrace || return
	[ "$(jq -c '[.rows[] | select(.name == "ten") | .spans, .events.mark, .events.span]' "$tmp/out")" = '[10000,100000,20000]' ] ||
		fail "$(jq -c .rows "$tmp/out")" || return
	[ "$(jq '.rows[] | select(.name == "half") | .events.mark - 50000 | fabs <= 500' "$tmp/out")" = true ] || fail "$(jq -c .rows "$tmp/out")"
}

check "every figure of a small log" expects cost 0 report --cost cost.txtrace
check "tx: begin, end, parse's two; attribute and tag; instant; a switch; a wakeup" \
	counted '[.rows[] | select(.name == "tx") | .events[]]' '[4,0,2,1,1,1]'
check "what these cost: 4 x 675, 2 x 600, 700, 25 + 200, 25 + 175" counted '[.rows[] | select(.name == "tx") | .added_ns]' '[5025]'
check "parse: its own two" counted '[.rows[] | select(.name == "parse") | .events[]]' '[2,0,0,0,0,0]'
check "job: who enters and ends it pays two, and was switched once" counted '[.rows[] | select(.name == "job") | .events[]]' '[2,0,0,0,1,0]'
check "both: three, as who was in it when another one ended it did nothing" counted '[.rows[] | select(.name == "both") | .events[]]' '[3,0,0,0,0,0]'
check "the run time of attributes is not known: at least" counted '[.cost.is_whole, .cost.classes.text.run_ns, .cost.total_ns]' '[false,null,113000]'
check "one label, and what others paid counts for it" expects cost_label 0 report --cost --label 't[x]' cost.txtrace
check "by thread" expects cost_thread 0 report --cost --by thread cost.txtrace
check "JSON" expects cost_json 0 report --cost --json cost.txtrace
check "a log that does not say what an event cost" expects cost_unknown 0 report --cost small.txtrace
check "a log without spans" expects cost_none 0 report --cost empty.txtrace
check "random threads: the same in Python, and what was true" random_logs
check "two files of a capture add up" two_files
check "little memory" little_memory
check "a long history" long_history
check "not by reason" complains "--cost is about spans; give it another --by than reason" report --cost --by reason cost.txtrace
check "info tells the totals" expects cost_info 0 info cost.txtrace
finish
