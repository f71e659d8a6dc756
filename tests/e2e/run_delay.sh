#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# `runnable` against the run_delay of /proc/PID/schedstat: each wait of a bank that waits for disk, locks, sockets, pipes and timers.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
if [ -n "${TXTRACE_EMULATED:-}" ]; then
	echo "ok 1 - runnable and run_delay # SKIP there is no account of the scheduler in an emulator"
	echo "1..1"
	exit 0
fi
need_account

differs_as_documented() {
	local account
	"$recorder" -q -o "$tmp/bank.txtrace" -- "$programs/bank" --directory "$tmp" --transactions 1500 >"$tmp/bank.out" || fail "ended with $?" || return
	account_so_far && [ ${#account[@]} = 2 ] || fail "the scheduler's account cannot be had" || return
	export_log "$tmp/bank.txtrace" && python3 $e2e/run_delay.py "${account[1]}" "$tmp/bank.txtrace.jsonl" >"$tmp/compared"
	local status=$?
	grep '^# MEASURED' "$tmp/compared" >&3
	[ $status = 0 ] || fail "$(grep -v '^# MEASURED' "$tmp/compared")"
}

exec 3>&1
check "runnable is run_delay, and what is between the wakeup and the queue" differs_as_documented
finish
