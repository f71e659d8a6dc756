#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The recorder where things go wrong around it: a disk that is full, a start that fails, signals that were set up by whoever started it.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
need_account

loop=
tracer=
storm_cnt=10 # recordings of a storm of threads
[ "${TXTRACE_ALL_STEPS:-0}" = 0 ] || storm_cnt=30
small=$tmp/small # a disk of 256 KiB, if we may mount one
theirs=$(mktemp -d) # nobody may look into the tests' own folder
chown 65534:65534 "$theirs"
trap 'kill -KILL $loop $tracer 2>/dev/null; rm -rf "$theirs"; mountpoint -q "$small" && umount "$small"' EXIT

# A program that marks spans until it is told to stop.
start_loop() {
	rm -f "$tmp/loop.out" # what the last loop wrote would end the wait below
	"$programs/probe_loop" --mode tagged --steps 500 --window-ms 100 >"$tmp/loop.out" &
	loop=$!
	wait_for 20 test -s "$tmp/loop.out"
}

end_loop() {
	kill -TERM "$loop" && wait "$loop" || fail "the program ended with $?" || return
	loop=
}

balanced() {
	export_log "$1" && is_sound "$1.jsonl"
}

# Beside what is said about losses, which a slow machine may have, and about the cost of tracing a loop of marks.
one_sentence() { # one_sentence PATTERN
	cat "$tmp/err"
	sed -i '/events sent/d; /the losses may have touched/d; /tracing takes about/d' "$tmp/err"
	[ "$(wc -l <"$tmp/err")" = 1 ] && grep -qE "^txtrace-bpf: .*($1)" "$tmp/err"
}

# ---- a start that fails ----

leaves_nothing() {
	sleep 1000 &
	loop=$!
	"$recorder" -q -o "$tmp/refused.txtrace" -p $loop 2>"$tmp/err"
	local status=$?
	kill $loop
	[ $status = 2 ] || fail "the status is $status" || return
	ls "$tmp"/refused*
	[ -z "$(ls "$tmp"/refused* 2>/dev/null)" ]
}

# What a crash left gets a number, and is not lost to the starts that fail after it.
keeps_what_a_crash_left() {
	echo precious >"$tmp/crashed.txtrace.partial"
	for _ in 1 2 3; do
		"$recorder" -q -o "$tmp/crashed.txtrace" -p $$ 2>"$tmp/err" && fail "it recorded a shell" && return 1
	done
	ls "$tmp"/crashed*
	[ "$(cat "$tmp/crashed.000001.txtrace")" = precious ] && [ "$(find "$tmp" -name 'crashed*' | wc -l)" = 1 ]
}

# With few descriptors the probes cannot be attached. How few is tried, so that it holds on other kernels.
command_does_not_run_unrecorded() {
	local status limit
	for limit in $(seq 200 -4 36); do
		rm -f "$tmp/ran"
		(ulimit -n $limit && exec "$recorder" -q -o "$tmp/few.txtrace" -- "$programs/probe_loop" --iterations 1 --output "$tmp/ran") 2>"$tmp/err"
		status=$?
		cat "$tmp/err"
		[ $status = 0 ] && continue
		[ $status = 2 ] && ! grep -q 'BPF programs' "$tmp/err" || fail "the status is $status" || return
		sleep 0.5
		[ ! -e "$tmp/ran" ] || fail "it ran" || return
		# with half of that there is no room for the programs either, or for the rings, which are made meanwhile
		(ulimit -n $((limit / 2)) && exec "$recorder" -q -o "$tmp/few.txtrace" -- true) 2>"$tmp/err"
		[ $? = 2 ] && grep -q "no file descriptor is left for the \(BPF programs\|ring buffers\): raise the limit with ulimit -n" "$tmp/err" || fail "$(cat "$tmp/err")"
		return
	done
	fail "it never failed"
}

# ---- the threads that are there at the start ----

# A thread is introduced once, and by then it is not asleep: it has not run yet. The stream tells. Of a thread that the recorder
# meets while it exits, only the last switch tells the end (bpf/sched.bpf.c). A machine that makes thousands of threads a second soon uses a tid again.
each_thread_is_introduced_once() {
	"$programs/thread_storm" --seconds 6000 &
	loop=$!
	for _ in $(seq $storm_cnt); do
		"$recorder" -q -o "$tmp/storm.txtrace" --stream "$tmp/storm.stream" -p $loop -d 30ms >"$tmp/err" 2>&1 || fail "it ended with $?" || return
		! grep . "$tmp/err" || return
		awk '$2 == "thread" && $5 !~ /rename/ { if ($3 in born) { print "before: " born[$3]; print "again: " $0; bad = 1 } born[$3] = $0 }
			$2 == "thread_exit" || ($2 == "switch" && / left=dead/) { delete born[$3] }
			$2 == "thread" && / reason=wait / { split($3, id, "/"); if (id[1] == id[2]) next; print "asleep at birth: " $0; bad = 1 }
			END { exit bad }' "$tmp/storm.stream" || return
	done
	kill $loop
	loop=
}

