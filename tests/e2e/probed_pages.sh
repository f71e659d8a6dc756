#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A page of the traced file that is not in memory is read by us before the
# kernel has to, which ext4 warns of. What the kernel would do cannot be seen
# after the first time; that each place is read before its link is made, can.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

reads_before_it_links() {
	cp "$programs/probe_loop" "$tmp/app"
	timeout 120 strace -f -o "$tmp/calls" -e trace=pread64,bpf "$recorder" -q -o "$tmp/app.txtrace" --func "$tmp/app:main" --func 'libc:nanosleep' \
		-- "$tmp/app" --iterations 10 >"$tmp/out" 2>"$tmp/err" || fail "it ended with $?: $(cat "$tmp/err")" || return
	# Of our own program, which runs, features and costs are tried before.
	awk '/BPF_LINK_CREATE.*attach_type=(0x30|BPF_TRACE_UPROBE_MULTI)/ { n++; if (last ~ /pread64\(.*, 16, [0-9]+\) = /) read_cnt++; else if (read_cnt) { print; bad = 1 } }
		/pread64|BPF_LINK_CREATE/ { last = $0 }
		END { print n, "links,", read_cnt, "behind a read"; exit bad || read_cnt < 6 }' "$tmp/calls"
}

if ! command -v strace >/dev/null; then
	echo "ok 1 - probed_pages # SKIP there is no strace"
	echo "1..1"
	exit 0
fi
if "$recorder" --check --json | jq -e '.rows[] | select(.subject == "uprobe_multi") | .found | startswith("all")' >/dev/null; then
	check "each place is read before its probe is made" reads_before_it_links
else
	echo "ok 1 - probed_pages # SKIP no uprobe_multi, whose links the trace shows"
	number=1
fi
finish
