#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# W3C's trace context between two processes: the log has the spans under the ids that were sent, in both transports.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

record() { # record NAME OPTION...
	"$recorder" -q -f -o "$tmp/$1.txtrace" "${@:2}" -- "$programs/trace_chain" >"$tmp/$1.out"
}

is_one_tree() { # is_one_tree NAME
	python3 tests/e2e/trace_context_check.py "$reader" "$tmp/$1.txtrace" "$tmp/$1.out"
}

check "requests between two processes are recorded" record probe --marks probe
check "each is one trace, with the ids that were sent" is_one_tree probe
if ! "$recorder" -q --marks ring -o "$tmp/can_mark.txtrace" -- true 2>"$tmp/can_mark" && grep -q "is not possible" "$tmp/can_mark"; then
	skip "the same with marks in shared memory" "$(cat "$tmp/can_mark")"
else
	check "the same with marks in shared memory" record ring --marks ring
	check "are one trace each, too" is_one_tree ring
fi

# OpenTelemetry's exporter gives the same ids.
exports_the_same() {
	"$reader" export --format otlp-json "$tmp/probe.txtrace" >"$tmp/otlp.json" 2>"$tmp/otlp.said" || return
	jq -r '.resourceSpans[].scopeSpans[].spans[] | select(.name == "call") | .traceId + "-" + .spanId' "$tmp/otlp.json" | sort >"$tmp/exported"
	jq -r '.sent | .[3:52]' "$tmp/probe.out" | sort >"$tmp/sent"
	[ -s "$tmp/sent" ] && diff "$tmp/sent" "$tmp/exported"
}
check "what is exported to OpenTelemetry has these ids" exports_the_same

untraced() {
	"$programs/trace_chain" --wait-traced 0 >"$tmp/untraced.out" || return
	jq -e -s 'all(.[]; .sent == .came_in)' "$tmp/untraced.out"
}
check "without a recorder what came in goes on as it is" untraced
finish
