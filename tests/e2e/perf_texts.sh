#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A recording of a program that is not ours, by perf sched record and by ftrace: what txtrace says of its text is what perf sched timehist says, and what
# the kernel's own account says.
# runs alone: other tests have threads with line breaks in their names, which perf and ftrace print as they are
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit

finish_early() {
	echo "ok 1 - perf_texts # SKIP $1"
	echo "1..1"
	exit 0
}

[ "$(id -u)" = 0 ] || finish_early "bpf: not root"
command -v perf >/dev/null || finish_early "there is no perf"
subject=$PWD/tests/e2e/perf_subject.py

# Beside threads that outlive the recording and are switched seldom, so that perf lacks nothing of them; and no CPU is idle: some machines hide most switches
# of one that is.
record_with_perf() {
	local status around
	python3 "$subject" around >"$tmp/around" &
	around=$!
	wait_for 60 test -s "$tmp/around" && perf sched record -o "$tmp/perf.data" -- python3 "$subject" crowd >"$tmp/perf.said" 2>&1
	status=$?
	kill -KILL "$around"
	wait "$around" 2>/dev/null
	return $status
}

import() { # import NAME ARGUMENT...: from NAME.txt
	local name=$1
	shift
	"$reader" import -o "$tmp/$name.txtrace" "$@" "$tmp/$name.txt" >"$tmp/$name.said" 2>&1 || fail "$(cat "$tmp/$name.said")" || return
	"$reader" verify "$tmp/$name.txtrace" >"$tmp/out" || fail "$(cat "$tmp/out")" || return
	"$reader" export -f jsonl "$tmp/$name.txtrace" >"$tmp/$name.jsonl"
}

# Of each thread that perf has lost nothing of: the runs, their sum, what it waited for a CPU after wakeups, and what it was off it.
equals_timehist() {
	perf script --ns -i "$tmp/perf.data" >"$tmp/perf.txt" 2>/dev/null && perf sched timehist -i "$tmp/perf.data" >"$tmp/timehist" 2>/dev/null || return
	import perf && python3 tests/e2e/check_timehist.py "$tmp/timehist" "$tmp/perf.jsonl"
}

# perf's records of tasks tell the processes: the program's threads are of one.
tells_processes() {
	perf script --ns -F +pid --show-task-events --show-lost-events -i "$tmp/perf.data" >"$tmp/tasks.txt" 2>/dev/null && import tasks || return
	[ "$(jq -r 'select(.type == "span" and .label == "python3") | .pid' "$tmp/tasks.jsonl" | sort | uniq -c | sort -n | tail -n 1 | awk '{ print $1 }')" -ge 5 ] ||
		fail "$(jq -c 'select(.type == "span" and .label == "python3") | [.pid, .tid]' "$tmp/tasks.jsonl")" || return
	"$reader" report "$tmp/tasks.txtrace" >"$tmp/out" && grep -q python3 "$tmp/out" || fail "$(cat "$tmp/out")"
}

# A buffer of one page and a storm of switches: perf says that it has lost some, and so does the log.
tells_losses() {
	perf record -m 1 -a -e sched:sched_switch -e sched:sched_waking -o "$tmp/lost.data" -- python3 "$subject" crowd >"$tmp/lost.said" 2>&1 || fail "$(cat "$tmp/lost.said")" || return
	perf script --ns --show-lost-events -i "$tmp/lost.data" >"$tmp/lost.txt" 2>/dev/null && import lost || return
	local lost
	lost=$(grep -o 'PERF_RECORD_LOST lost [0-9]*' "$tmp/lost.txt" | awk '{ sum += $3 } END { print sum + 0 }')
	[ "$(jq -s '[.[] | select(.type == "loss") | .sched_event_cnt] | add // 0' "$tmp/lost.jsonl")" = "$lost" ] || fail "$lost are lost: $(cat "$tmp/lost.said")" || return
	echo "lost: $lost"
}

# ftrace with an instance of its own, in a mount namespace of its own: what the log says that the program ran is its own CPU time, to what a switch costs.
equals_own_account() {
	unshare --mount --propagation private bash -c '
		mount -t tracefs tracefs "$1/tracefs" && cd "$1/tracefs" && mkdir instances/txtrace-$$ || exit 3
		trap "cd $1/tracefs && rmdir instances/txtrace-$$" EXIT
		cd instances/txtrace-$$ || exit 3
		echo 1 >options/record-tgid
		echo 20000 >buffer_size_kb
		for event in sched_switch sched_waking sched_wakeup_new sched_process_fork sched_process_exit; do echo 1 >events/sched/$event/enable || exit 3; done
		echo 1 >tracing_on
		python3 "$2" one >"$1/own"
		echo 0 >tracing_on
		cat trace >"$1/ftrace.txt"
	' sh "$tmp" "$subject" || fail "the recording failed" || return
	import ftrace || return
	# shellcheck disable=SC2046 # two numbers
	python3 tests/e2e/check_own_clock.py "$tmp/ftrace.jsonl" "$tmp/ftrace.said" $(cat "$tmp/own")
}

record_with_perf || finish_early "perf can't record here: $(tail -n 1 "$tmp/perf.said" | tr -d '#')"
check "perf script: as perf sched timehist" equals_timehist
check "processes of threads" tells_processes
check "losses of perf" tells_losses
mkdir -p "$tmp/tracefs"
if unshare --mount --propagation private mount -t tracefs tracefs "$tmp/tracefs" 2>/dev/null; then
	check "ftrace: as the thread's own clock" equals_own_account
else
	number=$((number + 1))
	echo "ok $number - ftrace: as the thread's own clock # SKIP bpf: tracefs cannot be mounted"
fi
finish
