#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Who waits for whom, on programs that know.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

# A span that waits for a mutex, and one that has it.
lock_is_blamed() {
	launch lock lock --repeat 40 || return
	"$reader" blame --json "$tmp/lock.txtrace" >"$tmp/blame.json" || return
	python3 $e2e/check_waits.py blame "$tmp/blame.json" "$tmp/lock.txtrace.jsonl"
}

# The same, of single spans. One whose wakeup was not seen proves nothing, so some are asked.
span_is_told() {
	local id pid said=
	while read -r id pid; do
		"$reader" show --json --pid "$pid" "$tmp/lock.txtrace" "$id" >"$tmp/show.json" </dev/null || return
		"$reader" critical-path --json --pid "$pid" "$tmp/lock.txtrace" "$id" >"$tmp/path.json" </dev/null || return
		said=$(python3 $e2e/check_waits.py span "$tmp/show.json" "$tmp/path.json" "$tmp/lock.txtrace.jsonl") && return
	done < <(jq -r 'select(.type == "span" and .label == "waiter") | "\(.id) \(.pid)"' "$tmp/lock.txtrace.jsonl" | head -n 4)
	fail "$said"
}

storm() { # storm NAME ARGUMENT...
	local name=$1
	shift
	launch "$name" wake_storm "$@" || return
	python3 $e2e/check_waits.py storm "$tmp/$name.truth" "$tmp/$name.txtrace.jsonl"
}

check "who waits for a mutex waits on the span that has it" lock_is_blamed
check "one of them shows it, and its critical path leads through the one that has it" span_is_told
check "a storm of wakeups: each has its waker" storm storm --repeat 6000 --threads 8 --tokens 3
check "a storm of many threads: each has its waker" storm crowd --repeat 6000 --threads 60 --tokens 20
finish