# The program and the tracer are pinned to different CPUs.
first_stay_is_on_its_cpu() {
	local cpus
	cpus=$(taskset -cp $$ | sed 's/.*: //; s/[-,]/ /g')
	read -r first second _ <<<"$cpus"
	taskset -c "$first" "$programs/probe_loop" --mode begin-end --steps 2000 >"$tmp/pinned.out" &
	loop=$!
	for _ in $(seq 20); do
		taskset -c "$second" "$recorder" -q -o "$tmp/pinned.txtrace" -p $loop -d 50ms || return
		export_log "$tmp/pinned.txtrace"
		! grep '"type":"run"' "$tmp/pinned.txtrace.jsonl" | grep -v "\"cpu\":$first," || return
	done
	kill $loop && wait $loop
	loop=
}

first_thread_is_a_zombie() {
	grep -q '^State:.Z' "/proc/$loop/status"
}

is_traced_without_its_first_thread() {
	"$programs/first_thread_ends" &
	loop=$!
	wait_for 10 first_thread_is_a_zombie || fail "its first thread goes on" || return
	"$recorder" -q -o "$tmp/headless.txtrace" -p $loop || fail "the tracer ended with $?" || return
	wait $loop || fail "the program ended with $?" || return
	loop=
	balanced "$tmp/headless.txtrace" && [ "$(grep -c '"type":"span".*"label":"lives on"' "$tmp/headless.txtrace.jsonl")" = 10 ]
}

# ---- a new program in the same process ----

is_traced_behind_the_exec() {
	"$recorder" -q -o "$tmp/exec.txtrace" -- "$programs/thread_exec" 2>"$tmp/err" || fail "it ended with $?: $(cat "$tmp/err")" || return
	balanced "$tmp/exec.txtrace" || return
	[ "$(grep -c '"type":"span".*"label":"before the exec"' "$tmp/exec.txtrace.jsonl")" = 10 ] || fail "spans before the exec are missing" || return
	[ "$(grep -c '"type":"span".*"label":"after the exec"' "$tmp/exec.txtrace.jsonl")" = 10 ] || fail "spans behind the exec are missing"
}

# Its first thread had ended, so nobody told of the tid that the other one takes over. It loses the CPU under that tid, before the exec is over: while the kernel
# gives its memory back, page by page, a program that goes first wants the same CPU every 0.2 ms.
is_told_of_before_its_exec_is() {
	local cpu busy
	cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
	taskset -c "$cpu" python3 -c 'import os, time; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)); any(time.sleep(0.0002) for _ in iter(int, 1))' &
	busy=$!
	tracer=$busy # so that it is killed, whatever fails
	taskset -c "$cpu" "$programs/first_thread_ends" --memory-mb 256 &
	loop=$!
	wait_for 60 first_thread_is_a_zombie || fail "its first thread goes on" || return
	"$recorder" -q -o "$tmp/taken.txtrace" -p $loop || fail "the tracer ended with $?" || return
	kill $busy
	wait $loop || fail "the program ended with $?" || return
	balanced "$tmp/taken.txtrace" || return
	jq -e -s --argjson pid $loop '[.[] | select(.type == "run" and .tid == $pid)] | length > 0' "$tmp/taken.txtrace.jsonl" >/dev/null ||
		fail "it was on no CPU under the tid of its process" || return
	loop=
	"$reader" verify "$tmp/taken.txtrace" >"$tmp/taken.verified" || fail "$(cat "$tmp/taken.verified")"
}

# ---- signals as others set them up ----

# Some supervisors ignore SIGCHLD, and then nobody may wait for a child.
status_comes_through_ignored_sigchld() {
	python3 -c 'import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])' "$recorder" -q -o "$tmp/chld.txtrace" -- sh -c 'exit 7' 2>"$tmp/err"
	local status=$?
	cat "$tmp/err"
	[ $status = 7 ] || fail "the status is $status"
}

ignores_hangup_under_nohup() {
	start_loop || return
	nohup "$recorder" -q -o "$tmp/nohup.txtrace" -p "$loop" >"$tmp/out" 2>"$tmp/err" &
	tracer=$!
	wait_for 20 grep -q '"traced":true' "$tmp/loop.out" || fail "the program is not traced" || return
	kill -HUP $tracer
	sleep 0.5
	runs $tracer || fail "the hang-up ended it" || return
	kill -TERM $tracer
	wait $tracer || fail "it ended with $?: $(cat "$tmp/err")" || return
	end_loop
}

