#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The page of a log of more than 50 million records in a real browser: a recording of the bank, again and again, so what each label has is known from the short
# log. `make check-all` runs it; some two minutes of a CPU.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
if ! command -v chromium >/dev/null; then
	echo "ok 1 - huge_page # SKIP there is no chromium"
	echo "1..1"
	exit 0
fi

record_count() {
	"$reader" info --json "$1" | jq '[.records[]] | add'
}

# Each round has the records of the short log; where one ends within a span, that span is not whole.
make_logs() {
	"$recorder" -q -o "$tmp/short.txtrace" -- "$programs/bank" --transactions 20000 --rate 2000 >"$tmp/bank.out" || fail "ended with $?" || return
	"$BUILD/bench/log_repeat" --in "$tmp/short.txtrace" --out "$tmp/huge.txtrace" --megabytes 200 >"$tmp/repeated" || return
	[ "$(record_count "$tmp/huge.txtrace")" -gt 50000000 ] || fail "only $(record_count "$tmp/huge.txtrace") records" || return
	for log in short huge; do
		"$reader" report --json "$tmp/$log.txtrace" >"$tmp/$log.json" || return
	done
}

page_is_small() {
	"$reader" view -o "$tmp/huge.html" "$tmp/huge.txtrace" || return
	[ "$(stat -c %s "$tmp/huge.html")" -le 10000000 ] || fail "it has $(stat -c %s "$tmp/huge.html") bytes"
}

opens_in_a_browser() {
	python3 tests/cli/view_browser.py "$tmp" huge >"$tmp/browsed" 2>&1 && ! grep -q "^not ok" "$tmp/browsed" || fail "$(cat "$tmp/browsed")"
}

check "a log of more than 50 million records" make_logs
check "its page has at most 10 MB" page_is_small
check "in a browser it has the figures of the report, and can be used" opens_in_a_browser
finish
