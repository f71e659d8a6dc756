#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What this kernel makes of a probe, and that the recorder loads, attaches and leaves without a trace.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
shopt -s extglob

# The site of include/txtrace.h: nop, nop5, nop10. A probe on the first is a trap (cc); one on another became a call (e8) or was not chosen.
site() {
	"$recorder" -q -o "$tmp/site.txtrace" -- "$programs/probe_bytes"
}

# Up to 6.17 only a trap. What later kernels make a call of is the 5-byte nop, or the 10-byte nop, behind a move of the stack over the red zone.
suits_the_kernel() {
	local bytes wanted='cc*'
	bytes=$(site) || return
	[ "$(uname -m)" = x86_64 ] || wanted='a00020d4*' # brk 5
	kernel_since 6.18 && wanted='@(cc*|90e8*|900f1f440000488d642480e8*)'
	kernel_since 7.3 && wanted='900f1f440000488d642480e8*'
	# shellcheck disable=SC2053 # a pattern
	[[ $bytes == $wanted ]] || fail "the site is $bytes"
}

is_restored() {
	local before after
	before=$("$programs/probe_bytes" --wait-traced 0) && site >/dev/null && after=$("$programs/probe_bytes" --wait-traced 0) || return
	[ "$before" = "$after" ] || fail "it was $before and is $after"
}

# What is left out by its label is decided in the kernel.
chooses() {
	"$recorder" -q -o "$tmp/chosen.txtrace" "$@" -- "$programs/nested" --output "$tmp/truth" || fail "ended with $?" || return
	export_log "$tmp/chosen.txtrace"
	grep '"type":"span"' "$tmp/chosen.txtrace.jsonl" | jq -r .label | sort -u >"$tmp/labels"
	[ "$(tr '\n' ' ' <"$tmp/labels")" = "family middle " ] || fail "$(cat "$tmp/labels")"
}

says_what_works() {
	"$recorder" --check --span 'x=txtrace:begin..txtrace:end' >"$tmp/check" || fail "$(cat "$tmp/check")" || return
	grep -q 'ok  *unmodified programs' "$tmp/check" || fail "$(cat "$tmp/check")"
}

check "the probe's site is what this kernel is fastest with" suits_the_kernel
check "without a tracer the site is as the compiler made it" is_restored
check "spans are chosen by their labels" chooses --label family --label middle
check "--check says that all of it works" says_what_works
finish
