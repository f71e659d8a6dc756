#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --otel on programs that publish what is no context, or say of themselves what is not so.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
kernel_since 5.13 || {
	echo "ok 1 - hostile programs # SKIP --otel needs Linux 5.13"
	echo "1..1"
	exit
}

# Nothing is made of what is no context; what is one later is seen; the program goes on as if nobody were there.
hostile() { # hostile PROGRAM MODE
	local contexts
	"$recorder" --otel -o "$tmp/hostile.txtrace" -- "$programs/$1" "$2" >"$tmp/reported" 2>"$tmp/said" || fail "$2: ended with $?: $(cat "$tmp/said")" || return
	grep -q '^done$' "$tmp/reported" || fail "$2: the program did not end well" || return
	! grep -q $'\x1b' "$tmp/said" || fail "$2: an escape sequence comes through: $(cat -v "$tmp/said")" || return
	[ "$(grep -c 'txtrace-bpf: process' "$tmp/said")" -le 2 ] || fail "$2: it says too much: $(cat "$tmp/said")" || return
	contexts=$("$reader" export --format jsonl "$tmp/hostile.txtrace" 2>"$tmp/exported" | jq -r 'select(.name == "traceparent") | .value' | sort -u | tr '\n' ' ')
	case $contexts in
	*"-0000000000000006-"* | *"-0000000000000000-"*) fail "$2: $contexts" || return ;;
	*"-000000000000000b-"*) ;;
	*) fail "$2: the context that is one was not seen: $contexts; $(cat "$tmp/said")" || return ;;
	esac
	"$reader" verify "$tmp/hostile.txtrace" >"$tmp/verified" || fail "$2: $(cat "$tmp/verified")"
}

for mode in nowhere odd kernel self half long invalid torn flicker huge unmapped garbage version signature; do
	check "$mode" hostile otel_hostile $mode
done
for mode in nowhere small undefined table counts buckets many circle beyond text key value place odd; do
	check "Node.js: $mode" hostile otel_hostile_nodejs $mode
done
finish
