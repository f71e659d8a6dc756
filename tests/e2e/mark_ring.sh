#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Marks in shared memory: what no other test asks of them. The known answers and the random programs are asked of both ways (known_answers_ring.sh,
# random_programs_ring.sh).
export TXTRACE_MARKS=ring
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
progress_of() { # progress_of FILE: the number in it
	od -An -t u8 "$1" | tr -d ' '
}

has_turned() { # has_turned FILE CNT
	[ -s "$1" ] && [ "$(progress_of "$1")" -ge "$2" ]
}

start_counted() { # start_counted NAME ARGUMENT...: sets pid
	"$programs/counted" --progress "$tmp/$1.progress" "${@:2}" &
	pid=$!
}

spans_of() { # spans_of LOG LABEL [CONDITION]: how many that have ended
	"$reader" sql --csv "$1" "SELECT count(*) FROM spans WHERE label = '$2' AND unfinished = 0 ${3:-}" | tail -n 1
}

# Each turn has its part, with its tag and its event, and is that part's parent; nothing is lost.
turns_are_whole() { # turns_are_whole LOG CNT
	"$reader" verify "$1" || return
	[ "$(spans_of "$1" turn)" = "$2" ] || fail "$(spans_of "$1" turn) turns instead of $2" || return
	[ "$(spans_of "$1" part "AND tag = 'a tag that is longer than one piece of it' AND parent IN (SELECT id FROM spans WHERE label = 'turn')")" = "$2" ] || fail "not every part is whole" || return
	[ "$("$reader" sql --csv "$1" "SELECT lost_cnt FROM summaries" | tail -n 1)" = 0 ] || fail "events were lost"
}

all_of_a_short_program() {
	"$recorder" -q -o "$tmp/short.txtrace" -- "$programs/counted" --turns 20000 --progress "$tmp/short.progress" || fail "ended with $?" || return
	turns_are_whole "$tmp/short.txtrace" 20000 || return
	"$reader" info "$tmp/short.txtrace" | grep -q '^options .*; marks through shared memory$' || fail "the log does not say how its marks came" || return
	"$reader" info "$tmp/short.txtrace" | grep -q '^marks *read in shared memory: 1 process$' || fail "$("$reader" info "$tmp/short.txtrace" | grep '^marks')"
}

# The log has each span that had ended when the program was killed, and at most one more.
last_mark_is_there() {
	local log=$tmp/killed.txtrace round recorder_pid counted
	for round in 1 2 3 4 5; do
		start_counted killed.$round --turns 1000000000 --sleep-us 20
		"$recorder" -q -o "$log" -p $pid &
		recorder_pid=$!
		wait_for 60 has_turned "$tmp/killed.$round.progress" $((round * 137)) || fail "nothing was marked" || return
		kill -KILL $pid
		wait $pid 2>/dev/null
		wait $recorder_pid || fail "txtrace-bpf ended with $?" || return
		counted=$(spans_of "$log" turn)
		# the first ones may have been before the recorder was there
		# but for a mark in the midst of which it was
		[ "$("$reader" sql --csv "$log" "SELECT lost_cnt FROM summaries" | tail -n 1)" -le 1 ] || fail "events were lost" || return
		[ "$(progress_of "$tmp/killed.$round.progress")" = "$counted" ] || [ "$(($(progress_of "$tmp/killed.$round.progress") + 1))" = "$counted" ] ||
			fail "round $round: $counted turns in the log, $(progress_of "$tmp/killed.$round.progress") had ended" || return
		rm "$log"
	done
}

# At 200 random moments: before there is a pool, as it is made, and after. One recorder follows them all.
killed_at_any_moment() {
	local log=$tmp/moments.txtrace
	mkdir -p "$tmp/moments"
	"$recorder" -q -f -o "$log" -- python3 tests/e2e/kill_programs.py "$programs/counted" "$tmp/moments" 200 7 || fail "ended with $?" || return
	"$reader" verify "$log" >"$tmp/moments.verified" || fail "$(cat "$tmp/moments.verified")" || return
	# each may have been in the midst of a mark
	[ "$("$reader" sql --csv "$log" "SELECT lost_cnt FROM summaries" | tail -n 1)" -le 200 ] || fail "events were lost" || return
	"$reader" sql --csv "$log" "SELECT pid, count(*) FROM spans WHERE label = 'turn' AND unfinished = 0 GROUP BY pid" | tail -n +2 | tr , ' ' >"$tmp/moments.recorded"
	awk 'NR == FNR { recorded[$1] = $2; next }
		{ turns += $2 > 0; had = recorded[$1] + 0; if (had != $2 && had != $2 + 1) { print $1 ": " had " turns in the log, " $2 " had ended"; wrong = 1 } }
		END { if (turns < 100) { print "only " turns + 0 " had marked at all"; wrong = 1 } exit wrong }' "$tmp/moments.recorded" "$tmp/moments/killed" || fail "not what had been marked"
}

