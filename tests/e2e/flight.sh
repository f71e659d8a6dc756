#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The flight recorder: nothing is written before a trigger; then a file that stands alone.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh
need_bpf

files() { # files NAME: how many there are, the unfinished ones too
	find "$tmp" -name "$1*txtrace*" ! -name '*.jsonl' | wc -l
}

# fly NAME OPTION... -- COMMAND...: in the background, as $pid
fly() {
	local name=$1
	shift
	"$recorder" --flight 8M -o "$tmp/$name.txtrace" "$@" >/dev/null 2>"$tmp/$name.said" &
	pid=$!
}

written() { # written NAME CNT
	[ "$(grep -c "wrote .* from .* ago on" "$tmp/$1.said")" -ge "$2" ]
}

judge() { # judge LOG PYTHON: with its lines
	export_log "$1"
	python3 - "$1.jsonl" "$2" <<-'PYTHON'
		import json, sys, textwrap
		lines = [json.loads(line) for line in open(sys.argv[1])]
		of = lambda kind: [line for line in lines if line["type"] == kind]
		assert lines[-1]["complete"], lines[-1]
		assert len(of("trigger")) == 1, of("trigger")
		trigger = of("trigger")[0]
		threads = {(thread["pid"], thread["tid"]) for thread in of("thread")}
		nameless = {(run["pid"], run["tid"]) for run in of("run")} - threads
		assert not nameless, f"threads that nothing tells of: {nameless}"
		assert of("process"), "no process"
		exec(textwrap.dedent(sys.argv[2]))
	PYTHON
}

by_span() {
	fly span --trigger 'label=sleep and blocked>1ms' --trigger-max 1/h -- "$programs/waits" --output "$tmp/span.truth"
	wait $pid || return
	[ "$(files span)" = 1 ] || fail "$(files span) files" || return
	grep -q "a trigger led to no file" "$tmp/span.said" || fail "nobody says that there were more" || return
	judge "$tmp/span.txtrace" '
		assert trigger["cause"] == "span" and trigger["label"] == "sleep" and trigger["rule"] == "label=sleep and blocked>1ms", trigger
		span = [span for span in of("span") if span["id"] == trigger["span"]]
		assert len(span) == 1 and span[0]["blocked_ns"] > 1000000 and span[0]["end_ns"] == trigger["time_ns"], span'
}

never() {
	fly never --trigger 'wall>1h' -- "$programs/waits" --output "$tmp/never.truth"
	wait $pid || return
	[ "$(files never)" = 0 ] && grep -q "nothing was written: there was no trigger" "$tmp/never.said"
}

at_exit() {
	fly exit -- "$programs/waits" --output "$tmp/exit.truth"
	wait $pid || return
	judge "$tmp/exit.txtrace" '
		assert trigger["cause"] == "exit", trigger
		assert len(of("span")) > 100, len(of("span"))'
}

on_request() {
	fly asked --trigger 'wall>1h' -- "$programs/bank"
	wait_for 20 grep -q "keeps the last part" "$tmp/asked.said" || return
	sleep 0.5
	kill -USR1 $pid
	wait_for 30 written asked 1 || fail "no file after SIGUSR1" || return
	"$recorder" --dump $pid || return
	wait_for 30 written asked 2 || fail "no file after --dump" || return
	kill -TERM $pid
	wait $pid
	[ "$(files asked)" = 2 ] || fail "$(files asked) files" || return
	judge "$tmp/asked.000001.txtrace" 'assert trigger["cause"] == "request", trigger' &&
		judge "$tmp/asked.txtrace" '
			assert trigger["cause"] == "request", trigger
			first = [json.loads(line) for line in open(sys.argv[1].replace("asked.", "asked.000001."))]
			ids = {(span["pid"], span["id"]) for span in of("span")}
			again = [span for span in first if span["type"] == "span" and (span["pid"], span["id"]) in ids]
			assert not again, f"{len(again)} spans are in both files"'
}

after_it() {
	fly after --trigger 'label=sleep' --trigger-max 1/h --trigger-after 300ms -- "$programs/waits" --output "$tmp/after.truth"
	wait $pid || return
	judge "$tmp/after.txtrace" '
		later = [span for span in of("span") if span["begin_ns"] > trigger["time_ns"]]
		assert later, "nothing came after the trigger"'
}

not_asked() {
	! "$recorder" --dump $$ 2>"$tmp/complaint" && grep -q "is no txtrace-bpf that runs with --flight" "$tmp/complaint" &&
		! "$recorder" --flight 1M --trigger 'label=x and wal>5ms' -p 1 2>"$tmp/complaint" &&
		grep -q "at character 13, 'wal' is nothing that a span has; did you mean 'wall'?" "$tmp/complaint" &&
		! "$recorder" --trigger keyed -p 1 2>"$tmp/complaint" && grep -q "are for --flight" "$tmp/complaint"
}

check "a span triggers one file, and more are held back and said" by_span
check "without a trigger there is no file" never
check "the end of the recording is a trigger" at_exit
check "SIGUSR1 and --dump: a file each, and nothing is in both" on_request
check "--trigger-after: what comes next is in it" after_it
check "what cannot be is refused, with the place" not_asked
finish
