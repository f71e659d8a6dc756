#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --sched ledger gets the same events of spans, with the same clocks, as --sched timeline, but no switches and wakeups. So what was recorded with those is replayed without
# them, and all ledgers are the same, to the nanosecond.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

without_timeline() { # without_timeline STREAM
	awk 'NR == 1 { print $1, "mode 0/0 0 - sched=ledger steal=exact" } $2 !~ /^(mode|switch|wake|other|move|stack)$/' "$1"
}

same_ledgers() { # same_ledgers PROGRAM [ARGUMENT...]
	local program=$1
	shift
	timeout 600 "$recorder" -q -o "$tmp/live.txtrace" --stream "$tmp/live.stream" -- "$programs/$program" --wait-traced 200 "$@" --output "$tmp/truth" || return
	! grep -q '^[0-9]* loss ' "$tmp/live.stream" || fail "events were lost" || return
	without_timeline "$tmp/live.stream" >"$tmp/ledger.stream" && "$BUILD/replay" "$tmp/live.stream" >"$tmp/timeline.jsonl" &&
		"$BUILD/replay" "$tmp/ledger.stream" >"$tmp/ledger.jsonl" && python3 $e2e/check_ledgers.py "$tmp/timeline.jsonl" "$tmp/ledger.jsonl"
}

check "waits: for every reason" same_ledgers waits --repeat 3
check "lock: who waits for whom" same_ledgers lock --repeat 3
check "shared: several threads at once" same_ledgers shared --repeat 3
check "random: nested, moved, shared and keyed spans" same_ledgers random --spans 60 --seed 3
finish