# Ten thousand at once, each with a lane of its own; memory comes back for the next ones.
many_threads() {
	local log=$tmp/many.txtrace
	"$recorder" -q --sched ledger -o "$log" -- "$programs/multitude" --threads 50000 --at-once 10000 2>"$tmp/many.said" || fail "ended with $?: $(cat "$tmp/many.said")" || return
	[ "$(spans_of "$log" life)" = 50000 ] || fail "$(spans_of "$log" life) spans of 50000 threads" || return
	[ "$("$reader" sql --csv "$log" "SELECT lost_cnt FROM summaries" | tail -n 1)" = 0 ] || fail "events were lost: $("$reader" dump --kind loss "$log")"
}

records_for() { # records_for NAME SECONDS: of $pid
	"$recorder" -q -d "$2" -o "$tmp/$1.txtrace" -p $pid || fail "$1: txtrace-bpf ended with $?" || return
	"$reader" verify "$tmp/$1.txtrace" || return
	[ "$(spans_of "$tmp/$1.txtrace" turn)" -gt 0 ] || fail "$1: only $(spans_of "$tmp/$1.txtrace" turn) turns" || return
	[ "$("$reader" sql --csv "$tmp/$1.txtrace" "SELECT lost_cnt FROM summaries" | tail -n 1)" = 0 ] || fail "$1: events were lost"
}

# One after the other, also after one that was killed; two at a time: the second one says that it gets nothing.
recorders_follow_each_other() {
	local status=0 killed_pid
	start_counted long --turns 1000000000 --sleep-us 2000
	records_for first 1s && records_for second 1s || status=1
	"$recorder" -q -o "$tmp/to_be_killed.txtrace" -p $pid &
	killed_pid=$!
	wait_for 60 is_recording $killed_pid
	"$recorder" -q -d 1s -o "$tmp/beside.txtrace" -p $pid 2>"$tmp/beside" || status=1
	grep -q "another recorder reads the marks of process $pid in shared memory" "$tmp/beside" || fail "the second one says nothing: $(cat "$tmp/beside")" || status=1
	"$reader" info "$tmp/beside.txtrace" | grep -q '^marks *read in shared memory: 0 processes; not readable: 1 process$' || fail "$("$reader" info "$tmp/beside.txtrace" | grep '^marks')" || status=1
	"$recorder" --marks auto -q -d 1s -o "$tmp/probed.txtrace" -p $pid || status=1
	# nor where it is found only because of its file
	"$recorder" --marks auto -q -d 1s -o "$tmp/found.txtrace" --exe "$programs/counted" || status=1
	"$reader" info "$tmp/found.txtrace" | grep -q '^options .*; marks through probes: another recorder reads' && [ "$(spans_of "$tmp/found.txtrace" turn)" -gt 20 ] ||
		fail "with --exe it does not use probes: $(spans_of "$tmp/found.txtrace" turn) spans, $("$reader" info "$tmp/found.txtrace" | grep '^options')" || status=1
	"$reader" info "$tmp/probed.txtrace" | grep -q '^options .*; marks through probes: another recorder reads' && [ "$(spans_of "$tmp/probed.txtrace" turn)" -gt 20 ] ||
		fail "with auto it does not use probes: $(spans_of "$tmp/probed.txtrace" turn) spans, $("$reader" info "$tmp/probed.txtrace" | grep '^options')" || status=1
	kill -KILL $killed_pid
	wait $killed_pid 2>/dev/null
	[ $status = 0 ] && records_for third 1s || status=1
	kill -KILL $pid
	wait $pid 2>/dev/null
	return $status
}

