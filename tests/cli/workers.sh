#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What threads did, and what was open over time.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

# tests/cli/logs/workers.txt, in ns. The worker is seen from 1000 to 15000: on a CPU 1000 + 2000 + 2500 + 1000 = 6500 (46.4 %), active 1000-2000, 7000-9500 and
#   10500-15000, 8000 in all, 2666 in the mean, 4500 at most. It is in the job from 5000 + 3000 to 12000: 4000 (28.6 %). Of its sleeps, 2000-7000 is outside of
#   spans, and the queue is above 0 from 3000 on: 4000, 2 long for 3000 and 1 long for 1000, so 1.75 in the mean. 9500-10500 is in the job.
#   Of its long runs, 10500-13000 is in the job for 1500, and so is 7500-9500. The boss runs 900-5500.
# Open spans and the queue, 3000-12000, in three parts: the job 1000 / 3000, 1, 1; the queue 2, 2000 / 3000, 0.
make_from workers
make_from empty

random_threads() {
	local seed buckets
	for seed in 41 42 43; do
		python3 tests/cli/analyses_check.py random $seed "$tmp/truth.json" | "$make_log" "$tmp/random.txtrace" || return
		run 0 export -f jsonl random.txtrace && mv "$tmp/out" "$tmp/random.jsonl" || return
		run 0 workers --json --top 20 --queue queue random.txtrace || return
		python3 tests/cli/analyses_check.py workers "$tmp/random.jsonl" "$tmp/out" queue || fail "seed $seed" || return
		for buckets in 1 7 1000; do
			run 0 concurrency --json --buckets $buckets random.txtrace || return
			python3 tests/cli/analyses_check.py concurrency "$tmp/random.jsonl" "$tmp/out" || fail "seed $seed, $buckets parts" || return
		done
	done
}

csv_is_the_json() {
	run 0 concurrency --json --buckets 7 random.txtrace && cp "$tmp/out" "$tmp/json" && run 0 concurrency --csv --buckets 7 random.txtrace || return
	python3 - "$tmp/json" "$tmp/out" <<-'END'
		import csv, json, sys
		document, lines = json.load(open(sys.argv[1])), list(csv.DictReader(open(sys.argv[2])))
		wanted = [(str(begin), series["name"], "%.6g" % mean) for series in document["series"] for begin, mean in zip(document["begins_ns"], series["means"])]
		assert wanted == [(line["begin_ns"], line["name"], line["mean"]) for line in lines]
	END
}

# Names that would break lines, fields and terminals; times and values at the ends of what there is.
hostile() {
	local big=18446744073709551615
	"$make_log" "$tmp/hostile.txtrace" <<-END || return
		thread time_ns=0 pid=1 tid=1 comm="\x1b[31m"
		run begin_ns=5 end_ns=$big pid=1 tid=1 cpu=4294967295 blocked_ns=$big runnable_ns=$big left_as=blocked reason=7
		run begin_ns=$big end_ns=0 pid=1 tid=1 blocked_ns=3 left_as=blocked reason=200
		run begin_ns=10 end_ns=20 pid=1 tid=1 blocked_ns=3 runnable_ns=9223372036854775807 left_as=blocked reason=lock
		counter time_ns=1 pid=1 tid=1 name="a\"b\n,\x1b[31m" value=9223372036854775807
		counter time_ns=$big pid=1 tid=1 name="a\"b\n,\x1b[31m" value=-9223372036854775808
		counter time_ns=7 pid=1 tid=1 name="a\"b\n,\x1b[31m" value=3
		stay enter_ns=$big exit_ns=0 pid=1 tid=1 span=1 span_pid=1
		stay enter_ns=0 exit_ns=$big pid=1 tid=1 span=1 span_pid=1
		stay enter_ns=3 exit_ns=4 pid=1 tid=2 span=99 span_pid=1 keyed=1
		span begin_ns=0 end_ns=$big pid=1 tid=1 id=1 label="\x00\"" work_ns=$big detached_ns=$big
		span begin_ns=$big end_ns=0 pid=1 tid=1 id=2 label="x" detached_ns=5
		summary time_ns=1
	END
	run 0 workers --queue $'a"b\n,\e[31m' hostile.txtrace && ! grep -q $'\e' "$tmp/out" || fail "$(cat "$tmp/out")" || return
	run 0 workers --json --queue x hostile.txtrace && jq . "$tmp/out" >/dev/null || return
	run 0 concurrency hostile.txtrace && ! grep -q $'\e' "$tmp/out" || return
	run 0 concurrency --json hostile.txtrace && jq . "$tmp/out" >/dev/null && run 0 concurrency --csv hostile.txtrace &&
		python3 -c 'import csv, sys; assert all(len(line) == 6 for line in csv.reader(open(sys.argv[1])))' "$tmp/out"
}

