#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A C++ program as g++ makes it, by --preset libstdcxx: a span for each exception that it throws, and it catches them as ever.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
# shellcheck source=tests/e2e/recording.sh
. tests/e2e/recording.sh || exit
need_bpf
g++ -O1 -pthread -o "$tmp/thrower" $e2e/unmodified/thrower.cc || exit 1
library=$(ldd "$tmp/thrower" | sed -n 's/.*libstdc++.so.6 => \([^ ]*\) .*/\1/p')
if ! "$recorder" --list "$library" 2>/dev/null | grep -q '  libstdcxx:throw('; then
	echo "ok 1 - unmodified_exceptions # SKIP the libstdc++ of this machine has no probes"
	echo "1..1"
	exit 0
fi

rounds=30

exceptions() {
	mkdir "$tmp/folder"
	begin_recording thrown --preset libstdcxx -- "$tmp/thrower" "$tmp/folder" $rounds || return
	wait_for 60 has_span thrown exception || fail "nothing is traced: $(cat "$tmp/thrown.err")" || return
	touch "$tmp/folder/go"
	wait "$tracer" || fail "ended with $?: $(cat "$tmp/thrown.err")" || return
	grep -qx "destroyed=$((10 * rounds)) caught=$rounds again=$((rounds / 3))" "$tmp/thrown.err" || fail "$(cat "$tmp/thrown.err")" || return
	export_log "$tmp/thrown.txtrace"
	same "exceptions of the second thread" "$(spans_of thrown exception '.pid != .tid and (.unfinished | not)')" $((rounds + rounds / 3)) &&
		same "unfinished ones" "$(spans_of thrown exception .unfinished)" 0 && is_whole thrown
}

check "a span for each exception, and each one thrown again" exceptions
finish
