#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The flight recorder: nothing is written before a trigger; then a file that stands alone.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
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

judge() { # judge LOG PYTHON: with its lines, and what the program of storm said
	"$reader" verify "$1" >/dev/null || fail "$1 is not sound" || return
	export_log "$1"
	python3 - "$1.jsonl" "$2" "${1%.txtrace}.loop" <<-'PYTHON'
		import json, os, sys, textwrap
		lines = [json.loads(line) for line in open(sys.argv[1])]
		of = lambda kind: [line for line in lines if line["type"] == kind]
		loop = json.loads(open(sys.argv[3]).readline()) if os.path.exists(sys.argv[3]) else None
		assert lines[-1]["complete"], lines[-1]
		assert len(of("trigger")) == 1, of("trigger")
		trigger = of("trigger")[0]
		threads = {(thread["pid"], thread["tid"]) for thread in of("thread")}
		nameless = {(run["pid"], run["tid"]) for run in of("run")} - threads
		assert not nameless, f"threads that nothing tells of: {nameless}"
		assert of("process"), "no process"
		named = {frames["stack"] for frames in of("frames")}
		assert not [stack for stack in of("stack") if stack["stack"] not in named], "stacks without names"
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
		assert len(span) == 1 and span[0]["blocked_ns"] > 1000000 and span[0]["end_ns"] == trigger["time_ns"], span
		assert trigger["wall_ns"] == span[0]["wall_ns"], trigger' || return
	grep -qE "trigger 'label=sleep and blocked>1ms': sleep, span [0-9]+ of process [0-9]+, took [0-9.]+ ms" "$tmp/span.said" || fail "$(cat "$tmp/span.said")" || return
	"$reader" info "$tmp/span.txtrace" | tee "$tmp/span.info" | grep -qE "^trigger +label=sleep and blocked>1ms: sleep, span [0-9]+ of process [0-9]+, took [0-9.]+ ms$" ||
		fail "$(cat "$tmp/span.info")" || return
	"$reader" report "$tmp/span.txtrace" | grep -qE "^trigger +label=sleep and blocked>1ms: sleep, span" || fail "the report does not say it" || return
	"$reader" report --json "$tmp/span.txtrace" | jq -e '.trigger | .cause == "span" and .label == "sleep" and .wall_ns > 1000000'
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
	wait_for 20 grep -qs "keeps the last part" "$tmp/asked.said" || return
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

# storm NAME OPTION...: what is too much for the memory, until its end
storm() {
	local name=$1
	shift
	"$recorder" --compress none -o "$tmp/$name.txtrace" "$@" -- "$programs/pingpong" --seconds 4 >"$tmp/$name.loop" 2>"$tmp/$name.said"
}

# The last part, up to the end, that has room in it; two batches may be on top of it, and the file's own header and index.
by_size() {
	storm size --flight 1M || return
	[ "$(stat -c %s "$tmp/size.txtrace")" -lt $((2 << 20)) ] || fail "$(stat -c %s "$tmp/size.txtrace") bytes" || return
	judge "$tmp/size.txtrace" '
		runs = of("run")
		assert of("open_span")[0]["time_ns"] > loop["begin_ns"] + (loop["end_ns"] - loop["begin_ns"]) / 10, "nothing has gone"
		assert len(runs) > 1000 and lines[-1]["recorder"]["time_ns"] == trigger["time_ns"], len(runs)'
}

# What is older goes in pieces, each of which begins with the threads that there are; the first would have gone, too, if those behind it were a second.
by_time() {
	storm time --flight 1s || return
	judge "$tmp/time.txtrace" '
		kept = [trigger["time_ns"] - begin for begin in sorted({thread["time_ns"] for thread in of("thread") if thread["seed"]})]
		print(kept)
		assert kept[0] >= 1000000000 and all(piece < 1000000000 for piece in kept[1:]), f"{kept} ns are left"
		assert trigger["time_ns"] - kept[0] > loop["begin_ns"], "nothing has gone"'
}

# by_rule NAME RULE PYTHON PROGRAM...: the span that was the trigger is one for which PYTHON holds
by_rule() {
	local name=$1 rule=$2 holds=$3
	shift 3
	fly "$name" --trigger 'wall>1h' --trigger "$rule" --trigger-max 1/h -- "$programs/$1" "${@:2}" --output "$tmp/$name.truth"
	wait $pid || return
	judge "$tmp/$name.txtrace" "
		span = [span for span in of('span') if span['id'] == trigger['span']][0]
		assert trigger['cause'] == 'span' and trigger['rule'] == '$rule', trigger
		assert $holds, span"
}

by_every_rule() {
	by_rule wall 'wall>4ms and not label=disk' 'span["wall_ns"] > 4000000 and span["label"] != "disk"' waits &&
		by_rule reason 'reason=pipe and blocked>=4ms' 'span["blocked"]["pipe"] == max(span["blocked"].values()) and span["blocked_ns"] >= 4000000' waits &&
		by_rule runnable 'runnable>4ms' 'span["runnable_ns"] > 4000000' starved &&
		by_rule label 'label=st*' 'span["label"].startswith("st")' starved
}

capped() {
	fly capped --trigger 'wall>0ns' --trigger-max 2/h -- "$programs/waits" --output "$tmp/capped.truth"
	wait $pid || return
	[ "$(files capped)" = 2 ] || fail "$(files capped) files" || return
	judge "$tmp/capped.000001.txtrace" 'assert trigger["missed_cnt"] == 0, trigger' && judge "$tmp/capped.txtrace" 'assert trigger["cause"] == "span", trigger'
}

# Everything that may stand in a file of options, at once, with what else a recorder can be asked for; a child process makes the trigger.
all_together() {
	cat >"$tmp/options" <<-END
		follow
		sched = ledger
		sample = 1/1
		label = child
		label = nobody*
		min-duration = 1ns
		irq
		stacks = on-cpu
		flight = 8M,30s
		trigger = label=child and not wall>1h
		trigger = exit
		trigger-after = 10ms
		trigger-max = 1/h
		metrics-file = $tmp/together.prom
		output = $tmp/together.txtrace
	END
	timeout 600 "$recorder" --config "$tmp/options" -- "$programs/family" --children 4 --depth 2 --wait-traced 200 --output "$tmp/family.truth" >/dev/null 2>"$tmp/together.said" ||
		fail "$(cat "$tmp/together.said")" || return
	judge "$tmp/together.txtrace" '
		assert trigger["cause"] == "span" and trigger["label"] == "child", trigger
		assert trigger["pid"] != of("process")[0]["pid"], "it is the first process"
		assert {span["label"] for span in of("span")} == {"child"}, of("span")
		assert not of("run") and not of("wake"), "there is a timeline"' || return
	grep -q '^txtrace_span_wall_seconds_count{label="child"} [1-9]' "$tmp/together.prom" || fail "$(grep child "$tmp/together.prom")" || return
	for view in report "report --cost" tree info; do
		# shellcheck disable=SC2086
		"$reader" $view "$tmp/together.txtrace" | grep -q "no timeline (--sched ledger); only some labels; .*from a flight recorder" || fail "$view says nothing" || return
	done
}

not_asked() {
	! "$recorder" --dump $$ 2>"$tmp/complaint" && grep -q "is no txtrace-bpf that runs with --flight" "$tmp/complaint" &&
		! "$recorder" --flight 1M --trigger 'label=x and wal>5ms' -p 1 2>"$tmp/complaint" &&
		grep -q "at character 13, 'wal' is nothing that a span has; did you mean 'wall'?" "$tmp/complaint" &&
		! "$recorder" --trigger keyed -p 1 2>"$tmp/complaint" && grep -q "need --flight" "$tmp/complaint"
}

check "a span triggers one file, and more are held back and said" by_span
check "without a trigger there is no file" never
check "the end of the recording is a trigger" at_exit
check "SIGUSR1 and --dump: a file each, and nothing is in both" on_request
check "--trigger-after: what comes next is in it" after_it
check "--flight SIZE: the last part that has room, and all definitions" by_size
check "--flight TIME: at least so long, and what is older goes" by_time
check "wall, blocked, runnable, reason and label are triggers" by_every_rule
check "--trigger-max: so many files, and no more" capped
check "every option in a file, with children, ledgers, interrupts, stacks and metrics" all_together
check "what cannot be is refused, with the place" not_asked
finish
