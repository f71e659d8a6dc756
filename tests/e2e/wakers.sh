#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Who wakes: a timer, the network's softirq, or a thread, by name; also where the interrupt hits a thread that burns its CPU in user code.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh
need_bpf

record() {
	"$recorder" -q -o "$tmp/wakers.txtrace" -- "$programs/wakers" --repeat 60 && export_log "$tmp/wakers.txtrace"
}

# A line for each wake that ended a sleep in a span: label, timer|softirq|interrupt|unknown|the waker's name.
wakes() {
	jq -rs '(map(select(.type == "span")) | map({key: "\(.id)", value: .label}) | from_entries) as $labels
		| .[] | select(.type == "wake" and .span != "0")
		| "\($labels[.span]) \(if .waker_unknown then "unknown" elif .timer then "timer" elif .softirq then "softirq"
			elif .interrupt then "interrupt" else .waker_comm end)"' "$tmp/wakers.txtrace.jsonl" >"$tmp/wakes"
	[ -s "$tmp/wakes" ] || fail "no wakes"
}

# by LABEL WAKER-PATTERN: at least 10 sleeps in spans of that label were ended so, and none otherwise; the kernel may have other business on a thread once or twice
by() {
	local all other
	all=$(grep -c "^$1 " "$tmp/wakes")
	other=$(grep "^$1 " "$tmp/wakes" | grep -vcE "^$1 ($2)$")
	[ "$all" -ge 10 ] || fail "only $all wakes of $1" || return
	[ "$other" -le $((all / 20)) ] || fail "$other of $all wakes of $1 are not by $2: $(sort "$tmp/wakes" | uniq -c | tr '\n' ';')"
}

none_unknown() {
	! grep ' unknown$' "$tmp/wakes"
}

check "a program whose sleeps are ended in known ways is traced" record
check "its wakes are in the log" wakes
if ! grep -qaE '__preempt_count|pcpu_hot' /sys/kernel/btf/vmlinux && [ "$(uname -m)" = x86_64 ]; then
	for name in "a nap is ended by a timer" "a packet by the softirq" "no waker is unknown"; do
		number=$((number + 1))
		echo "ok $number - $name # SKIP this kernel's BTF does not tell where per-CPU variables are"
	done
else
	check "a nap is ended by a timer" by nap timer
	check "a packet by the softirq that brings it, or by a thread that does its work" by packet 'softirq|sender|ksoftirqd/[0-9]+'
	check "no waker is unknown" none_unknown
fi
check "a pipe by the thread that writes" by pipe sender
finish
