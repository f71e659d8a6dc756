#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The demo's bank counts its transactions; the log holds exactly as many spans, children and marks, and the money is all there.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
need_account

# count_of WORD: a number in the bank's summary line
count_of() {
	grep -o "\\b$1=[0-9]*" "$tmp/bank.out" | cut -d= -f2
}

run_bank() {
	TMPDIR=$tmp "$recorder" -q -o "$tmp/bank.txtrace" -- "$programs/bank" --transactions 3000 --rate 1500 --seed 7 >"$tmp/bank.out" &&
		export_log "$tmp/bank.txtrace"
}

conserved() {
	grep -q 'balances=conserved' "$tmp/bank.out" || fail "$(cat "$tmp/bank.out")"
}

# says LABEL COUNT: what the program's counts mean for the log
says() {
	echo "{\"type\":\"count\",\"label\":\"$1\",\"pid\":$pid,\"cnt\":$2}"
}

write_truth() {
	local deposit transfer withdraw audit statement
	pid=$(grep -m1 -o '"type":"span".*' "$tmp/bank.txtrace.jsonl" | grep -o '"pid":[0-9]*' | cut -d: -f2)
	deposit=$(count_of deposit) transfer=$(count_of transfer) withdraw=$(count_of withdraw) audit=$(count_of audit) statement=$(count_of statement)
	says deposit "$deposit"
	says transfer "$transfer"
	says withdraw "$withdraw"
	says audit "$audit"
	says statement "$statement"
	says validate $((deposit + transfer + withdraw))
	says "lock accounts" $((deposit + transfer + withdraw))
	says journal $((deposit + transfer + withdraw + statement))
	says notify $((deposit + withdraw))
	says receipt $((deposit + withdraw))
	says clear "$transfer"
	says "clearing house" "$transfer"
	says checksum $((3 * audit))
	says print "$statement"
	echo "{\"type\":\"instant\",\"span\":\"0\",\"name\":\"posted\",\"cnt\":$((deposit + withdraw))}"
}

holds_counts() {
	write_truth >"$tmp/bank.truth"
	compare bank
}

all_traced() {
	[ "$(count_of transactions) $(count_of traced)" = "3000 3000" ] || fail "$(cat "$tmp/bank.out")"
}

# Each step waits for one thing: there the log must show time, and next to none elsewhere. A page that is touched first, or a mark, may wait for the lock of the
# address space; these waits are told apart, and do not count. A journal in memory waits for nothing.
tells_the_stories() {
	python3 - "$tmp/bank.txtrace.jsonl" "$(! is_in_memory "$tmp" || echo memory)" <<-'END'
		import collections, json, sys
		blocked, other = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
		for line in open(sys.argv[1], encoding="utf-8"):
		    span = json.loads(line)
		    if span["type"] == "span":
		        blocked[span["label"]].update(span["blocked"])
		        other[span["label"]].update({name: span[name] for name in ("on_cpu_ns", "detached_ns", "blocked_ns")})
		        other[span["label"]]["blocked_ns"] -= span["blocked"]["page_fault"]
		for label, parts in blocked.items():
		    print(label, dict(other[label]), {name: ns for name, ns in parts.items() if ns})
		waits = {"journal": "disk", "lock accounts": "lock", "clear": "network", "rate limit": "sleep", "clearing house": "sleep"}
		if sys.argv[2]:
		    del waits["journal"]
		for label, reason in waits.items():
		    if not 0 < blocked[label][reason] >= 0.9 * other[label]["blocked_ns"]:
		        sys.exit(f"{label} should have been blocked by {reason}")
		for label in ("validate", "checksum", "print"):
		    if not other[label]["on_cpu_ns"] > 20 * other[label]["blocked_ns"]:
		        sys.exit(f"{label} only computes, and is said to have been blocked")
		for label in ("deposit", "transfer", "withdraw", "audit", "statement", "receipt"):
		    if not other[label]["detached_ns"]:
		        sys.exit(f"{label} goes through a queue, and is said never to have been detached")
	END
}

check "the bank runs under the tracer and ends well" run_bank
check "no money was made or lost while it was traced" conserved
check "launched: every transaction was traced" all_traced
check "the log has as many spans of each kind as the bank counted, and balances" holds_counts
check "what each step waits for is what it is made to wait for" tells_the_stories
finish
