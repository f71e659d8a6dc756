#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Labels that differ at every execution cost no more memory than is allowed, and no span goes missing.
# takes long: 3 s of a CPU
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

# 60,000 spans of 1 µs: each label comes twice.
awk 'BEGIN {
	print "header pid=1 cpus=1 command=\"labels\" start_monotonic_ns=1 start_realtime_ns=1763725203000000000"
	for (i = 0; i < 60000; i++)
		print "span begin_ns=" 1000 * i " end_ns=" 1000 * i + 1000 " pid=1 tid=1 end_tid=1 id=" i + 1 \
			" label=\"user-" i % 30000 "\" work_ns=1000 on_cpu_ns=1000"
	print "summary time_ns=300000000 sent_cnt=120000 received_cnt=120000"
}' </dev/null | "$make_log" "$tmp/labels.txtrace"

all_labels() {
	run 0 report --limit 2 labels.txtrace || return
	grep -q '^spans  *60,000 of 30,000 labels$' "$tmp/out" || fail "$(grep '^spans' "$tmp/out")" || return
	grep -q "^29,998 more labels with less work: 'txtrace report --limit 0' shows them$" "$tmp/out" || fail "the hidden ones are not counted"
}

small_memory() {
	run 0 report --json --max-memory 4M labels.txtrace || return
	jq -e '([.labels[].count] | add) == 60000 and .totals.exact.count == 60000 and .coarse' "$tmp/out" >/dev/null ||
		fail "spans are missing" || return
	jq -e '[.labels[] | select(.is_rest)] | length == 1' "$tmp/out" >/dev/null || fail "no row for the rest" || return
	jq -e '[.labels[] | select(.is_rest | not)] | length > 5000 and length < 25000' "$tmp/out" >/dev/null || fail "4 MiB hold other numbers" || return
	run 0 report -n 1 --max-memory 4M labels.txtrace || return
	grep -q "^memory  *too many labels: [0-9,]* spans are counted together; 'txtrace report --max-memory' allows more$" "$tmp/out" || fail "it is not said"
}

# The largest resident set so far, in KiB, of a run that has read its log and waits for somebody to read what it writes.
peak() {
	local pid first
	"$txtrace" "$@" >"$tmp/fifo" &
	pid=$!
	exec 3<"$tmp/fifo"
	read -r first <&3 && awk '/^VmHWM/ { print $2 }' "/proc/$pid/status"
	cat <&3 >/dev/null
	exec 3<&-
	wait $pid && [ -n "$first" ]
}

memory_is_bounded() {
	local small all
	small=$(peak report --json --max-memory 4M "$tmp/labels.txtrace") && all=$(peak report --json "$tmp/labels.txtrace") || return
	echo "in 4 MiB: $small KiB, without: $all KiB"
	[ "$small" -lt 16384 ] && [ $((all - small)) -gt 4096 ]
}

top_spans() {
	run 0 spans -n 30000 labels.txtrace && [ "$(wc -l <"$tmp/out")" = 60003 ] && run 0 spans -n 3 labels.txtrace && [ "$(wc -l <"$tmp/out")" = 9 ]
}

mkfifo "$tmp/fifo"
check "every label has its row" all_labels
check "labels beyond the memory are counted together" small_memory
if [ "${BUILD##*/sanitize-}" = "$BUILD" ]; then
	check "memory stays where it was told to" memory_is_bounded
else
	skip "memory stays where it was told to" "a sanitizer takes its own"
fi
check "the top spans of many" top_spans
finish
