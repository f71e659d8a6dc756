#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Marks in shared memory in each mode, of confined programs, and where marks are never completed.
export TXTRACE_MARKS=ring
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

ask() { # ask LOG QUERY: the last row
	"$reader" sql --csv "$1" "$2" | tail -n 1
}

# in_memory LOG CLASS: how many of the events of this class, and of these in shared memory
in_memory() {
	"$reader" report --cost --json "$1" | jq -r ".cost.classes.$2 | \"\\(.events) \\(.in_memory)\""
}

# Whatever it may not do: all 2000 turns with their parts are there, and it marked in so many pools.
confined() { # confined HOW POOLS
	local log=$tmp/$1.txtrace
	"$recorder" -q -o "$log" -- "$programs/counted" --turns 2000 --progress "$tmp/$1.progress" --under "$1" >"$tmp/$1.out" || fail "$1: ended with $?" || return
	[ "$(ask "$log" "SELECT count(*) FROM spans WHERE label = 'part' AND tag = 'a tag that is longer than one piece of it' AND parent IN (SELECT id FROM spans WHERE label = 'turn')")" = 2000 ] ||
		fail "$1: not every span is whole" || return
	[ "$(ask "$log" "SELECT lost_cnt FROM summaries")" = 0 ] || fail "$1: events were lost" || return
	grep -q "^pools $2 locked" "$tmp/$1.out" || fail "$1: $(cat "$tmp/$1.out") instead of $2" || return
	[ "$(in_memory "$log" span)" = "8000 $(($2 * 8000))" ] && [ "$(in_memory "$log" text)" = "2000 $(($2 * 2000))" ] ||
		fail "$1: spans, texts, and those in memory: $(in_memory "$log" span), $(in_memory "$log" text)"
}

sandboxes_that_allow_it() {
	confined docker 1 && confined openssh 1
}

sandboxes_that_refuse() {
	confined chromium 0 && confined refused 0
}

little_memory() {
	confined little-memory 0
}

# All of the pool is locked, and no more: the kernel counts pages that the recorder has mapped, too, as half a page.
locked_memory() {
	local kib
	confined locked 1 || return
	kib=$(awk '{ print $4 }' "$tmp/locked.out")
	[ "$kib" -ge 8192 ] && [ "$kib" -le 16384 ] || fail "not the pool is locked: $(cat "$tmp/locked.out")"
}

# The finished spans are those that the program has counted, and of each time that it was disturbed at most one that it had no time to count.
never_completed() { # never_completed HOW
	local log=$tmp/$1.txtrace ended disturbed found
	"$recorder" -q -o "$log" -- "$programs/cancelled" --how "$1" >"$tmp/$1.out" 2>"$tmp/$1.said" || fail "ended with $?: $(cat "$tmp/$1.said")" || return
	read -r _ ended _ disturbed <"$tmp/$1.out"
	[ "$ended" -gt 100 ] || fail "it has marked $ended spans" || return
	[ "$(ask "$log" "SELECT count(*) FROM spans WHERE label = 'whole' AND unfinished = 0")" = 1000 ] || fail "what came later is not whole" || return
	found=$(ask "$log" "SELECT count(*) FROM spans WHERE label = 'turn' AND unfinished = 0")
	[ "$found" -ge "$ended" ] && [ "$found" -le $((ended + disturbed)) ] || fail "$found spans in the log, $ended had ended, $disturbed times it was disturbed" || return
	[ "$(ask "$log" "SELECT lost_cnt FROM summaries")" -le "$disturbed" ] || fail "more was lost than the marks that were left" || return
	[ "$(in_memory "$log" span | cut -d ' ' -f 2)" -ge $((2 * ended)) ] || fail "not all were marked in memory: $(in_memory "$log" span)" || return
	"$reader" verify "$log" >"$tmp/$1.verified" || fail "$(cat "$tmp/$1.verified")"
}

# 50 of 20 steps: each step ends on the thread on which it did not begin.
coroutines() {
	local log=$tmp/coroutines.txtrace
	"$recorder" -q -o "$log" -- "$programs/coroutines" --count 50 --steps 20 || fail "ended with $?" || return
	[ "$(ask "$log" "SELECT count(*), sum(unfinished), sum(moved) FROM spans WHERE label = 'coroutine'")" = 50,0,50 ] || fail "not 50 coroutines" || return
	[ "$(ask "$log" "SELECT count(*), sum(tid != end_tid), count(tag), sum(unfinished) FROM spans WHERE label = 'step' AND parent IN (SELECT id FROM spans WHERE label = 'coroutine')")" = 1000,1000,1000,0 ] ||
		fail "not every step is whole" || return
	[ "$(ask "$log" "SELECT lost_cnt FROM summaries")" = 0 ] || fail "events were lost" || return
	# 50 begins and ends, each entered and left 21 times; 1000 steps
	[ "$(in_memory "$log" span)" = "4200 4200" ] || fail "spans, and those in memory: $(in_memory "$log" span)"
}

