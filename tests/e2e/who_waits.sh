#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Who waits for whom, on programs that know.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh
need_bpf

# A span that waits for a mutex, and one that has it.
lock_is_blamed() {
	launch lock lock --repeat 40 || return
	"$reader" blame --json "$tmp/lock.txtrace" >"$tmp/blame.json" || return
	python3 $e2e/check_waits.py blame "$tmp/blame.json" "$tmp/lock.txtrace.jsonl"
}

check "who waits for a mutex waits on the span that has it" lock_is_blamed
finish