# More than can be read: what was sent is what was received and what was lost.
overload_is_counted() {
	local log=$tmp/much.txtrace sent received lost ended
	"$recorder" -q -o "$log" -- "$programs/counted" --turns 300000 --progress "$tmp/much.progress" 2>"$tmp/much.said" || fail "ended with $?" || return
	read -r sent received lost < <("$reader" sql --csv "$log" "SELECT sent_cnt, received_cnt, lost_cnt FROM summaries" | tail -n 1 | tr , ' ')
	[ "$sent" = $((received + lost)) ] || fail "$sent sent, $received received, $lost lost" || return
	[ "$sent" -ge 1800000 ] || fail "only $sent sent" || return
	[ "$lost" -gt 0 ] || fail "nothing was lost: the program has to mark more" || return
	# every span that had all its events is exact, the others are lower bounds
	ended=$(spans_of "$log" turn "AND lower_bound = 0")
	[ "$ended" -gt 0 ] || fail "no span is exact"
	"$reader" verify "$log"
}

# What each thread sent is what was received of it and what the losses say of it; how much that is, the program was asked for.
overload_is_counted_by_thread() {
	local tracer
	"$programs/probe_loop" --mode begin-end --threads 2 --wait-traced 60 --iterations 2000000 >"$tmp/threads.said" &
	pid=$!
	"$recorder" -q --sched off -o "$tmp/threads.txtrace" --stream "$tmp/threads.stream" -p $pid 2>"$tmp/threads.err" &
	tracer=$!
	wait $pid || fail "the program ended with $?" || return
	wait $tracer || fail "the tracer ended with $?: $(cat "$tmp/threads.err")" || return
	"$reader" sql --csv "$tmp/threads.txtrace" "SELECT tid || '/' || pid, sum(span_event_cnt) FROM losses WHERE tid GROUP BY 1" | tail -n +2 | tr , ' ' >"$tmp/threads.lost"
	[ "$(wc -l <"$tmp/threads.lost")" = 2 ] || fail "not both threads have losses: the program has to mark more: $(cat "$tmp/threads.lost")" || return
	awk '$2 == "begin" || $2 == "end" { print $3, 1 }' "$tmp/threads.stream" | cat - "$tmp/threads.lost" |
		awk '{ sum[$1] += $2 } END { for (thread in sum) print thread, sum[thread] }' >"$tmp/threads.sums"
	[ "$(cut -d / -f 2 "$tmp/threads.sums" | uniq -c | xargs)" = "2 $pid 4000000" ] || fail "thread, process, events received and lost: $(cat "$tmp/threads.sums")"
}

# The slot is taken in one stay on a CPU, and its time is of the next, in which nothing else is marked. Where the kernel hid that this stay began, the sleep
# before it is known all the same; where it hid the wakeup, too, the thread has not arrived for the kernel side, and the mark says so. A mark without clocks
# knows and says nothing.
held_marks_have_clocks() {
	local log=$tmp/held.txtrace held hidden known
	"$recorder" -q -o "$log" --stream "$tmp/held.stream" -- "$programs/held_marks" >"$tmp/held.said" 2>"$tmp/held.err" || fail "ended with $?: $(cat "$tmp/held.err")" || return
	"$reader" verify "$log" >"$tmp/held.verified" || fail "$(cat "$tmp/held.verified")" || return
	held=$(jq .spans "$tmp/held.said")
	[ "$held" -gt 150 ] || fail "only $held of 200 were held" || return
	hidden=$(awk '$2 == "end" && / not_arrived / && !/ no_clocks / { cnt++ } END { print cnt + 0 }' "$tmp/held.stream")
	known=$("$reader" sql --csv "$log" "SELECT count(*), sum(unknown_ns > 0 AND sleep_ns < 200000) <= $hidden, sum(unknown_ns > 0) < 10 FROM spans WHERE label = 'held'" | tail -n 1)
	[ "$known" = 200,1,1 ] || fail "spans, whether the $hidden that the kernel hid are all that lack their sleep, and whether less than 10 have unknown time: $known"
}

