#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What this kernel makes of a probe, and that the recorder loads, attaches and leaves without a trace.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh
need_bpf

# The site of include/txtrace.h: nop, nop5, nop10. A probe on the first is a trap (cc); one on another became a call (e8) or was not chosen.
site() { # site [OPTION...]
	"$recorder" -q "$@" -o "$tmp/site.txtrace" -- "$programs/probe_bytes"
}

at_least() { # at_least VERSION
	[ "$(printf '%s\n' "$1" "$(uname -r)" | sort -V | head -n 1)" = "$1" ]
}

suits_the_kernel() {
	local bytes
	bytes=$(site) || return
	echo "the site is $bytes"
	[ "$(uname -m)" = x86_64 ] || { [ "${bytes:0:8}" = 000020d4 ]; return; } # brk
	if at_least 7; then
		[ "${bytes:32:2}${bytes:22:2}" = e8 ] || [[ $bytes == 90*e8* ]] || [[ $bytes == cc* ]]
	else
		[[ $bytes == cc* ]]
	fi
}

is_restored() {
	local before after
	before=$("$programs/probe_bytes" --wait-traced 0) && site >/dev/null && after=$("$programs/probe_bytes" --wait-traced 0) || return
	[ "$before" = "$after" ] || fail "it was $before and is $after"
}

check "the probe's site is what this kernel is fastest with" suits_the_kernel
check "without a tracer the site is as the compiler made it" is_restored
finish
