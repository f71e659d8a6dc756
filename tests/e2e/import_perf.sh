#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A recording of a program that is not ours, by perf sched record and by ftrace: what txtrace says of its text is what perf sched timehist says, and what
# the kernel's own account says.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh

finish_early() {
	echo "ok 1 - import_perf # SKIP $1"
	echo "1..1"
	exit 0
}

[ "$(id -u)" = 0 ] || finish_early "bpf: not root"
command -v perf >/dev/null || finish_early "there is no perf"
# Threads that wait for each other, for time, and for a CPU
program='
import threading, time, queue
q = queue.Queue()
def work():
    for _ in range(50):
        q.get()
        time.sleep(0.001)
        sum(range(20000))
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for i in range(200):
    q.put(i)
    time.sleep(0.0005)
for thread in threads: thread.join()
'

record_with_perf() {
	perf sched record -o "$tmp/perf.data" -- python3 -c "$program" >"$tmp/perf.said" 2>&1
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
	perf record -m 1 -a -e sched:sched_switch -e sched:sched_waking -o "$tmp/lost.data" -- python3 -c "$program" >"$tmp/lost.said" 2>&1 || fail "$(cat "$tmp/lost.said")" || return
	perf script --ns --show-lost-events -i "$tmp/lost.data" >"$tmp/lost.txt" 2>/dev/null && import lost || return
	local lost
	lost=$(grep -o 'PERF_RECORD_LOST lost [0-9]*' "$tmp/lost.txt" | awk '{ sum += $3 } END { print sum + 0 }')
	[ "$(jq -s '[.[] | select(.type == "loss") | .sched_event_cnt] | add // 0' "$tmp/lost.jsonl")" = "$lost" ] || fail "$lost are lost: $(cat "$tmp/lost.said")" || return
	echo "lost: $lost"
}

# ftrace with an instance of its own, in a mount namespace of its own: what the log says that the program ran is its own CPU time, to what a switch costs.
equals_own_account() {
	mkdir -p "$tmp/tracefs" && unshare --mount --propagation private bash -c '
		mount -t tracefs tracefs "$1/tracefs" && cd "$1/tracefs" && mkdir instances/txtrace-$$ || exit 3
		trap "cd $1/tracefs && rmdir instances/txtrace-$$" EXIT
		cd instances/txtrace-$$ || exit 3
		echo 1 >options/record-tgid
		echo 20000 >buffer_size_kb
		for event in sched_switch sched_waking sched_wakeup_new sched_process_fork sched_process_exit; do echo 1 >events/sched/$event/enable || exit 3; done
		echo 1 >tracing_on
		python3 -c "
import threading, time
def work():
    global own, tid
    tid = threading.get_native_id()
    for _ in range(200):
        time.sleep(0.0005)
        sum(range(20000))
    own = time.thread_time_ns()
thread = threading.Thread(target=work)
thread.start()
thread.join()
print(tid, own)" >"$1/own"
		echo 0 >tracing_on
		cat trace >"$1/ftrace.txt"
	' sh "$tmp" || { [ $? = 3 ] && echo "# no tracefs" && touch "$tmp/no_tracefs" && return; } || fail "the recording failed" || return
	import ftrace || return
	# shellcheck disable=SC2046 # two numbers
	python3 - "$tmp/ftrace.jsonl" $(cat "$tmp/own") "$tmp/ftrace.said" <<-'PY'
		import json, sys
		tid, own = map(int, sys.argv[2:4])
		spans = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8") if '"type":"span"' in line]
		span = next(span for span in spans if span["tid"] == tid)
		runs = sum('"type":"run"' in line and json.loads(line)["tid"] == tid for line in open(sys.argv[1], encoding="utf-8"))
		print(f"{span['on_cpu_ns']} ns on a CPU in {runs} runs, {own} by its own clock; {span['unknown_ns']} unknown, {span['blocked_ns']} blocked")
		# its own clock was read before its end; a switch stands some 20 us from where the clock is stopped, and stolen time counts here alone.
		# Kernels leave out a switch now and then: what passed until the next one is unknown.
		on_cpu, unknown, slack = span["on_cpu_ns"], span["unknown_ns"], runs * 60_000
		sys.exit(not (on_cpu <= own * 1.5 + slack + 20_000_000 and on_cpu + unknown >= own - slack and span["blocked_ns"] + unknown >= 200 * 500_000 and
		              (unknown == 0 or "do not go with the ones before" in open(sys.argv[4], encoding="utf-8").read())))
	PY
}

record_with_perf || finish_early "perf can't record here: $(tail -n 1 "$tmp/perf.said" | tr -d '#')"
check "perf script: as perf sched timehist" equals_timehist
check "processes of threads" tells_processes
check "losses of perf" tells_losses
check "ftrace: as the thread's own clock" equals_own_account
finish
