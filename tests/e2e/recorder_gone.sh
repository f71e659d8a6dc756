#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The target's side of a recorder that is killed with SIGKILL under load, 28 times (make check-all: 100): it runs on, its code is as it was, nobody holds its semaphore, no program of
# the recorder's is left in the kernel, and it is as quick again as it was untraced. (What the log's side keeps: recorder_killed.sh.)
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

target=
tracers=()
trap 'kill -KILL $target "${tracers[@]}" 2>/dev/null; wait 2>/dev/null' EXIT

start_target() {
	cp "$programs/probe_loop" "$tmp/target"
	"$tmp/target" --mode begin-end --steps 300 --window-ms 50 >"$tmp/windows" &
	target=$!
	wait_for 20 test -s "$tmp/windows"
}

begins() {
	tail -n 1 "$tmp/windows" | grep -q '"traced":true'
}

is_untraced() {
	tail -n 1 "$tmp/windows" | grep -q '"traced":false'
}

has_windows() { # has_windows CNT: the last ones are untraced
	[ "$(tail -n "$1" "$tmp/windows" | grep -c '"traced":false')" = "$1" ]
}

start_tracers() { # start_tracers CNT
	local i pid
	for i in $(seq "$1"); do
		"$recorder" -q --ring-size 1M -o "$tmp/gone.$i.txtrace" -p $target 2>"$tmp/err" &
		tracers+=("$!")
	done
	for pid in "${tracers[@]}"; do
		wait_for 60 is_recording "$pid" || fail "one does not record: $(cat "$tmp/err")" || return
		sed -n 's/^prog_id:[[:space:]]*//p' "/proc/$pid"/fdinfo/* 2>/dev/null | sort -u >>"$tmp/ids"
	done
	wait_for 60 begins || fail "it is not traced"
}

kill_tracers() {
	kill -KILL "${tracers[@]}"
	wait "${tracers[@]}" 2>/dev/null
	tracers=()
	rm -f "$tmp"/gone*
	wait_for 60 is_untraced || fail "it is traced though nobody traces"
}

sites_are() { # sites_are STATUS
	python3 $e2e/probe_sites.py "$tmp/target" $target >"$tmp/sites"
	[ $? = "$1" ]
}

present() { # of the programs of all recorders, how many the kernel has
	"$BPFTOOL" -j prog show | jq -r '.[].id' | sort | comm -12 - <(sort -u "$tmp/ids") | wc -l
}

are_gone() {
	[ "$(present)" = 0 ]
}

# While it is traced the sites are others, and the kernel has programs: so the looks below see what they are to see.
is_seen_while_traced() {
	wait_for 60 has_windows 8 # of the untraced program, to be compared with
	start_tracers 1 || return
	sites_are 1 || fail "the sites of a traced program look untouched" || return
	[ "$(present)" -gt 10 ] || fail "the recorder has no programs" || return
	kill_tracers && wait_for 20 are_gone && wait_for 20 sites_are 0
}

# Nine at a time record the same program.
kills_by_nine() {
	local i
	for i in $(seq $((${TXTRACE_KILLS:-54} / 18))); do
		start_tracers 9 && kill_tracers || return
		runs $target || fail "it died in round $i" || return
	done
}

nothing_is_left() {
	wait_for 20 sites_are 0 || return
	! grep -s "$tmp/target" /sys/kernel/tracing/uprobe_events /sys/kernel/debug/tracing/uprobe_events || fail "a uprobe event is left" || return
	wait_for 20 are_gone || fail "$(present) programs are left"
}

# By the CPU time of an iteration. Below the middle between the two that were measured in this run, after the kills as before them.
is_as_quick_as_before() {
	wait_for 60 has_windows 8
	kill -TERM $target
	wait $target || fail "it ended with $?" || return
	target=
	python3 - "$tmp/windows" <<-'END'
		import json, statistics, sys
		windows = [json.loads(line) for line in open(sys.argv[1])]
		first = next(i for i, window in enumerate(windows) if window["traced"])
		last = max(i for i, window in enumerate(windows) if window["traced"])
		def median(some):
		    return statistics.median(w["cpu_ns"] / w["count"] for w in some if w["count"])
		before, traced, after = median(windows[1:first - 1]), median([w for w in windows if w["traced"]]), median(windows[last + 2:])
		print(f"an iteration took {before:.0f} ns untraced, {traced:.0f} traced, {after:.0f} after the last kill")
		sys.exit(not after < (before + traced) / 2)
	END
}

start_target
check "a traced program looks traced, and after a kill untraced" is_seen_while_traced
check "it outlives many more recorders" kills_by_nine
check "no probe is left in it, none in the kernel, no program" nothing_is_left
check "it is as quick as before" is_as_quick_as_before
finish
