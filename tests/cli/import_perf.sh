#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The text of perf script, ftrace and trace-cmd as a log: made texts with known answers, and texts that somebody has changed.
# TXTRACE_HOSTILE_FILES: how many of the latter (60); TXTRACE_SEED: others. tests/e2e/perf_texts.sh has the tools' own text.
# shellcheck source=tests/cli/import.sh
. tests/cli/import.sh || exit

seed=${TXTRACE_SEED:-1}
count=${TXTRACE_HOSTILE_FILES:-60}
python3 tests/cli/import_perf_files.py make "$tmp" || exit 1

sound() {
	run 0 verify log.txtrace || fail "verify: $(cat "$tmp/out")"
}

# The stories begin at 100 s. Times are ms since then.
ms='def ms: . / 1e6; def at: . / 1e6 - 1e5;'

records() { # records TYPE JQ EXPECTED: what jq makes of the records of this type, in one line
	local found
	found=$(jq -rc "$ms select(.type == \"$1\") | $2" "$tmp/records" | tr '\n' ' ' | sed 's/ $//')
	[ "$found" = "$3" ] || fail "$1: $found, not $3"
}

says() { # says SENTENCE...: all that the import said
	diff <([ $# = 0 ] || printf 'txtrace: %s\n' "$@") "$tmp/said_of_import"
}

no_pids='threads whose process is not given, each taken for a process of its own (perf script -F +pid, ftrace'"'"'s option record-tgid)'
# on-CPU, runnable, blocked, stopped, unknown
span='[.label, .tid, (.begin_ns | at), (.wall_ns | ms), (.on_cpu_ns | ms), (.runnable_ns | ms), (.blocked.other | ms), (.blocked.stopped | ms), (.unknown_ns | ms)]'
run='[.tid, .cpu, (.begin_ns | at), (.end_ns | at), (.blocked_ns | ms), (.runnable_ns | ms), .left_as, .reason // ""]'
wake='[.tid, (.time_ns | at), .waker_tid, .interrupt, .waker_unknown]'

life() { # life FILE PIDS INTERRUPT: the same story, whoever tells it
	import 0 "life_$1.txt" && sound || return
	records span "$span" \
		'["web server",10,0,20,9,5,6,0,0] ["worker-1",11,1,19,13,0,1,5,0] ["sort",12,15,5,3,0,2,0,0] ["young",13,5,15,5,6,4,0,0]' &&
		records run "$run" \
			'[10,0,0,4,0,0,"blocked","other"] [11,1,1,11,0,0,"blocked","stopped"] [10,0,12,15,6,2,"preempted",""] [13,1,11,16,0,6,"blocked","other"] [12,0,15,18,0,0,"blocked","other"] [11,1,16,19,5,0,"blocked","other"] [10,0,18,20,0,3,"dead",""]' &&
		records span '[.tid, .pid]' "$2" && records wake "$wake" "$3" || return
	records instant '[.tid, (.time_ns | at), (.name | sub("sched:"; ""))]' '[10,20,"sched_process_exit"]' && records loss . '' &&
		records header '[.start_monotonic_ns | at]' '[0]'
}

perf_text() {
	life perf '[10,10] [11,11] [12,12] [13,13]' '[13,5,11,false,true] [10,10,11,false,true] [11,16,13,false,true]' &&
		says "$no_pids: 4" && records thread 'select(.exit or (.seed | not)) | [.tid, .exit]' '[13,false] [10,true]' || return
	# a thread that is woken before it has a line of its own has no process yet, and its wakeup is left out
	life perf_pid '[10,10] [11,10] [12,12] [13,10]' '[10,10,11,false,true] [11,16,13,false,true]' && says
}

ftrace_text() {
	life ftrace '[10,10] [11,10] [12,12] [13,10]' '[10,10,11,false,false] [11,16,0,true,false]' && says || return
	life trace_cmd '[10,10] [11,11] [12,12] [13,13]' '[13,5,11,false,true] [10,10,11,false,true] [11,16,13,false,true]' && says "$no_pids: 4"
}

lost() { # lost FILE: what was open when events were lost is unknown, and marked
	import 0 "lost_$1.txt" && sound || return
	records span "$span + [.lower_bound, .loss]" '["web server",10,0,14,0,0,2,0,12,true,true] ["worker-1",11,0,14,0,0,0,0,14,true,true]' &&
		records loss '[(.first_ns | at), (.last_ns | at), .cpu, .sched_event_cnt]' '[3,10,1,17]' &&
		grep -q "^txtrace: events that were lost before they were printed: 17$" "$tmp/said_of_import"
}

all_lost() {
	lost perf && lost perf_pid && lost ftrace && lost trace_cmd || return
	import 0 overwritten.txt && records loss '[(.first_ns | at), (.last_ns | at), .cpu, .sched_event_cnt]' '[0,0,65535,30]' &&
		says "events that were lost before they were printed: 30"
}

with_pairs() {
	import 0 --pairs probe_app:work=probe_app:work__return pairs.txt && sound || return
	records span "$span + [.unfinished]" \
		'["work",10,7.5,1,1,0,0,0,0,false] ["work",10,1,8,3,1,4,0,0,false] ["web server",10,0,10,5,1,4,0,0,false] ["work",11,9.5,0.5,0.5,0,0,0,0,true] ["worker-1",11,9,1,1,0,0,0,0,false]' &&
		records span 'select(.label == "work") | .parent' '2 1 4' || return
	says "$no_pids: 2" "spans of pairs that did not end, unfinished spans: 1" "ends of pairs whose begin is not in the text: 1" \
		"lines of stacks, which are left out: 1" || return
	run 2 import --pairs work -o log.txtrace pairs.txt && grep -q "'work' is no list of BEGIN=END, or one of more than 32$" "$tmp/err"
}

changes() {
	import 0 exec.txt && sound && says && records thread '[.pid, .comm]' '[7,"sort"] [7,"uniq"]' && records span "$span" '["uniq",12,1,5,3,1,1,0,0]' || return
	import 0 odd.txt && sound || return
	records span "$span" '["web server",10,0,9,4,0,5,0,0] ["worker-1",11,0,9,4,0,0,0,5]' &&
		says "$no_pids: 2" "sleeps without an event of their wakeup: blocked to their end, in which a wait for a CPU may hide: 1" \
			"switches that do not go with the ones before, so that the time in between is unknown: 1" \
			"events of the idle task, or of threads that are not known, which are left out: 1"
}

damaged() {
	import 0 life_perf.txt && grep '"type":"run"' "$tmp/records" >"$tmp/whole" || return
	import 1 bad.txt && diff "$tmp/whole" <(grep '"type":"run"' "$tmp/records") && [ "$(grep -c '"type":"damage"' "$tmp/records")" = 1 ] || return
	says "'bad.txt', byte 508: a line that is no event of perf script's or ftrace's; it is left out" \
		"'bad.txt', byte 525: an event whose words can't be read; it is left out" \
		"'bad.txt', byte 702: a line of more than 64 KiB; it is left out" "$no_pids: 4" || return
	import 1 cut.txt && diff <(head -n -1 "$tmp/whole") <(grep '"type":"run"' "$tmp/records" | head -n 6) &&
		grep -q "byte 2157: an event whose words can't be read; it is left out$" "$tmp/said_of_import" || return
	import 2 other.txt && grep -q "the format is not recognised: give --format$" "$tmp/err" || return
	import 2 -f perf other.txt && grep -q "can't import 'other.txt': no line in it is an event of perf script's or ftrace's$" "$tmp/err" || return
	: >"$tmp/empty.txt" && import 0 -f ftrace empty.txt && sound
}

# A recording of a machine without txtrace is reported on, and compared.
commands() {
	import 0 life_perf.txt && cp "$tmp/log.txtrace" "$tmp/before.txtrace" && run 0 report --json log.txtrace || return
	[ "$(jq -c '[.labels[] | [.label, .count, .wall_ns.sum]] | sort' "$tmp/out")" = \
		'[["sort",1,5000000],["web server",1,20000000],["worker-1",1,19000000],["young",1,15000000]]' ] || fail "$(jq -c .labels "$tmp/out")" || return
	run 0 blocked log.txtrace && run 0 blame log.txtrace && run 0 workers log.txtrace && run 0 export -f perfetto -o out log.txtrace || return
	(cd "$tmp" && "$txtrace" import -f perf -o piped.txtrace - <life_perf.txt 2>/dev/null && gzip -k life_perf.txt && "$txtrace" import -o packed.txtrace life_perf.txt.gz 2>/dev/null) || return
	run 0 export -f jsonl piped.txtrace && diff <(tail -n +2 "$tmp/records") <(tail -n +2 "$tmp/out") || return
	run 0 export -f jsonl packed.txtrace && diff <(tail -n +2 "$tmp/records") <(tail -n +2 "$tmp/out") || return
	(cd "$tmp" && "$txtrace" diff before.txtrace -- piped.txtrace >out 2>err)
	grep -q "web server: on-CPU mean 9.00 -> 9.00 ms" "$tmp/out" || fail "$(cat "$tmp/err" "$tmp/out")"
}

# Whatever the file holds, the import ends with a status of its own, and what it wrote is a log.
hostile() {
	local file status
	rm -rf "$tmp/hostile"
	python3 tests/cli/import_perf_files.py mutate "$seed" "$count" "$tmp/hostile" "$@" || return
	for file in "$tmp"/hostile/*; do
		timeout 20 "$txtrace" import -f perf --pairs a=b,sched_waking=sched_wakeup -o "$tmp/hostile.txtrace" "$file" >/dev/null 2>"$tmp/err"
		status=$?
		case $status in
		0 | 1) ;;
		2) continue ;;
		*) fail "$(basename "$file") of seed $seed: status $status: $(head -n 5 "$tmp/err")" || return ;;
		esac
		"$txtrace" verify "$tmp/hostile.txtrace" >"$tmp/out" 2>&1
		[ $? = $status ] || fail "$(basename "$file") of seed $seed: $(cat "$tmp/out")" || return
	done
}

check "perf script" perf_text
check "ftrace and trace-cmd" ftrace_text
check "events that were lost" all_lost
check "pairs of events" with_pairs
check "names that change, and switches that are missing" changes
check "lines that are no events" damaged
check "the commands that answer" commands
check "$count changed texts, seed $seed" hostile "$tmp"/life_perf.txt "$tmp"/life_perf_pid.txt "$tmp"/life_ftrace.txt "$tmp"/life_trace_cmd.txt "$tmp"/pairs.txt "$tmp"/lost_ftrace.txt
finish