# A mark that was an hour ago, or is an hour ahead, is lost and counted; those around it have their times.
forged_times_are_lost() {
	local log=$tmp/forged.txtrace forged
	"$recorder" -q -o "$log" -- "$programs/forged_times" >"$tmp/forged.said" 2>/dev/null || fail "ended with $?" || return
	"$reader" verify "$log" >"$tmp/forged.verified" || fail "$(cat "$tmp/forged.verified")" || return
	forged=$(jq .events "$tmp/forged.said")
	[ "$forged" -gt 10 ] || fail "only $forged of 50 could be forged" || return
	[ "$("$reader" sql --csv "$log" "SELECT lost_cnt FROM summaries" | tail -n 1)" = "$forged" ] || fail "not $forged were lost" || return
	[ "$("$reader" sql --csv "$log" "SELECT count(*) FROM instants WHERE name = 'true'" | tail -n 1)" = 1000 ] || fail "not all true ones are there" || return
	[ "$("$reader" sql --csv "$log" "SELECT count(*) FROM instants WHERE name = 'forged'" | tail -n 1)" = $((1000 - forged)) ] || fail "a forged one is there" || return
	[ "$(spans_of "$log" span "AND wall_ns < 1000000000")" = 1000 ] || fail "$(spans_of "$log" span "AND wall_ns < 1000000000") spans"
}

# Up to 1 MiB arrives; of what is longer, so many, and that it was cut.
long_texts_arrive() {
	launch long long_texts && compare long || return
	[ "$("$reader" sql --csv "$tmp/long.txtrace" "SELECT name, count(*), sum(truncated) FROM attributes GROUP BY name ORDER BY name" | tail -n +2 | tr '\n' ' ')" = \
		"pieces,12,2 string,12,2 whole,12,2 " ] || fail "not two of each were cut" || return
	# 524,287 bytes, twice, and a comma; no byte of a third tag fits
	[ "$("$reader" sql --csv "$tmp/long.txtrace" "SELECT length(tag), length(replace(tag, 't', '')) FROM spans WHERE label = 'tagged'" | tail -n 1)" = "1048575,1" ] || fail "not the tags" || return
	[ "$("$reader" sql --csv "$tmp/long.txtrace" "SELECT lost_cnt FROM summaries" | tail -n 1)" = 0 ] || fail "marks were lost"
}

# Each mark of the same program is in the cost, as what it was: traps until there was memory, then 50 begins and ends, 36 attributes and 3 tags.
cost_is_told() {
	"$reader" report --cost --json "$tmp/long.txtrace" >"$tmp/cost.json" || return
	jq -e '.cost.classes | [.span, .text] | map([.events, .in_memory]) == [[50, 50], [39, 39]]' "$tmp/cost.json" >/dev/null &&
		jq -e '.cost.classes.mark | .in_memory >= 1 and .in_memory < .events' "$tmp/cost.json" >/dev/null || fail "$(jq -c .cost.classes "$tmp/cost.json")"
}

# A thousand times: each has memory of its own, which goes when it is unloaded.
plugins_come_and_go() {
	local log=$tmp/cycles.txtrace
	"$recorder" -q -o "$log" -- "$programs/plugin_cycles" --plugin "$programs/plugin.so" --cycles 1000 --spans 100 >"$tmp/cycles.said" 2>&1 || fail "ended with $?: $(cat "$tmp/cycles.said")" || return
	[ "$(spans_of "$log" "in the plugin")" = 100000 ] || fail "$(spans_of "$log" "in the plugin") spans" || return
	[ "$("$reader" sql --csv "$log" "SELECT lost_cnt FROM summaries" | tail -n 1)" = 0 ] || fail "events were lost" || return
	jq -R -s -e 'split("\n") | map(fromjson?) | .[0] | .late_kib < .early_kib + 1024' "$tmp/cycles.said" >/dev/null || fail "$(cat "$tmp/cycles.said")"
}

# Object files with an older copy of the header, which know only probes, beside those of today.
headers_can_be_mixed() {
	local marks
	mkdir -p "$tmp/old" && cp tests/header/earlier/txtrace_0_2_0.h "$tmp/old/txtrace.h" || return
	printf '#include "txtrace.h"\nvoid old_work(void);\nvoid old_work(void) { TXTRACE_SPAN("old"); TXTRACE_EVENT(0, "e"); }\n' >"$tmp/old.c"
	printf '#include "txtrace.h"\n#include <unistd.h>\nvoid old_work(void);\nint main(void) { while (!TXTRACE_ENABLED()) usleep(1000); for (int i = 0; i < 500; i++) { TXTRACE_SPAN("new"); old_work(); } return 0; }\n' >"$tmp/new.c"
	gcc -O2 "-I$tmp/old" -c "$tmp/old.c" -o "$tmp/old.o" && gcc -O2 -Iinclude -c "$tmp/new.c" -o "$tmp/new.o" && gcc "$tmp/new.o" "$tmp/old.o" -o "$tmp/mixed" || return
	for marks in ring probe; do
		"$recorder" --marks $marks -q -o "$tmp/mixed.$marks.txtrace" -- "$tmp/mixed" || fail "$marks: ended with $?" || return
		[ "$(spans_of "$tmp/mixed.$marks.txtrace" new)" = 500 ] && [ "$(spans_of "$tmp/mixed.$marks.txtrace" old "AND parent IN (SELECT id FROM spans WHERE label = 'new')")" = 500 ] ||
			fail "$marks: $(spans_of "$tmp/mixed.$marks.txtrace" new) and $(spans_of "$tmp/mixed.$marks.txtrace" old)" || return
	done
}

