# SPDX-License-Identifier: BSD-2-Clause
# For make_log: a log of 400,000 spans, which takes a command a moment to read.
BEGIN {
	print "header pid=1 cpus=1 command=\"long\" capture_id=\"long\" start_monotonic_ns=1 start_realtime_ns=1700000000000000000"
	for (i = 1; i <= 400000; i++)
		printf "span begin_ns=%d end_ns=%d pid=1 tid=1 end_tid=1 id=%d label=\"tx\" work_ns=10 on_cpu_ns=10\n", i * 100, i * 100 + 10, i
	print "summary time_ns=41000000"
}