# A child of vfork has its parent's memory, and marks as its parent; one of fork has its own.
children_mark() {
	local log=$tmp/children.txtrace
	cat >"$tmp/children.c" <<-'END'
		#include "shared_memory.h"
		#include <sys/wait.h>
		int main(void)
		{
			while (!TXTRACE_ENABLED())
				usleep(1000);
			wait_for_memory();
			for (int i = 0; i < 200; i++) {
				TXTRACE_SPAN_AS(span, "parent");
				if (vfork() == 0) {
					TXTRACE_EVENT(span, "by vfork");
					_exit(0);
				}
				TXTRACE_EVENT(span, "behind");
				if (i % 10 == 0 && fork() == 0) {
					TXTRACE_SPAN("forked");
					exit(0);
				}
				while (wait(NULL) > 0)
					;
			}
			return 0;
		}
	END
	gcc -O2 -Wall -Werror -Wno-deprecated-declarations -Iinclude -Itests/programs "$tmp/children.c" -o "$tmp/children" || fail "it cannot be compiled" || return
	"$recorder" -q -f -o "$log" -- "$tmp/children" || fail "ended with $?" || return
	[ "$(ask "$log" "SELECT sum(name = 'by vfork'), sum(name = 'behind'), count(DISTINCT tid) FROM instants i WHERE span IN (SELECT id FROM spans WHERE label = 'parent' AND unfinished = 0 AND tid = i.tid)")" = 200,200,1 ] ||
		fail "not what the children of vfork marked" || return
	[ "$(ask "$log" "SELECT sum(label = 'parent'), sum(label = 'forked'), count(DISTINCT pid) FROM spans")" = 200,20,21 ] || fail "not 200 spans of the parent and one of each child" || return
	"$reader" info --json "$log" | jq -e '.shared_memory == { memory_processes: 1, unread_processes: 0 }' >/dev/null || fail "of the log: $("$reader" info "$log" | grep '^marks')" || return
	[ "$(in_memory "$log" mark | cut -d ' ' -f 2)" -ge 400 ] && [ "$(ask "$log" "SELECT lost_cnt FROM summaries")" = 0 ] || fail "marks, and those in memory: $(in_memory "$log" mark)"
}

# A limit: a child of clone(CLONE_VM) without thread-local storage of its own marks where its parent does. What that breaks is counted; it must harm neither the
# program nor the spans of other threads.
shared_thread_storage() {
	local log=$tmp/storage.txtrace
	cat >"$tmp/storage.c" <<-'END'
		#define _GNU_SOURCE
		#include "shared_memory.h"
		#include <pthread.h>
		#include <sched.h>
		#include <sys/mman.h>
		#include <sys/wait.h>
		#define MARK(label) \
			for (int i = 0; i < 100000; i++) { \
				txtrace_span_t span = TXTRACE_BEGIN(label); \
				for (volatile int j = 0; j < 1000; j++) \
					; \
				TXTRACE_END(span); \
			}
		static int be_child(void *unused)
		{
			(void)unused;
			MARK("child");
			return 0;
		}
		static void *be_thread(void *unused)
		{
			MARK("thread");
			return unused;
		}
		int main(void)
		{
			const size_t bytes = 256 << 10;
			char *stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			pthread_t thread;
			int status;
			while (!TXTRACE_ENABLED())
				usleep(1000);
			wait_for_memory();
			if (pthread_create(&thread, NULL, be_thread, NULL) || clone(be_child, stack + bytes, CLONE_VM | SIGCHLD, NULL) < 0)
				return 1;
			MARK("parent");
			return wait(&status) < 0 || status || pthread_join(thread, NULL);
		}
	END
	gcc -O2 -Wall -Werror -Iinclude -Itests/programs "$tmp/storage.c" -o "$tmp/storage" -pthread || fail "it cannot be compiled" || return
	"$recorder" -q -f -o "$log" -- "$tmp/storage" 2>"$tmp/storage.said" || fail "ended with $?: $(cat "$tmp/storage.said")" || return
	"$reader" verify "$log" >"$tmp/storage.verified" || fail "$(cat "$tmp/storage.verified")" || return
	[ "$(ask "$log" "SELECT count(*), sum(unfinished) FROM spans WHERE label = 'thread'")" = 100000,0 ] || fail "the other thread's spans: $(ask "$log" "SELECT count(*), sum(unfinished) FROM spans WHERE label = 'thread'")" || return
	[ "$(ask "$log" "SELECT sent_cnt = received_cnt + lost_cnt FROM summaries")" = 1 ] || fail "sent is not received and lost" || return
	echo "# MEASURED of 200000 spans of a parent and its child, which share one thread's storage, $(ask "$log" "SELECT 200000 - sum(label != 'thread' AND unfinished = 0) FROM spans") are missing or unfinished" >&3
}

