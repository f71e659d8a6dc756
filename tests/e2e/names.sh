#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Names of functions, probes and presets: with versions, misspelled, lost by strip, never called.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

# A library whose symbols have versions, and a program that calls one of its functions five times, once it may.
make_program() {
	cat >"$tmp/versions.c" <<-'END'
		__attribute__((noinline)) int work_now(int x) { __asm__ volatile("" : "+r"(x)); return x + 1; }
		__asm__(".symver work_now,work_hard@@V_2");
		__attribute__((noinline)) int rest_now(int x) { __asm__ volatile("" : "+r"(x)); return x - 1; }
		__asm__(".symver rest_now,rest_well@@V_2");
	END
	echo 'V_2 { global: work_hard; rest_well; local: *; };' >"$tmp/versions.map"
	cat >"$tmp/worker.c" <<-'END'
		#include <unistd.h>
		int work_hard(int x), rest_well(int x);
		__attribute__((noinline)) int hidden_part(int x) { return work_hard(x); }
		int main(int argc, char **argv)
		{
			char byte;
			int sum = 0;
			(void)argv;
			if (read(0, &byte, 1) < 0)
				return 1;
			for (int i = 0; i < 5; i++)
				sum += hidden_part(i);
			return argc > 5 ? rest_well(sum) : 0;
		}
	END
	${CC:-cc} -O1 -g -shared -fPIC -o "$tmp/libversions.so" "$tmp/versions.c" -Wl,--version-script="$tmp/versions.map" &&
		${CC:-cc} -O1 -g -o "$tmp/worker" "$tmp/worker.c" -L"$tmp" -lversions -Wl,-rpath,"$tmp" &&
		strip -o "$tmp/stripped_worker" "$tmp/worker" && nm "$tmp/libversions.so" | grep -q 'work_hard@@V_2'
}

# record NAME OPTION... -- COMMAND...: what it said
record() {
	local name=$1
	shift
	echo | "$recorder" -o "$tmp/$name.txtrace" "$@" >"$tmp/$name.out" 2>"$tmp/$name.err"
}

# The library is mapped, and its probes are there, before the worker works.
record_worker() { # record_worker NAME OPTION...
	local name=$1 worker recorder_pid
	shift
	mkfifo "$tmp/$name.go" && exec 8<>"$tmp/$name.go"
	"$tmp/worker" <&8 8>&- &
	worker=$!
	wait_for 20 grep -q libversions /proc/$worker/maps || return
	"$recorder" --messages json -o "$tmp/$name.txtrace" "$@" -p $worker >"$tmp/$name.out" 2>"$tmp/$name.err" 8>&- &
	recorder_pid=$!
	wait_for 60 grep -qE '"event":"start"|did you mean' "$tmp/$name.err" || fail "$(cat "$tmp/$name.err")"
	echo >&8
	exec 8>&-
	wait $worker
	wait $recorder_pid
	true
}

# said NAME WORDS
said() {
	grep -qF -e "$2" "$tmp/$1.err" || fail "$(cat "$tmp/$1.err")"
}

silent() { # silent NAME WORDS
	! grep -qF -e "$2" "$tmp/$1.err" || fail "$(cat "$tmp/$1.err")"
}

spans_of() { # spans_of NAME LABEL COUNT
	"$reader" report --json "$tmp/$1.txtrace" | jq -e ".labels[] | select(.label == \"$2\").count == $3" >/dev/null ||
		fail "$("$reader" report "$tmp/$1.txtrace")"
}

a_version_is_no_part_of_a_name() {
	record_worker version --func libversions:work_hard && spans_of version work_hard 5 && silent version "nothing that is mapped"
}

a_misspelled_function_has_a_guess() {
	record_worker function --func libversions:work_herd
	said function "did you mean 'libversions:work_hard'?"
}

a_misspelled_probe_has_a_guess() {
	record probe --span 'x=txtrace:begun..txtrace:end' -- "$programs/spin" --repeat 1 --wait-traced 0 --output "$tmp/spin.truth"
	said probe "did you mean 'txtrace:begin'?"
}

a_misspelled_preset_has_a_guess() {
	! record preset --preset postgres -- true && said preset "did you mean 'postgresql'?"
}

a_stripped_file_is_told() {
	record stripped --func 'stripped_worker:hidden_*' -- "$tmp/stripped_worker"
	said stripped "the file is stripped" && silent stripped "add the macros"
}

what_was_never_called_is_named() {
	record_worker never --func libversions:work_hard,rest_well && spans_of never work_hard 5 &&
		said never "never called while it was recorded: 'rest_well'" && silent never "no spans"
}

nothing_was_called() {
	record_worker nothing --func libversions:rest_well && said nothing "no spans: no probe was hit" &&
		said nothing "never called while it was recorded: 'rest_well'" && "$reader" report "$tmp/nothing.txtrace" | grep -q '^no spans: '
}

# The shell has a child of its own kind and another one; neither is followed.
children_that_are_not_followed_are_told() {
	bash -c 'bash -c "read line <&9" & echo ready; read line <&9; wait' 9<>"$(mkfifo "$tmp/go" && echo "$tmp/go")" >"$tmp/shell.out" &
	local shell=$!
	wait_for 20 grep -q ready "$tmp/shell.out" && wait_for 20 pgrep -P $shell >/dev/null || return
	wait_for 20 sh -c "cmp -s /proc/\$(pgrep -P $shell)/exe /proc/$shell/exe" || return
	record children -d 0.5 --func libc:sem_wait -p $shell
	kill $(pgrep -P $shell) $shell
	wait $shell
	said children "no spans: 1 child was not traced, 1 of them running the same program; -f follows children"
}

left_out() {
	record left --label 'nothing*' -- "$programs/spin" --repeat 2 --wait-traced 0 --output "$tmp/spin.truth"
	"$reader" report "$tmp/left.txtrace" | grep -q '^no spans: .* filtered' || fail "$("$reader" report "$tmp/left.txtrace")"
}

# Who writes the log is said, not only that it is busy.
two_recorders_one_log() {
	"$recorder" --messages json --threads -o "$tmp/busy.txtrace" -- sleep 30 2>"$tmp/busy.first" &
	local first=$!
	wait_for 60 grep -q '"event":"start"' "$tmp/busy.first" && record busy --threads -o "$tmp/busy.txtrace" -- true
	kill -INT $first
	wait $first
	said busy "another recorder writes it"
}

check "a library with versions, and a program that calls it" make_program
check "the version of a symbol is no part of the function's name" a_version_is_no_part_of_a_name
check "a misspelled function: the nearest one is proposed" a_misspelled_function_has_a_guess
check "a misspelled probe" a_misspelled_probe_has_a_guess
check "a misspelled preset" a_misspelled_preset_has_a_guess
check "a stripped file is said to be stripped" a_stripped_file_is_told
check "a function that was never called is named" what_was_never_called_is_named
check "no function was called: no spans, and why" nothing_was_called
check "children that are not followed: said, and what follows them" children_that_are_not_followed_are_told
check "spans that the options left out are why there are none" left_out
check "two recorders, one log: who writes it is said" two_recorders_one_log
finish
