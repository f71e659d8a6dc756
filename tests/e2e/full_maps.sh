#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# takes long: 15 s of a CPU
# Tables of the kernel side that a program fills: what finds no room is counted to the last one, in the log and in the report, what found room is whole, and
# what comes afterwards is as if nothing had been. (The rings: overload.sh. Labels and span memory: hostile.sh.)
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

# The limits, as in userspace/record/kernel/kernel_filter.c, include/txtrace/foreign.h and bpf/stack.bpf.c
spans_max=262144 stacks_max=16384 numbers_max=262144 depth_max=128 futexes_max=16384

# fills WHAT COUNT OPTION...: nothing is lost in the rings, which are large, and the recorder waits for the disk. If the kernel takes seconds for a probe, as other
# tests make it do on a slow machine, the recorder says so and lets the program run: then once more.
fills() {
	local what=$1 count=$2 try
	shift 2
	for try in 1 2 3; do
		"$recorder" -q --ring-size 256M --queue-size 512M -o "$tmp/$what.$try.txtrace" "$@" -- "$programs/plenty" --what "$what" --count "$count" 2>"$tmp/$what.err" ||
			fail "it ended with $?: $(cat "$tmp/$what.err")" || return
		grep "the kernel cannot attach probes to" "$tmp/$what.err" || break
	done
	mv "$tmp/$what.$try.txtrace" "$tmp/$what.txtrace"
	"$reader" report --json "$tmp/$what.txtrace" >"$tmp/$what.report" && "$reader" info --json "$tmp/$what.txtrace" >"$tmp/$what.info" || return
	jq -c '[.labels[] | [.label, .count, .lower_bounds.count]]' "$tmp/$what.report"
	jq -c '[.left_out, .losses, .anomalies]' "$tmp/$what.info"
	cat "$tmp/$what.err"
	jq -e '.losses | .balanced and .sent == .received + .lost' "$tmp/$what.info" >/dev/null || fail "sent is not received and lost"
}

# of WHAT LABEL: how many spans are whole, and how many are lower bounds: "whole bounds"
of() {
	jq -r --arg name "$2" '[.labels[] | select(.label == $name)][0] | "\(.count) \(.lower_bounds.count // 0)"' "$tmp/$1.report"
}

# is NAME VALUE WANTED
is() {
	[ "$2" = "$3" ] || fail "$1: $2, not $3"
}

of_info() { # of_info WHAT FIELD
	jq -r ".$2" "$tmp/$1.info"
}

# Those that were pushed out, the longest untouched, never end in the log: they are marked, as many as there are ends that were left out.
open_spans() {
	local whole bounds
	fills spans $((spans_max + 40000)) --sched off --label '*' || return
	read -r whole bounds < <(of spans many)
	is "all of them" $((whole + bounds)) $((spans_max + 40000)) && is "ends left out" "$(of_info spans left_out.mark)" "$bounds" || return
	[ "$bounds" -ge 40000 ] && [ $((2 * whole)) -gt $spans_max ] || fail "$whole whole, $bounds pushed out" || return
	is afterwards "$(of spans after)" "1000 0" && is lost "$(of_info spans losses.lost)" 0
}

# Where the kernel side remembers a key no more, the recorder decides: not one of the others is in the log, and not one of these is missing.
open_keys() {
	fills keys 80000 --sched off --label wanted || return
	is wanted "$(of keys wanted)" "71000 0" && is labels "$(jq '.labels | length' "$tmp/keys.report")" 1 && is "left out" "$(of_info keys left_out.label)" 10000
}

# Spans of threads that it does not know are left out, one for one; those of others are all there.
threads_in_spans() {
	local threads=$((stacks_max + 600)) outer inner bounds
	fills threads $threads --sched off --label '*' || return
	read -r outer bounds < <(of threads outer)
	is "lower bounds" "$bounds" 0 && is "threads that found room" "$outer" $stacks_max || return
	read -r inner bounds < <(of threads inner)
	is "lower bounds" "$bounds" 0 && is "all of them" $((outer + inner + $(of_info threads left_out.no_room))) $((2 * threads)) || return
	is afterwards "$(of threads after)" "1000 0"
}

# Begins without room are lost, and their ends are ends of nothing.
numbered_spans() {
	fills numbers $((numbers_max + 5000)) --sched off --span "number=uprobe:$programs/plenty:begin_number..uprobe:$programs/plenty:end_number,key=arg0" || return
	is spans "$(of numbers number)" "$((numbers_max + 1000)) 0" && is lost "$(of_info numbers losses.lost)" 5000 || return
	is "ends of nothing" "$(of_info numbers anomalies.end_unknown)" 5000 && grep -q '5,000 lost' "$tmp/numbers.err" &&
		grep -q "a table in the kernel was full" "$tmp/numbers.err" && ! grep -q -e --ring-size "$tmp/numbers.err"
}

