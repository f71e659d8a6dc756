#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --threads: a program without any marks, whose threads are known by their names and by what the kernel accounts for each.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
need_account

# Some kernels leave switches out of their own tracepoint. Of the times around such a switch no record tells: for each thread, what its records
# leave out, how often, and how many there are. What they leave out is allowed for below, but there must be little of it.
hidden_times() { # hidden_times NAME
	local account
	account_so_far || fail "the scheduler's account cannot be had" || return
	python3 $e2e/thread_times.py "${account[@]}" "$tmp/$1.txtrace.jsonl" >"$tmp/$1.hidden" || return
	jq -e 'all(.[]; .gap_cnt * 10 <= .run_cnt + 20)' "$tmp/$1.hidden" >/dev/null || fail "too many records are missing: $(jq -c . "$tmp/$1.hidden")"
}

# read_all NAME: what the four commands say of the log
read_all() {
	local command
	for command in workers blocked neighbours concurrency; do
		"$reader" $command --json "$tmp/$1.txtrace" >"$tmp/$1.$command" || return
	done
	export_log "$tmp/$1.txtrace" && hidden_times "$1"
}

# The program begins when it is told to, which is when the recorder has attached.
attach() { # attach NAME OPTION...
	local name=$1 recorder_pid status program
	shift
	mkfifo "$tmp/$name.go"
	"$programs/unmarked" <"$tmp/$name.go" >"$tmp/$name.truth" &
	program=$!
	exec 8<>"$tmp/$name.go"
	"$recorder" --messages json -o "$tmp/$name.txtrace" --threads "${@//PID/$program}" >"$tmp/$name.out" 2>"$tmp/$name.err" &
	recorder_pid=$!
	wait_for 60 grep -q '"event":"start"' "$tmp/$name.err" || fail "$(cat "$tmp/$name.err")"
	echo >&8
	exec 8>&-
	wait $program || fail "the program ended with $?"
	[ "$name" = exe ] && kill -INT $recorder_pid # it would wait for more of them
	wait $recorder_pid
	status=$?
	[ $status = 0 ] || fail "txtrace-bpf ended with $status: $(cat "$tmp/$name.err")" || return
	read_all "$name"
}

launch_it() { # launch_it NAME COMMAND...
	local name=$1
	shift
	"$recorder" -o "$tmp/$name.txtrace" --threads "${options[@]}" -- "$@" >"$tmp/$name.out" 2>"$tmp/$name.err" || fail "$(cat "$tmp/$name.err")" || return
	grep '^{"sleeps"' "$tmp/$name.out" >"$tmp/$name.truth" && read_all "$name"
}

# says NAME COMMAND EXPRESSION: of jq, with the truth as $t, `hidden(tid)` in ns, what `workers` says as $w, and `near(on_cpu_ns; truth; tid)`. A thread's clock leaves
# out what a hypervisor took.
says() {
	jq -e --argjson t "$(cat "$tmp/$1.truth")" --argjson hidden "$(cat "$tmp/$1.hidden")" --slurpfile w "$tmp/$1.workers" \
		"def hidden(tid): \$hidden[tid | tostring].ns // 0; def stolen(tid): \$hidden[tid | tostring].stolen_ns // 0;
		def after(tid; time_ns): [0, (\$hidden[tid | tostring].last_ns // 0) - time_ns] | max;
		def near(a; b; tid): (a - b | fabs) <= 0.1 * b + 3000000 + hidden(tid) + stolen(tid); $3" "$tmp/$1.$2" >/dev/null ||
		fail "$(cat "$tmp/$1.truth")" "$(cat "$tmp/$1.hidden")" "$(jq -c . "$tmp/$1.$2" | cut -c 1-3000)"
}

each_thread_was_on_a_cpu() {
	says "$1" workers '.threads as $rows | [$t.threads | to_entries[] | .key as $name | .value as $v | $rows[] | select(.thread_name == $name and .tid == $v.tid) |
		near(.on_cpu_ns; $v.on_cpu_ns; .tid) and .stays == 0] | length == 4 and all'
}

# Where the CPU is taken from it just before it sleeps, a part of the sleep is runnable, or all of it.
the_sleeper_slept() {
	says "$1" blocked '[.objects[] | select(.kind == "sleep" and .asked_ns == $t.sleep_ns)] | length == 1 and (.[0] |
		.count <= $t.sleeps and .ns <= $t.threads.sleeper.wall_ns and [.waiters[] | [.kind, .name]] == [["thread", "sleeper"]])' &&
		says "$1" workers '.threads[] | select(.thread_name == "sleeper") | .blocked_ns + .runnable_ns + hidden(.tid) >= $t.sleeps * $t.sleep_ns'
}

who_waited_has_a_name() {
	says "$1" blocked '[.objects[].waiters[].kind] - ["thread", "unseen"] == []' &&
		"$reader" blocked "$tmp/$1.txtrace" | grep -q 'thread sleeper' && ! "$reader" blocked "$tmp/$1.txtrace" | grep -q '(no span)' &&
		"$reader" blocked --by label "$tmp/$1.txtrace" | grep -q 'thread sleeper'
}