many_threads_and_labels() {
	awk 'BEGIN { for (i = 1; i <= 20000; i++) {
			print "run begin_ns=" i " end_ns=" i + 1 " pid=1 tid=" i " cpu=0 left_as=dead"
			print "span begin_ns=" i " end_ns=" i + 1 " pid=1 tid=" i " id=" i " label=\"user-" i "\" work_ns=1 on_cpu_ns=1" }
		print "summary time_ns=30000" }' </dev/null | "$make_log" "$tmp/many.txtrace"
	run 0 workers many.txtrace && grep -q "^19,970 more threads: 'txtrace workers --limit 0' shows them$" "$tmp/out" || fail "$(tail -n 5 "$tmp/out")" || return
	run 0 concurrency --json --buckets 3 many.txtrace || return
	jq -e '(.series | length == 4097 and any(.[]; .is_rest)) and ([.series[].count] | add) == 20000' "$tmp/out" >/dev/null ||
		fail "$(jq '[.series[].count] | length, add' "$tmp/out")"
}

# A span that is open for 5,000 short ones on the same thread, and asleep between them: nothing of it is idle, and its time is counted once.
long_span() {
	awk 'BEGIN { print "counter time_ns=1 pid=1 tid=9 name=\"q\" value=1"
		for (i = 1; i <= 3000; i++) {
			print "run begin_ns=" i * 10 + 5 " end_ns=" i * 10 + 10 " pid=1 tid=1 blocked_ns=5 left_as=blocked reason=lock"
			print "stay enter_ns=" i * 10 + 5 " exit_ns=" i * 10 + 10 " pid=1 tid=1 span=" i " span_pid=1"
			print "span begin_ns=" i * 10 + 5 " end_ns=" i * 10 + 10 " pid=1 tid=1 end_tid=1 id=" i " label=\"s\" work_ns=5 on_cpu_ns=5" }
		print "span begin_ns=0 end_ns=40000 pid=1 tid=1 end_tid=1 id=9999 label=\"all\" work_ns=40000 on_cpu_ns=40000"
		print "summary time_ns=40000" }' </dev/null | "$make_log" "$tmp/long.txtrace"
	run 0 workers --json --queue q long.txtrace || return
	jq -e '.threads[0] | .idle_ns == 0 and .stays == 3001 and .in_spans_ns <= 40000 and .in_spans_ns > 20000' "$tmp/out" >/dev/null ||
		fail "$(jq -c '.threads[0]' "$tmp/out")" || return
	jq -e '.coarse' "$tmp/out" >/dev/null || fail "it is not said that the time in spans is a lower bound"
}

