#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Who wakes: a timer, the network's softirq, or a thread, by name; also where the interrupt hits a thread that burns its CPU in user code.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

record() {
	"$recorder" -q -o "$tmp/wakers.txtrace" -- "$programs/wakers" --repeat 60 && export_log "$tmp/wakers.txtrace"
}

# A line for each wake that ended a sleep in a span: label, what it slept for, timer|softirq|interrupt|unknown|the waker's name.
wakes() {
	python3 - "$tmp/wakers.txtrace.jsonl" >"$tmp/wakes" <<-'END'
		import bisect, json, sys
		records = [json.loads(line) for line in open(sys.argv[1])]
		labels = {record["id"]: record["label"] for record in records if record["type"] == "span"}
		runs = {}
		for record in sorted((record for record in records if record["type"] == "run"), key=lambda run: run["end_ns"]):
		    runs.setdefault(record["tid"], []).append(record)
		for wake in records:
		    if wake["type"] != "wake" or wake["span"] == "0":
		        continue
		    before = bisect.bisect_right(runs[wake["tid"]], wake["time_ns"], key=lambda run: run["end_ns"])
		    reason = runs[wake["tid"]][before - 1]["reason"] if before else "unknown"
		    kind = [kind for kind in ("timer", "softirq", "interrupt") if wake[kind]]
		    print(labels[wake["span"]], reason, "unknown" if wake["waker_unknown"] else kind[0] if kind else wake["waker_comm"])
	END
	[ -s "$tmp/wakes" ] || fail "no wakes"
}

# by LABEL REASON WAKER-PATTERN: at least 10 sleeps of that reason in spans of that label were ended so, and none otherwise. The kernel may let a thread sleep for
# something else, too.
by() {
	local all other
	all=$(grep -c "^$1 $2 " "$tmp/wakes")
	other=$(grep "^$1 $2 " "$tmp/wakes" | grep -vcE "^$1 $2 ($3)$")
	[ "$all" -ge 10 ] || fail "only $all wakes of $1" || return
	[ "$other" = 0 ] || fail "$other of $all wakes of $1 are not by $3: $(sort "$tmp/wakes" | uniq -c | tr '\n' ';')"
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
	check "a nap is ended by a timer" by nap sleep timer
	check "a packet by the softirq that brings it, or by a thread that does its work" by packet network 'softirq|sender|ksoftirqd/[0-9]+'
	check "no waker is unknown" none_unknown
fi
check "a pipe by the thread that writes" by pipe pipe sender
finish