ends_by_hangup() {
	start_loop || return
	"$recorder" -q -o "$tmp/hup.txtrace" -p "$loop" 2>"$tmp/err" &
	tracer=$!
	wait_for 20 grep -q '"traced":true' "$tmp/loop.out" || fail "the program is not traced" || return
	kill -HUP $tracer
	wait $tracer || fail "it ended with $?: $(cat "$tmp/err")" || return
	end_loop && "$reader" report "$tmp/hup.txtrace" | grep '^loop'
}

# ---- a disk that is full ----

# From here on $small is a disk of 256 KiB.
mount_small() {
	mkdir -p "$small" && mount -t tmpfs -o size=256k none "$small"
}

stops_when_the_log_has_no_room() {
	rm -f "$small"/*
	start_loop || return
	"$recorder" -o "$small/log.txtrace" -p "$loop" >"$tmp/out" 2>"$tmp/err"
	local status=$?
	cat "$tmp/err"
	[ $status = 3 ] || fail "the status is $status" || return
	grep -qE '^txtrace-bpf: recording stopped: No space left.*log.txtrace.partial' "$tmp/err" || fail "it does not say where the log is" || return
	! grep -E 'log\.txtrace($|[^.])' "$tmp/err" || fail "it names a file that is not there" || return
	end_loop && "$reader" report "$small/log.txtrace.partial" | grep '^loop'
}

a_command_outlives_the_disk() {
	rm -f "$small"/*
	"$recorder" -q -o "$small/log.txtrace" -- "$programs/probe_loop" --mode tagged --iterations 1000000 --output "$tmp/outlives" 2>"$tmp/err"
	local status=$?
	one_sentence 'No space left.*partial' && [ $status = 3 ] || fail "the status is $status" || return
	wait_for 200 grep -q '"count"' "$tmp/outlives"
}

stops_when_the_stream_has_no_room() {
	rm -f "$small"/*
	start_loop || return
	"$recorder" -q -o "$tmp/streamed.txtrace" --stream "$small/stream" -p "$loop" 2>"$tmp/err"
	local status=$?
	one_sentence "stream.*small/stream.*No space left.*streamed.txtrace.partial" && [ $status = 3 ] || fail "the status is $status" || return
	end_loop && "$reader" report "$tmp/streamed.txtrace.partial" | grep '^loop'
}

# ---- who owns what is written ----

# As sudo sets it up for the user with the number 65534.
files_are_the_users() {
	SUDO_UID=65534 SUDO_GID=65534 "$recorder" -q -o "$theirs/owned.txtrace" --stream "$theirs/owned.stream" -- true 2>"$tmp/err"
	stat -c '%u %g %a %n' "$theirs/owned.txtrace" "$theirs/owned.stream"
	[ "$(stat -c '%u %g %a' "$theirs/owned.txtrace" "$theirs/owned.stream" | sort -u)" = "65534 65534 600" ]
}

device_stays_as_it_is() {
	local before
	before=$(stat -c '%u %g %a' /dev/null)
	SUDO_UID=65534 SUDO_GID=65534 "$recorder" -q -o "$theirs/device.txtrace" --stream /dev/null -- true 2>"$tmp/err" || return
	[ "$(stat -c '%u %g %a' /dev/null)" = "$before" ]
}

check "a start that fails leaves no file" leaves_nothing
check "starts that fail cost nothing of what a crash left" keeps_what_a_crash_left
check "a command that cannot be recorded does not run" command_does_not_run_unrecorded
check "each thread is introduced once, those that are being born at the start, too" each_thread_is_introduced_once
if [ "$(nproc)" -gt 1 ]; then
	check "who was running at the start was running on its own CPU" first_stay_is_on_its_cpu
fi
check "a process whose first thread has ended is traced" is_traced_without_its_first_thread
check "an exec by another thread than the first ends no tracing" is_traced_behind_the_exec
check "a tid that is taken over by exec is told of before anything that was done under it" is_told_of_before_its_exec_is
check "a command's status comes through where SIGCHLD is ignored" status_comes_through_ignored_sigchld
check "a hang-up ends the recording well" ends_by_hangup
check "under nohup it does not" ignores_hangup_under_nohup
if mount_small 2>/dev/null; then
	check "a full disk ends the recording in one sentence; program and log are whole" stops_when_the_log_has_no_room
	check "a full disk does not end the command" a_command_outlives_the_disk
	check "a stream for which there is no room ends the recording in one sentence" stops_when_the_stream_has_no_room
fi
check "log and stream belong to the user who called sudo, and to nobody else" files_are_the_users
check "a stream into a device leaves the device as it is" device_stays_as_it_is
finish
