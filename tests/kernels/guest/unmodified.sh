#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Spans of any probes on this kernel. The probes are those of the marks, whose spans are recorded along with them: so it is known how many there are, and what
# each probe's arguments say.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

# spans NAME PROGRAM ARGUMENT... -- OPTION...: NAME.jsonl has its spans
spans() {
	local name=$1 command=("$programs/$2")
	shift 2
	while [ "$1" != -- ]; do
		command+=("$1")
		shift
	done
	shift
	"$recorder" -q -o "$tmp/$name.txtrace" "$@" -- "${command[@]}" >"$tmp/$name.out" 2>"$tmp/$name.err" || fail "ended with $?: $(cat "$tmp/$name.err")" || return
	export_log "$tmp/$name.txtrace" && grep '"type":"span"' "$tmp/$name.txtrace.jsonl" >"$tmp/$name.jsonl"
}

tags() { # tags LABEL <JSONL: of the spans with this label, sorted
	jq -r --arg wanted "$1" 'select(.label == $wanted) | .tag' | sort
}

# Two spans at one place, each with what its own arguments are.
as_the_marks_say() {
	spans marks nested --output "$tmp/truth" -- --span 'named=txtrace:begin(id,label)..txtrace:end(id),key=id,tag=name:str(label)' \
		--span 'numbered=txtrace:begin(id,label)..txtrace:end(id),key=id,tag=id,end-tag=end:id' || return
	jq -r 'select(.label != "named" and .label != "numbered") | "name=" + .label' "$tmp/marks.jsonl" | sort >"$tmp/labels"
	[ -s "$tmp/labels" ] && tags named <"$tmp/marks.jsonl" | diff "$tmp/labels" - || return
	tags numbered <"$tmp/marks.jsonl" >"$tmp/numbers"
	[ "$(wc -l <"$tmp/labels")" = "$(sort -u "$tmp/numbers" | wc -l)" ] && ! grep -vE '^id=([0-9]+),end=\1$' "$tmp/numbers" ||
		fail "$(cat "$tmp/numbers")" || return
	jq -e -s 'all(.unfinished | not) and all(.on_cpu_ns + (.stolen_ns // 0) + .runnable_ns + .blocked_ns + .detached_ns + .unknown_ns == .work_ns)' "$tmp/marks.jsonl" >/dev/null ||
		fail "a span is unfinished, or its ledger does not balance"
}

# More threads than there is room for at a time.
threads_come_and_go() {
	spans threads thread_storm --threads 5000 --seconds 900 -- --span 'own=txtrace:begin..txtrace:end' || return
	local marked own
	marked=$(grep -c '"type":"span".*"label":"life"' "$tmp/threads.jsonl") own=$(grep -c '"type":"span".*"label":"own"' "$tmp/threads.jsonl")
	[ "$marked" = 5000 ] && [ "$own" = "$marked" ] && ! grep -q '"unfinished":true' "$tmp/threads.jsonl" ||
		fail "$own spans for $marked marked ones; $(cat "$tmp/threads.err")"
}

over_threads() {
	spans moved handoff --output "$tmp/truth" -- --span 'moved=txtrace:begin_detached(id)..txtrace:enter(id),key=id' || return
	jq -e -s '(map(select(.label == "queued")) | length) as $queued | map(select(.label == "moved")) | length == $queued and $queued > 0 and
		all(.tid != .end_tid and (.unfinished | not))' "$tmp/moved.jsonl" >/dev/null ||
		fail "$(jq -c '[.label, .tid, .end_tid, .unfinished]' "$tmp/moved.jsonl" | head)"
}

check "two spans at the same probes, with numbers and strings, are as the marks say" as_the_marks_say
check "a number names a span from thread to thread" over_threads
check "threads that come and go leave nothing behind" threads_come_and_go
finish
