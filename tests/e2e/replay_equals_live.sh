#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The attribution is a function of the stream: replayed without a kernel, what was recorded gives the same records, to the byte.
. tests/e2e/e2e.sh || exit
need_bpf

# records FILE: all but what tells of the capture rather than of the events, and what was looked up in /proc
records() {
	grep -v -e '^{"type":"header"' -e '^{"type":"summary"' -e '^{"type":"open_span"' -e '^{"type":"object"' -e '^{"type":"process"' -e '^{"type":"cost"' "$1"
}

same_records() {
	"$recorder" -q -o "$tmp/live.txtrace" --stream "$tmp/live.stream" -- "$programs/$1" --wait-traced 200 --repeat 3 --output "$tmp/truth" || return 1
	"$reader" export "$tmp/live.txtrace" --format jsonl >"$tmp/live.jsonl" || return 1
	"$BUILD/replay" "$tmp/live.stream" >"$tmp/replayed.jsonl" || return 1
	records "$tmp/live.jsonl" >"$tmp/a"
	records "$tmp/replayed.jsonl" >"$tmp/b"
	grep -q '"type":"span"' "$tmp/a" || fail "no span was recorded" || return 1
	cmp "$tmp/a" "$tmp/b"
}

for program in lock handoff shared waits; do
	check "$program: the replayed records are the live ones" same_records "$program"
done
finish
