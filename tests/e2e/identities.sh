#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# takes long: 10 s of a CPU
# A process that is moved between cgroups while it is recorded, and a pid that another process has afterwards: each has its own spans, all of them, and nobody
# else's. (targets.sh: who is in a cgroup, who moves in before it begins.)
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
need_account

tracer=
cgroup=
cleanup() {
	jobs -p | xargs -r kill -KILL 2>/dev/null
	wait 2>/dev/null
	[ -z "$cgroup" ] || rmdir "$cgroup" 2>/dev/null
}
trap cleanup EXIT

start_tracer() { # start_tracer LOG OPTION...: returns once it records
	local log=$1
	shift
	rm -f "$tmp/tracer.err" # of the one before, who said the same
	"$recorder" --messages json -o "$log" "$@" >"$tmp/tracer.out" 2>"$tmp/tracer.err" &
	tracer=$!
	wait_for 60 grep -qs '"event":"start","message":"recording"' "$tmp/tracer.err" || fail "the tracer does not begin: $(cat "$tmp/tracer.err")"
}

end_tracer() { # end_tracer NAME
	kill -INT "$tracer"
	wait "$tracer" || fail "the tracer ended with $?: $(cat "$tmp/tracer.err")" || return
	export_log "$tmp/$1.txtrace"
}

spans_of() { # spans_of NAME PID
	grep '"type":"span"' "$tmp/$1.txtrace.jsonl" | grep -c "\"pid\":$2,"
}

exits_of() { # exits_of NAME PID
	grep '"type":"process"' "$tmp/$1.txtrace.jsonl" | grep "\"pid\":$2," | grep -c '"exit":true'
}

# ---- cgroups ----

# As a service manager's, or a shell's by a wrapper. In v1, each controller has a tree of its own.
make_cgroup() {
	local folder
	for folder in /sys/fs/cgroup/unified /sys/fs/cgroup/pids /sys/fs/cgroup/systemd /sys/fs/cgroup; do
		[ -w "$folder/cgroup.procs" ] && mkdir "$folder/txtrace-moves-$$" 2>/dev/null && cgroup=$folder/txtrace-moves-$$ && outside=$folder && return
	done
	return 1
}

# Its exec is over, which a new name does not tell: it sleeps until it has a tracer.
waits() { # waits PID: in nanosleep or clock_nanosleep
	grep -qE '^(35|230|101|115) ' "/proc/$1/syscall" 2>/dev/null
}

# It waits for a tracer, outside; from the moment that it is in, it has one. A program with threads is moved with all of them.
moved_in() {
	local one many
	"$programs/spin" --repeat 5 --output "$tmp/one.truth" &
	one=$!
	"$programs/many_threads" --threads 4 --repeat 4 --output "$tmp/many.truth" &
	many=$!
	wait_for 20 waits $one && wait_for 20 waits $many || return
	start_tracer "$tmp/in.txtrace" --cgroup "$cgroup" || return
	echo $one >"$cgroup/cgroup.procs" && echo $many >"$cgroup/cgroup.procs" || return
	wait $one && wait $many || fail "a program failed" || return
	end_tracer in || return
	cat "$tmp/one.truth" "$tmp/many.truth" >"$tmp/in.truth"
	compare in && [ "$(spans_of in $one)" = 5 ] && [ "$(exits_of in $one)" = 1 ]
}

# So often the program has said that it was traced: each of its threads has had its turn by then.
has_traced_windows() {
	[ "$(grep -c '"traced":true' "$tmp/running.out")" -ge "$1" ]
}

# Threads that run while they are moved are threads of a target like those that come.
moved_in_while_it_runs() {
	local pid
	"$programs/probe_loop" --mode begin-end --threads 4 --steps 2000 --rate 1000 --window-ms 50 >"$tmp/running.out" &
	pid=$!
	wait_for 20 test -s "$tmp/running.out"
	start_tracer "$tmp/running.txtrace" --cgroup "$cgroup" || return
	echo $pid >"$cgroup/cgroup.procs" || return
	wait_for 60 has_traced_windows 20 || fail "it is not traced" || return
	kill $pid
	wait $pid
	end_tracer running && is_sound "$tmp/running.txtrace.jsonl" || return
	[ "$(jq -rs 'map(select(.type == "span") | .tid) | unique | length' "$tmp/running.txtrace.jsonl")" -ge 4 ] || fail "not each of its threads has spans"
}

