#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A wait in io_uring is for what the request is for that ends it, whoever completes that.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
need_account

why_not() {
	"$programs/rings" --wait-traced 0 --on timeout 2>&1 >"$tmp/trial" | sed -n 's/^io_uring: //p'
	kernel_since 5.19 || echo "before Linux 5.19 completions do not tell their request"
}

# Reads of a file, with O_DIRECT, by io_uring: not where files are in memory. On a busy machine one or another is there before the thread sleeps.
reads_are_disk() {
	local TMPDIR=/var/tmp
	export TMPDIR
	launch "disk$1" rings $1 disk --repeat 10 || return
	jq -s '[.[] | select(.type == "span") | .blocked] | [map(.disk), map(.network + .poll + .pipe + .sleep)] | map(add)' "$tmp/disk$1.txtrace.jsonl" >"$tmp/sums"
	jq -e '.[0] > 0 and .[1] * 10 < .[0]' "$tmp/sums" >/dev/null || fail "blocked on disk, and in other polls: $(cat "$tmp/sums")"
}

reason=$(why_not)
if [ -n "$reason" ]; then
	echo "ok 1 - rings # SKIP no io_uring: $reason"
	echo "1..1"
	exit 0
fi
check "requests have their reasons" holds launch plain rings --repeat 5
check "also where the thread completes them itself" holds launch deferred rings deferred --repeat 5
check "also where completions do not tell it, but what is in flight does" holds launch counted rings counted --repeat 3
if is_in_memory /var/tmp; then
	number=$((number + 1))
	echo "ok $number - reads of a file are for the disk # SKIP /var/tmp is in memory"
else
	check "reads of a file are for the disk" reads_are_disk ""
	check "also where the thread completes them itself: reads of a file" reads_are_disk deferred
fi
finish