# worker-1 was in a span once, worker-2 never. Both sleep from 2000 to 6000, and so does the boss; from 3000 on 3 wait in the queue: 3000 ns each. Without
# --threads only worker-1 is idle; with it, both workers are, and the boss is not shown.
chosen_threads() {
	local tid idle='[.threads[] | [.thread_name, .idle_sleeps, .idle_ns]]'
	{
		for tid in 10 11 12; do
			echo "thread time_ns=900 pid=10 tid=$tid comm=\"$([ $tid = 10 ] && echo boss || echo worker-$((tid - 10)))\" seed=1"
			echo "run begin_ns=1000 end_ns=2000 pid=10 tid=$tid left_as=blocked reason=lock"
		done
		echo 'span begin_ns=1200 end_ns=1500 pid=10 tid=11 end_tid=11 id=1 label="job" work_ns=300 on_cpu_ns=300'
		echo 'counter time_ns=3000 pid=10 tid=10 name="queue" value=3'
		for tid in 10 11 12; do
			echo "run begin_ns=6000 end_ns=$((7000 + tid)) pid=10 tid=$tid blocked_ns=4000 left_as=dead"
		done
		echo "summary time_ns=9000"
	} | "$make_log" "$tmp/chosen.txtrace" || return
	run 0 workers --json --queue queue chosen.txtrace && jq -ce "$idle == [[\"worker-2\",0,0],[\"worker-1\",1,3000],[\"boss\",0,0]]" "$tmp/out" >/dev/null ||
		fail "$(jq -c "$idle" "$tmp/out")" || return
	run 0 workers --json --queue queue --threads 'worker*' chosen.txtrace &&
		jq -ce "$idle == [[\"worker-2\",1,3000],[\"worker-1\",1,3000]] and ([.longest_idle[].mean_depth] == [3,3]) and ([.longest_runs[].thread_name] | index(\"boss\") | not)" "$tmp/out" >/dev/null ||
		fail "$(jq -c "$idle, .longest_idle, .longest_runs" "$tmp/out")" || return
	run 0 workers --threads 'nobody*' --queue queue chosen.txtrace && grep -q '^no threads$' "$tmp/out" || fail "$(cat "$tmp/out")"
}

# From 2000 to 5000 its runs tell of 1000 ns; of the other thread's time they tell all.
unknown_time() {
	{
		echo "run begin_ns=1000 end_ns=2000 pid=10 tid=10 left_as=preempted"
		echo "run begin_ns=5000 end_ns=6000 pid=10 tid=10 runnable_ns=1000 left_as=dead"
		echo "run begin_ns=1000 end_ns=2000 pid=10 tid=11 left_as=blocked reason=lock"
		echo "run begin_ns=5000 end_ns=5500 pid=10 tid=11 blocked_ns=2000 runnable_ns=1000 left_as=dead"
		echo "summary time_ns=9000"
	} | "$make_log" "$tmp/unknown.txtrace" || return
	run 0 workers --json unknown.txtrace && jq -ce '[.threads[] | [.tid, .unknown_ns]] == [[10, 2000], [11, 0]]' "$tmp/out" >/dev/null ||
		fail "$(jq -c '.threads' "$tmp/out")" || return
	run 0 workers unknown.txtrace && grep -q 'blocked  unknown$' "$tmp/out" && grep -qE '^10 .* 2.00 ..s$' "$tmp/out" || fail "$(cat "$tmp/out")" || return
	run 0 workers workers.txtrace && ! grep unknown "$tmp/out"
}

check "what two threads did" expects workers 0 workers --queue queue workers.txtrace
check "without a queue" expects workers_plain 0 workers --top 1 workers.txtrace
check "what no run tells is unknown" unknown_time
check "JSON" expects workers_json 0 workers --json --queue queue workers.txtrace
check "a counter that is not there" expects workers_other 0 workers --limit 1 --queue other workers.txtrace
check "a log without threads" expects workers_none 0 workers empty.txtrace
check "open spans and the queue" expects concurrency 0 concurrency --buckets 3 workers.txtrace
check "the same, CSV" expects concurrency_csv 0 concurrency --buckets 3 --csv workers.txtrace
check "the same, JSON" expects concurrency_json 0 concurrency --buckets 3 --json workers.txtrace
check "nothing was open" expects concurrency_none 0 concurrency empty.txtrace
check "random threads: the same in Python" random_threads
check "CSV is what JSON is" csv_is_the_json
check "hostile names, times and values" hostile
check "20,000 threads and labels" many_threads_and_labels
check "a long span of many short ones" long_span
check "workers by name: also those that never had work, and no others" chosen_threads
check "JSON and CSV at once" complains "--json, --csv, --html and --markdown exclude each other" concurrency --json --csv workers.txtrace
finish
