#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What makes the slow spans slow.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

# In µs, 500 commits: 245 of 1,000 (800 on-CPU, 200 disk), 200 of 1,100 (850, 50 runnable, 200), 49 of 2,000 (on-CPU), 6 of 11,000 (900, 1,100, 9,000).
#   p50 is the 250th: 1,100; p99 the 495th: 11,000. Between the 200th, 1,000, and the 300th, 1,100, are 445: mean on-CPU (245 x 800 + 200 x 850) / 445
#   = 822.471910, runnable 200 x 50 / 445 = 22.471910, disk 200. So the slow ones have 77.528090 more on-CPU, 1077.528090 more runnable, 8,800 more disk, in all
#   9,955.056180: 0.8 %, 10.8 %, 88.4 %.
# 600 of the same length have no tail; 20 are too few; a lower bound does not count.
awk 'function span(cnt, label, on_cpu, runnable, disk, flags) {
	for (; cnt > 0; cnt--) {
		wall = on_cpu + runnable + disk
		print "span begin_ns=" at "000 end_ns=" at + wall "000 pid=10 tid=11 end_tid=11 id=" ++id " label=\"" label "\" flags=" flags " work_ns=" wall "000 on_cpu_ns=" \
			on_cpu "000 runnable_ns=" runnable "000 disk_ns=" disk "000"
		at += wall
	}
}
BEGIN {
	print "header pid=10 cpus=2 command=\"tail\" start_monotonic_ns=1000 start_realtime_ns=1763725203000000000"
	at = 1
	span(245, "commit", 800, 0, 200, "none")
	span(6, "commit", 900, 1100, 9000, "none")
	span(1, "commit", 90000, 0, 0, "lower_bound,loss")
	span(200, "commit", 850, 50, 200, "none")
	span(49, "commit", 2000, 0, 0, "none")
	span(600, "same", 10, 0, 0, "none")
	span(20, "few\\e[31m", 1, 0, 0, "none")
	print "summary time_ns=" at "000 sent_cnt=2242 received_cnt=2242"
}' </dev/null | "$make_log" "$tmp/tail.txtrace"
make_from empty

random_tails() {
	python3 - >"$tmp/random.txt" <<-'END'
		import random
		rng, now = random.Random(5), 1000
		print("header pid=1 start_monotonic_ns=1000")
		for number in range(1, 4001):
		    parts = [rng.randrange(1, 10 ** rng.randrange(1, 6)) for _ in range(4)]
		    if rng.random() < 0.02:
		        parts[2] *= 50
		    print(f"span begin_ns={now} end_ns={now + sum(parts)} pid=1 tid=1 id={number} label=\"{rng.choice('aab')}\" work_ns={sum(parts)} on_cpu_ns={parts[0]} "
		          f"runnable_ns={parts[1]} lock_ns={parts[2]} detached_ns={parts[3]} flags={'lower_bound' if rng.random() < 0.01 else 'none'}")
		    now += sum(parts)
		print(f"summary time_ns={now}")
	END
	"$make_log" "$tmp/random.txtrace" <"$tmp/random.txt" && run 0 export -f jsonl random.txtrace && mv "$tmp/out" "$tmp/random.jsonl" || return
	run 0 tail --json --percentile 98 random.txtrace && python3 tests/cli/analyses_check.py tail "$tmp/random.jsonl" "$tmp/out" 98
}

absurd_numbers() {
	awk 'BEGIN { big = "18446744073709551615"
		for (i = 1; i <= 600; i++)
			print "span begin_ns=0 end_ns=" (i > 590 ? big : i % 7) " pid=1 tid=1 id=" i " label=\"x\" work_ns=" big " on_cpu_ns=" (i > 590 ? big : 1) " lock_ns=" big
		print "summary time_ns=9" }' </dev/null | "$make_log" "$tmp/absurd.txtrace"
	run 0 tail absurd.txtrace && run 0 tail --json absurd.txtrace && jq -e '.labels[0].more_ns.on_cpu > 0' "$tmp/out" >/dev/null
}

check "every figure of a tail" expects tail 0 tail tail.txtrace
check "JSON" expects tail_json 0 tail --json -l commit tail.txtrace
check "another percentile, which 500 spans are too few for" expects tail_few 0 tail --percentile 99.9 tail.txtrace
check "a log without spans" expects tail_none 0 tail empty.txtrace
check "random spans: the same in Python" random_tails
check "absurd numbers" absurd_numbers
check "a percentile that is none" complains "option '--percentile' takes a number above 60 and below 100, not '50'" tail --percentile 50 tail.txtrace
check "and one that is no number" complains "option '--percentile' takes a number above 60 and below 100, not 'nan'" tail --percentile nan tail.txtrace
finish