deep_frames() {
	fills depth $((depth_max + 72)) --sched off --func plenty:go_down --func-returns exits || return
	is spans "$(of depth go_down)" "$((depth_max + 1000)) 0" && is lost "$(of_info depth losses.lost)" 72
}

# All waits are in the log; which code waited for it is known of so many futexes. (Where the time was up before the thread slept, there is no wait.)
many_futexes() {
	local count=$((futexes_max + 1000))
	fills futexes $count || return
	is afterwards "$(of futexes after)" "1000 0" && is whole "$(of futexes many)" "1 0" && is lost "$(of_info futexes losses.lost)" 0 || return
	"$reader" dump -k object "$tmp/futexes.txtrace" | grep -c 'reason=lock' >"$tmp/named"
	is named "$(cat "$tmp/named")" $futexes_max || return
	"$reader" dump -k run "$tmp/futexes.txtrace" | grep 'reason=lock' | grep -o 'object=[^ ]*' | sort -u | wc -l >"$tmp/waited"
	[ "$(cat "$tmp/waited")" -gt $((futexes_max + 500)) ] || fail "$(cat "$tmp/waited") futexes were waited for"
}

# entries_of PID KEY-SIZE MAX-ENTRIES: of the map of that process
entries_of() {
	local id
	id=$(grep -lP "^max_entries:\t$3$" /proc/"$1"/fdinfo/* | xargs grep -lP "^key_size:\t$2$" | xargs grep -hP '^map_id:' | cut -f 2 | sort -u)
	"$BPFTOOL" -j map dump id "$id" | jq length
}

# rebuild FROM TO [PROGRAM]: the file, so many times; the last time it is the program
rebuild() {
	python3 - "$tmp/built" "$@" <<-'END'
		import os, shutil, subprocess, sys
		path, first, last, *program = sys.argv[1:]
		for number in range(int(first), int(last)):
		    os.rename(path, f"{path}.{number}")
		    shutil.copy(program[0], path) if program and number == int(last) - 1 else open(path, "w").close()
		    subprocess.run(["true"])
	END
}

# A file that is built again and again under the name of --exe: until the kernel side has no room for more (it is told of 512), each with a number of its own,
# since the ones before are kept. Someone runs a program behind each, which is when the recorder looks; on a busy machine it looks less often. The last one is a
# program, which is copied there in place, and a target.
replaced_executables() {
	local tracer status kept=0 number=0
	echo >"$tmp/built"
	"$recorder" --messages json -o "$tmp/built.txtrace" --exe "$tmp/built" 2>"$tmp/built.err" &
	tracer=$!
	wait_for 60 grep -qs '"event":"start","message":"recording"' "$tmp/built.err" || fail "it does not record: $(cat "$tmp/built.err")" || return
	until [ "$kept" -gt 500 ] || [ $number -ge 20000 ]; do
		rebuild $number $((number += 300)) && kept=$(entries_of $tracer 16 1024) || return
	done
	rebuild $number $((number + 600)) "$programs/probe_loop" && kept=$(entries_of $tracer 16 1024) || return
	[ "$kept" -gt 500 ] && [ "$kept" -le 513 ] || fail "the kernel side knows $kept of $number" || return
	"$tmp/built" --mode begin-end --rate 1000 --wait-traced 20 --iterations 500 >"$tmp/built.out"
	status=$?
	kill -INT $tracer
	wait $tracer || fail "the recorder ended with $?: $(cat "$tmp/built.err")" || return
	[ $status = 0 ] || fail "it ended with $status: it is not traced" || return
	"$reader" report --json "$tmp/built.txtrace" >"$tmp/built.report" && is spans "$(of built loop | cut -d ' ' -f 1)" 512
}

check "open spans, of which labels are asked for: those pushed out are marked" open_spans
check "open keys: what the kernel side cannot remember, the recorder decides" open_keys
check "threads in spans: what finds no room is left out and counted" threads_in_spans
check "open spans named by a number: what finds no room is lost and counted" numbered_spans
check "calls within each other: what finds no room is lost and counted" deep_frames
check "futexes: all waits are there, and so many have a name" many_futexes
check "executables of one name: the last of very many is a target" replaced_executables
finish