# The scheduler counts from the enqueue, leaves out what the hypervisor took, and was asked only while the thread worked. All that the log has of a thread is
# within its life, which goes on for a moment in the kernel after others have been told of its end.
each_waits_for_the_other() {
	says "$1" neighbours '.by == "thread" and ([["left", "right"], ["right", "left"]] as $pairs | [.rows[] as $row | $pairs[] |
		select(.[0] == $row.name) as $pair | $t.threads[$pair[0]] as $v |
		$row.runnable_ns + hidden($v.tid) >= 0.9 * $v.runnable_ns and $row.runnable_ns + ($w[0].threads[] | select(.tid == $v.tid) | .on_cpu_ns) <= $v.life_ns + after($v.tid; $v.joined_ns) and
		([$row.neighbours[] | select(.name == $pair[1])] | length == 1)] | length == 2 and all)'
}

# The means over time, added up, are what the threads did in all.
over_time_is_in_all() {
	jq -s '.[0].threads as $rows | .[1] as $c | ($c.begins_ns | .[length - 1] - .[0]) as $ns |
		[$c.series[] | select(.kind == "threads") | {(.name): ((.means | add) / (.means | length) * $ns)}] | add as $sum |
		[[$sum.running, ([$rows[].on_cpu_ns] | add)], [$sum.runnable, ([$rows[].runnable_ns] | add)], [$sum.blocked, ([$rows[].blocked_ns] | add)]]' \
		"$tmp/$1.workers" "$tmp/$1.concurrency" >"$tmp/sums"
	# What goes on when the log ends has no record of its own: it is in the first, and not in the second.
	jq -e '(.[0] | .[0] >= 0.999 * .[1] and .[0] <= 1.001 * .[1]) and ([.[1:][] | .[0] >= 0.95 * .[1] - 1000000] | all)' "$tmp/sums" >/dev/null || fail "$(jq -c . "$tmp/sums")"
}

the_last_words_fit() {
	grep -q '^cruncher ' "$tmp/$1.out" && ! grep -q 'no spans' "$tmp/$1.out" && grep -q '^next: txtrace workers .*txtrace blocked ' "$tmp/$1.err" &&
		! grep -q 'no probes' "$tmp/$1.err" || fail "$(cat "$tmp/$1.out" "$tmp/$1.err")"
}

all_of_it() {
	each_thread_was_on_a_cpu "$1" && the_sleeper_slept "$1" && who_waited_has_a_name "$1" && each_waits_for_the_other "$1" && over_time_is_in_all "$1"
}

# Marks are left alone: their semaphores stay 0, and no span comes.
marks_are_left_alone() {
	"$recorder" -q --threads -o "$tmp/marked.txtrace" -- "$programs/spin" --repeat 3 --wait-traced 0 --output "$tmp/marked.truth"
	"$reader" info --json "$tmp/marked.txtrace" | jq -e '.records.span // 0 | . == 0' >/dev/null && "$reader" workers --json "$tmp/marked.txtrace" |
		jq -e '[.threads[].on_cpu_ns] | add > 0' >/dev/null
}

refuses() { # refuses WORDS OPTION...
	local words=$1
	shift
	! "$recorder" --threads "$@" -o "$tmp/no.txtrace" -- true 2>"$tmp/no.err" && grep -qF -e "$words" "$tmp/no.err" || fail "$(cat "$tmp/no.err")"
}

what_needs_spans_is_refused() {
	refuses "remove --span" --func libc:malloc && refuses "remove --sample" --sample 1/10 && refuses "remove --sched" --sched ledger &&
		refuses "--trigger exit" --flight 4M --trigger 'tx.wall > 1s'
}

a_flight_recorder_keeps_threads() {
	options=(--flight 8M --trigger exit)
	launch_it flight "$programs/unmarked" --at-once && options=() && each_thread_was_on_a_cpu flight && the_sleeper_slept flight
}

options=()
check "-p: a program without marks is recorded" attach pid -p PID
check "each thread's time on a CPU is what its clock says" each_thread_was_on_a_cpu pid
check "blocked: each sleep is there, and by whom" the_sleeper_slept pid
check "blocked: who waited is a thread by its name" who_waited_has_a_name pid
check "neighbours: threads that share a CPU wait for each other" each_waits_for_the_other pid
check "concurrency: running, runnable and blocked over time are the sums of all threads" over_time_is_in_all pid
check "--exe: the same" attach exe --exe "$(realpath "$programs/unmarked")"
check "--exe: what it says" all_of_it exe
check "-- COMMAND: the same" launch_it command "$programs/unmarked" --at-once
check "-- COMMAND: what it says" all_of_it command
check "the last words show the threads, and what to do next" the_last_words_fit command
options=(-f)
check "-f: the threads of a child" launch_it child sh -c "$programs/unmarked --at-once; true"
check "-f: what it says" all_of_it child
options=()
check "a flight recorder keeps them" a_flight_recorder_keeps_threads
check "marks are left alone" marks_are_left_alone
check "what needs spans is refused" what_needs_spans_is_refused
finish