start_strict() { # sets pid; it marks and ends once 9 is closed
	rm -f "$tmp/hold"
	mkfifo "$tmp/hold" && { "$programs/strict" <"$tmp/hold" & } && pid=$! && exec 9>"$tmp/hold" || return
	wait_for 60 grep -q '^Seccomp:.1' "/proc/$pid/status"
}

# It may neither make memory nor read its clock: the recorder does not begin, and the program lives.
strict_mode_is_refused() {
	local status
	start_strict || return
	"$recorder" -q -d 1s -o "$tmp/strict.txtrace" -p $pid 2>"$tmp/strict.said"
	status=$?
	exec 9>&-
	wait $pid || fail "the program ended with $?" || return
	[ $status != 0 ] && grep -q "process $pid is in seccomp's strict mode.*--marks auto" "$tmp/strict.said" || fail "ended with $status: $(cat "$tmp/strict.said")"
}

# With auto it is recorded, through probes.
strict_mode_has_probes() {
	local log=$tmp/probes.txtrace recorder_pid
	start_strict || return
	"$recorder" --marks auto -q -o "$log" -p $pid 9>&- &
	recorder_pid=$!
	wait_for 60 is_recording $recorder_pid || return
	exec 9>&-
	wait $pid || fail "the program ended with $?" || return
	wait $recorder_pid || fail "txtrace-bpf ended with $?" || return
	[ "$(spans_of "$log" strict)" = 1 ] || fail "$(spans_of "$log" strict) spans instead of 1"
}

# Without the rights that opening the memory takes, probes do; the log says why.
auto_falls_back() {
	local log=$tmp/weak.txtrace
	setpriv --bounding-set=-sys_admin,-checkpoint_restore --inh-caps=-sys_admin,-checkpoint_restore \
		"$recorder" --marks auto -q -o "$log" -- "$programs/counted" --turns 300 --progress "$tmp/weak.progress" 2>"$tmp/weak.said" || fail "ended with $?: $(cat "$tmp/weak.said")" || return
	turns_are_whole "$log" 300 || return
	"$reader" info "$log" | grep -q '^options .*; marks through probes: the memory of processes cannot be opened' || fail "$("$reader" info "$log" | grep '^options')" || return
	! setpriv --bounding-set=-sys_admin,-checkpoint_restore --inh-caps=-sys_admin,-checkpoint_restore \
		"$recorder" --marks ring -q -o "$log.2" -- true 2>"$tmp/weak.said" || fail "--marks ring began" || return
	grep -q -e "--marks ring is not possible: the memory of processes cannot be opened.*--marks probe" "$tmp/weak.said" || fail "$(cat "$tmp/weak.said")"
}

check "all that a short program marks is there, and whole" all_of_a_short_program
check "what a program marked last before it was killed is there" last_mark_is_there
check "the same of 200 programs that are killed at random moments" killed_at_any_moment
check "recorders follow each other, also one that was killed" recorders_follow_each_other
check "50,000 threads that mark twice each, ten thousand at once" many_threads
check "under overload, what was sent is what was received and lost" overload_is_counted
check "the same of each thread" overload_is_counted_by_thread
check "marks with forged times are lost, and counted" forged_times_are_lost
check "a thread that loses its CPU within a mark has its clocks there" held_marks_have_clocks
check "attributes of up to 1 MiB arrive" long_texts_arrive
check "what they cost is told" cost_is_told
check "plugins come and go a thousand times, and memory stays what it was" plugins_come_and_go
check "object files with an older txtrace.h still work, beside others" headers_can_be_mixed
check "a process in strict mode is refused" strict_mode_is_refused
check "with --marks auto it is recorded through probes" strict_mode_has_probes
check "with --marks auto and too few rights, probes do" auto_falls_back
finish
