#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --irq: what interrupts and softirqs take of the time on a CPU is told apart, and with the rest it is what the scheduler says.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
need_account

trace() { # trace NAME [OPTION...]
	local name=$1
	shift
	"$recorder" -q -o "$tmp/$name.txtrace" "$@" -- "$programs/interrupted" --repeat 4 --output "$tmp/$name.truth" && export_log "$tmp/$name.txtrace"
}

spans_of() { # spans_of NAME EXPRESSION: of jq, over all spans
	jq -s -e "[.[] | select(.type == \"span\")] | $2" "$tmp/$1.txtrace.jsonl" >/dev/null ||
		fail "$(jq -c 'select(.type == "span") | [.work_ns, .on_cpu_ns, .interrupt_ns, .runnable_ns, .blocked_ns, .unknown_ns]' "$tmp/$1.txtrace.jsonl")"
}

# 200 packets in each span, and the timer's ticks; but most of the time is the program's own.
every_span_was_interrupted() {
	spans_of irq 'length == 4 and all(.[]; .interrupt_ns > 0 and .interrupt_ns < .on_cpu_ns)'
}

it_adds_up() {
	spans_of irq 'all(.[]; .on_cpu_ns + (.stolen_ns // 0) + .interrupt_ns + .runnable_ns + .blocked_ns + .detached_ns + .unknown_ns == .work_ns)' &&
		"$reader" verify "$tmp/irq.txtrace" >/dev/null && jq -s -e '.[-1].recorder.anomalies | .clock_mismatch == 0 and .imbalance == 0' "$tmp/irq.txtrace.jsonl"
}

# shown NAME VIEW [ARGUMENT...]: how often a ledger's part "interrupt" is
shown() {
	local name=$1 view=$2
	shift 2
	"$reader" "$view" "$@" "$tmp/$name.txtrace" | sed 's/"interrupt":\(true\|false\)//' | grep -cE '\binterrupt(_ns)?\b' # a wake tells whether it was in one
}

views=("report" "report --json" "tree" "tree --json" "spans" "spans --json" "dump --kind span" "export -f jsonl" "export -f chrome")

is_shown_everywhere() {
	local view
	for view in "${views[@]}"; do
		# shellcheck disable=SC2086
		[ "$(shown irq $view)" -gt "$(shown plain $view)" ] || fail "$view: $(shown irq $view), without --irq $(shown plain $view)" || return
	done
}

nothing_is_loaded() {
	trace plain && spans_of plain 'length == 4 and all(.[]; has("interrupt_ns") | not)'
}

# tracefs COMMAND...: where it is mounted, in a mount namespace of its own; the machine's stays as it is.
tracefs() {
	exec unshare --mount --propagation private sh -c '{ mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing; } && exec "$@"' sh "$@"
}

# What another tool needs for the same; says what is missing.
tool_is_here() {
	command -v bpftrace >/dev/null || fail "there is no bpftrace" || return
	(tracefs true) 2>/dev/null || fail "tracefs cannot be mounted" || return
	(tracefs test -d /sys/kernel/tracing/events/irq_vectors) || fail "this kernel has no tracepoints of vectors, which are x86's"
}

tool_began_or_ended() {
	grep -q ready "$tmp/tool" || has_ended "$1"
}

# As another tool adds up the same handlers' times, on the CPUs that this program has. Both see each other's cost in them. None of these
# handlers takes a millisecond: one that did had its CPU taken away, which is stolen time here and part of the handler's time there.
as_another_tool_says() {
	local tool
	tracefs bpftrace -B line -e '
		tracepoint:irq_vectors:local_timer_entry, tracepoint:irq:softirq_entry, tracepoint:irq:irq_handler_entry /comm == "interrupted"/ {
			if (@depth[cpu] == 0) { @since[cpu] = nsecs; } @depth[cpu] = @depth[cpu] + 1; }
		tracepoint:irq_vectors:local_timer_exit, tracepoint:irq:softirq_exit, tracepoint:irq:irq_handler_exit /@depth[cpu] > 0/ {
			@depth[cpu] = @depth[cpu] - 1;
			if (@depth[cpu] == 0) {
				if (nsecs - @since[cpu] < 1000000) { @all = sum(nsecs - @since[cpu]); }
				else { @paused = sum(nsecs - @since[cpu]); } } }
		interval:ms:100 { printf("ready\n"); }
		END { clear(@depth); clear(@since); }' >"$tmp/tool" 2>&1 &
	tool=$!
	wait_for 120 tool_began_or_ended $tool
	runs $tool || fail "bpftrace does not start: $(cat "$tmp/tool")" || return
	trace both --irq
	kill -INT $tool
	wait $tool
	python3 - "$tmp/both.txtrace.jsonl" "$tmp/tool" <<-'END'
		import json, re, sys
		ours = sum(r.get("interrupt_ns", 0) for r in map(json.loads, open(sys.argv[1])) if r["type"] == "span")
		tool = open(sys.argv[2]).read()
		theirs = int(re.search(r"@all: (\d+)", tool).group(1))
		paused = int((re.search(r"@paused: (\d+)", tool) or [0, 0])[1])
		print(f"ours {ours} ns, bpftrace's {theirs} ns, and {paused} ns in handlers that were paused")
		sys.exit(not theirs / 3 < ours < (theirs + paused) * 3)
	END
}

check "a program that sends packets to itself is traced with --irq" trace irq --irq
check "each of its spans was interrupted" every_span_was_interrupted
check "the ledger adds up, and no anomaly is counted" it_adds_up
check "on-CPU and interrupts together are what the scheduler says" compare irq
check "without --irq there is nothing of it" nothing_is_loaded
check "and everything is as ever" compare plain
check "it is shown wherever a ledger is, and only then" is_shown_everywhere
if reason=$(tool_is_here); then
	check "bpftrace measures about the same" as_another_tool_says
else
	number=$((number + 1))
	echo "ok $number - bpftrace measures about the same # SKIP $reason"
fi
finish