# made_with NAME COMPILER OPTION...: a static program marks 500 times.
made_with() {
	printf '#include "shared_memory.h"\nint main(void) { while (!TXTRACE_ENABLED()) usleep(1000); wait_for_memory(); for (int i = 0; i < 500; i++) { TXTRACE_SPAN_AS(span, "static"); TXTRACE_TAG(span, "t"); } return 0; }\n' >"$tmp/static.c"
	"${@:2}" -O2 -Iinclude -Itests/programs "$tmp/static.c" -o "$tmp/$1" || fail "it cannot be compiled" || return
	"$recorder" -q -o "$tmp/$1.txtrace" -- "$tmp/$1" || fail "ended with $?" || return
	[ "$(ask "$tmp/$1.txtrace" "SELECT count(*), count(tag), sum(unfinished) FROM spans WHERE label = 'static'")" = 500,500,0 ] || fail "not 500 spans" || return
	[ "$(in_memory "$tmp/$1.txtrace" span)" = "1000 1000" ] || fail "spans, and those in memory: $(in_memory "$tmp/$1.txtrace" span)"
}

static_programs() {
	made_with static-glibc gcc -static && made_with lto gcc -flto
}

musl_programs() {
	made_with musl musl-gcc && made_with static-musl musl-gcc -static
}

# all_in_memory NAME OPTION... [-- COMMAND... counted]: what `counted` marks is recorded with these options; without a command, a copy of it is started beside.
all_in_memory() {
	local log=$tmp/$1.txtrace counted="$tmp/counted --turns 2000 --progress $tmp/$1.progress --under docker" recorder_pid
	cp "$programs/counted" "$tmp/counted"
	if [ "${*: -1}" = counted ]; then
		# shellcheck disable=SC2086 # words
		"$recorder" -q -o "$log" "${@:2:$#-2}" $counted >/dev/null || fail "$1: ended with $?" || return
	else
		"$recorder" -q -o "$log" "${@:2}" &
		recorder_pid=$!
		wait_for 60 is_recording $recorder_pid && $counted >/dev/null && kill -INT $recorder_pid && wait $recorder_pid || fail "$1: not recorded" || return
	fi
	[ "$(ask "$log" "SELECT count(*), sum(unfinished) FROM spans WHERE label = 'turn'")" = 2000,0 ] && [ "$(in_memory "$log" span)" = "8000 8000" ] ||
		fail "$1: $(ask "$log" "SELECT count(*), sum(unfinished) FROM spans WHERE label = 'turn'") turns; spans, and those in memory: $(in_memory "$log" span)"
}

every_mode() {
	all_in_memory timeline --sched timeline -- counted && all_in_memory ledger --sched ledger -- counted && all_in_memory off --sched off -- counted
}

# Not -a: it would take the memory of other tests' programs.
every_target() {
	all_in_memory exe --exe "$tmp/counted" && all_in_memory container -f -- unshare --pid --fork --mount --mount-proc counted
}

# The file has what was marked in memory before the trigger.
flight() {
	local log=$tmp/flight.txtrace
	"$recorder" --flight 8M --trigger label=coroutine --trigger-max 1/h -o "$log" -- "$programs/coroutines" --count 50 --steps 20 2>"$tmp/flight.said" || fail "ended with $?: $(cat "$tmp/flight.said")" || return
	[ "$(ask "$log" "SELECT count(*), sum(unfinished) FROM spans WHERE label = 'step'")" = 1000,0 ] || fail "$(ask "$log" "SELECT count(*), sum(unfinished) FROM spans WHERE label = 'step'") steps" || return
	"$reader" info "$log" | grep -q '^trigger .*label=coroutine' || fail "no trigger is in the file" || return
	"$reader" verify "$log" >"$tmp/flight.verified" || fail "$(cat "$tmp/flight.verified")"
}

exec 3>&1 # what is measured

check "in each mode of --sched" every_mode
check "by executable, and in a container" every_target
check "in the flight recorder" flight
check "in the sandboxes of Docker and OpenSSH" sandboxes_that_allow_it
check "in Chromium's, and where all shared memory is refused, through probes" sandboxes_that_refuse
check "with little memory, through probes" little_memory
check "with locked memory" locked_memory
check "threads are cancelled within marks" never_completed cancel
check "signal handlers jump out of marks" never_completed jump
check "coroutines go from thread to thread" coroutines
check "children of vfork and fork mark" children_mark
check "threads that share their storage disturb no others" shared_thread_storage
check "static programs, and link-time optimization" static_programs
if command -v musl-gcc >/dev/null; then
	check "programs with musl" musl_programs
else
	number=$((number + 1))
	echo "ok $number - programs with musl # SKIP there is no musl-gcc"
fi
finish