# A target stays one until it execs; then it is looked at again: who has left meanwhile is none any more.
moved_out() {
	local stays leaves
	start_tracer "$tmp/out.txtrace" --cgroup "$cgroup" || return
	"$programs/spin" --repeat 3 --output "$tmp/out.truth" &
	stays=$!
	wait_for 20 waits $stays || return
	echo $stays >"$cgroup/cgroup.procs" && echo $stays >"$outside/cgroup.procs" || return
	wait $stays || fail "who was in it for a moment is not traced: $(cat "$tmp/tracer.err")" || return
	bash -c "echo \$\$ >$cgroup/cgroup.procs; echo \$\$ >$outside/cgroup.procs; exec \"$programs/spin\" --wait-traced 0 --repeat 3 --output \"$tmp/left.truth\"" &
	leaves=$!
	wait $leaves || return
	end_tracer out && compare out || return
	[ "$(spans_of out $stays)" = 3 ] && [ "$(spans_of out $leaves)" = 0 ] || fail "$(spans_of out $stays) and $(spans_of out $leaves) spans"
}

# In and out, all the time that it runs: nothing of it is there twice, and nothing is missing.
moved_to_and_fro() {
	local pid mover
	"$programs/many_threads" --threads 8 --repeat 10 --output "$tmp/fro.truth" &
	pid=$!
	wait_for 20 waits $pid || return
	start_tracer "$tmp/fro.txtrace" --cgroup "$cgroup" || return
	echo $pid >"$cgroup/cgroup.procs" || return
	while echo $pid >"$outside/cgroup.procs" && echo $pid >"$cgroup/cgroup.procs"; do
		echo moved
	done >"$tmp/moves" 2>/dev/null &
	mover=$!
	wait $pid || fail "the program ended with $?" || return
	kill $mover 2>/dev/null
	wait $mover
	echo "moved $(wc -l <"$tmp/moves") times"
	[ -s "$tmp/moves" ] || return
	end_tracer fro && compare fro
}

# ---- pids ----

# A named process ends, and a stranger gets its pid: he is nobody's target, and the other one named is recorded all the while.
a_stranger_with_the_pid() {
	local pid other
	cp "$programs/probe_loop" "$tmp/stranger"
	"$programs/spin" --repeat 5 --output "$tmp/first.truth" &
	pid=$!
	"$programs/probe_loop" --mode begin-end --rate 200 >/dev/null &
	other=$!
	start_tracer "$tmp/named.txtrace" -p $pid,$other || return
	wait $pid || fail "the first one ended with $?" || return
	python3 $e2e/spawn_as.py $pid "$programs/spin" --wait-traced 0 --repeat 5 --output "$tmp/stranger.truth" || return
	grep -q "\"pid\":$pid," "$tmp/stranger.truth" && ! grep -vq '"id":"0"' "$tmp/stranger.truth" || fail "the stranger is traced: $(cat "$tmp/stranger.truth")" || return
	kill $other
	wait $other
	wait "$tracer" || return
	export_log "$tmp/named.txtrace" && mv "$tmp/first.truth" "$tmp/named.truth" && compare named || return
	[ "$(spans_of named $pid)" = 5 ] && [ "$(exits_of named $pid)" = 1 ] || fail "$(spans_of named $pid) spans, $(exits_of named $pid) exits"
}

# One process after the other, of two programs, with one pid; both are meant. What they say is at the same addresses, or is not.
two_targets_with_one_pid() {
	local pid
	cp "$programs/spin" "$tmp/first_program"
	cp "$programs/nested" "$tmp/second_program"
	start_tracer "$tmp/both.txtrace" --exe "$tmp/first_program" --exe "$tmp/second_program" || return
	"$tmp/first_program" --repeat 5 --output "$tmp/both.1" &
	pid=$!
	wait $pid || return
	python3 $e2e/spawn_as.py $pid "$tmp/second_program" --repeat 3 --output "$tmp/both.2" || return
	python3 $e2e/spawn_as.py $pid "$tmp/first_program" --repeat 2 --output "$tmp/both.3" || return
	cat "$tmp"/both.[123] >"$tmp/both.truth"
	[ "$(jq -s 'map(.pid) | unique | length' "$tmp/both.truth")" = 1 ] || fail "they had several pids" || return
	end_tracer both && compare both && [ "$(exits_of both $pid)" = 3 ] || fail "$(exits_of both $pid) exits"
}

if make_cgroup; then
	check "moved into a cgroup: traced from then on, with all threads" moved_in
	check "moved into a cgroup while its threads run" moved_in_while_it_runs
	check "moved out of a cgroup: a target until it execs" moved_out
	check "moved in and out all the time: every span once" moved_to_and_fro
else
	number=$((number + 1))
	echo "ok $number - moved between cgroups # SKIP no cgroup can be made here"
fi
check "a stranger with the pid of a target that ended has no spans" a_stranger_with_the_pid
check "three targets, one after the other, with one pid: each has its own" two_targets_with_one_pid
finish
