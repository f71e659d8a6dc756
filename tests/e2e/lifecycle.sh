#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Beginnings and ends: of the tracer, of the traced program, in every order. The program is never harmed.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
need_account

loop=
tracer=
end_loop() {
	[ -z "$loop" ] || { kill -TERM "$loop" && wait "$loop"; }
	local status=$?
	loop=
	return $status
}
trap 'kill -KILL $loop $tracer 2>/dev/null' EXIT

# A program that marks spans without end and says every 100 ms whether somebody traces it.
start_loop() {
	rm -f "$tmp/loop.out" # what the last loop wrote would end the wait below
	"$programs/probe_loop" --mode begin-end --steps 2000 --rate 5000 --window-ms 100 >"$tmp/loop.out" &
	loop=$!
	wait_for 20 test -s "$tmp/loop.out"
}

last_window_is() { # last_window_is true|false
	tail -n 1 "$tmp/loop.out" | grep -q "\"traced\":$1}"
}

has_windows() { # has_windows COUNT
	[ "$(wc -l <"$tmp/loop.out")" -ge "$1" ]
}

start_tracer() { # start_tracer LOG [OPTION...]
	local log=$1
	shift
	"$recorder" -q -o "$log" -p "$loop" "$@" &
	tracer=$!
	wait_for 20 last_window_is true || fail "the program is not traced"
}

# Once all is set, what the program marks is recorded.
is_recorded() {
	wait_for 20 is_recording $tracer && goes_on
}

goes_on() {
	wait_for 20 has_windows $(($(wc -l <"$tmp/loop.out") + 3)) || fail "the program stands still"
}

balanced() {
	export_log "$1" && is_sound "$1.jsonl"
}

span_cnt() {
	grep -c '"type":"span"' "$1.jsonl"
}

# ---- the tracer ends ----

ends_by_signal() { # ends_by_signal NAME
	start_loop && start_tracer "$tmp/$1.txtrace" && is_recorded || return
	kill -"$1" "$tracer"
	wait "$tracer" || fail "the tracer ended with $?" || return
	wait_for 20 last_window_is false || fail "the program is still traced" || return
	goes_on && end_loop && balanced "$tmp/$1.txtrace" && [ "$(span_cnt "$tmp/$1.txtrace")" -gt 0 ]
}

ends_by_time() {
	start_loop && start_tracer "$tmp/time.txtrace" -d 500ms || return
	wait "$tracer" || fail "the tracer ended with $?" || return
	wait_for 20 last_window_is false || fail "the program is still traced" || return
	goes_on && end_loop && balanced "$tmp/time.txtrace" && [ "$(span_cnt "$tmp/time.txtrace")" -gt 0 ]
}

is_written() {
	"$reader" dump -k span -n 1 "$tmp/killed.txtrace.partial" 2>"$tmp/dump.err" | grep -q .
}

dies_by_kill() {
	start_loop && start_tracer "$tmp/killed.txtrace" || return
	wait_for 20 is_written || fail "nothing is written" || return
	kill -KILL "$tracer"
	wait "$tracer"
	wait_for 20 last_window_is false || fail "the probes stay" || return
	goes_on || return
	end_loop || fail "the program ended with $?"
}

killed_log_is_readable() {
	"$reader" report "$tmp/killed.txtrace.partial" >"$tmp/killed.report" 2>&1
	grep -q loop "$tmp/killed.report" || { cat "$tmp/killed.report" && fail "the report lacks the label"; }
}

bank_survives() {
	local bank
	TMPDIR=$tmp "$programs/bank" --rate 2000 >"$tmp/bank.out" &
	bank=$!
	for _ in 1 2 3 4 5; do
		"$recorder" -q -o "$tmp/survive.txtrace" -p $bank &
		tracer=$!
		sleep 0.7
		kill -KILL $tracer
		wait $tracer
	done
	kill -TERM $bank
	wait $bank || fail "the bank ended with $?: $(cat "$tmp/bank.out")" || return
	grep 'balances=conserved' "$tmp/bank.out"
}

two_at_once() {
	start_loop && start_tracer "$tmp/one.txtrace" || return
	"$recorder" -q -o "$tmp/two.txtrace" -p "$loop" -d 500ms || fail "the second ended with $?" || return
	last_window_is true || fail "the end of the second ended the first" || return
	kill -INT "$tracer"
	wait "$tracer" || fail "the first ended with $?" || return
	end_loop
	balanced "$tmp/one.txtrace" && balanced "$tmp/two.txtrace" && [ "$(span_cnt "$tmp/two.txtrace")" -gt 0 ]
}

# ---- the program ends ----

program_is_killed() {
	start_loop && start_tracer "$tmp/gone.txtrace" || return
	kill -KILL "$loop"
	wait "$loop"
	loop=
	wait_for 20 has_ended "$tracer" || fail "the tracer goes on without a program" || return
	wait "$tracer" || fail "the tracer ended with $?" || return
	balanced "$tmp/gone.txtrace"
}

# Whichever of the two is quicker: the tracer ends by itself, well or with one sentence.
program_ends_early() {
	local pid status
	for pause in 0 0.02 0.05 0.1 0.15 0.2 0.3; do
		"$programs/probe_loop" --seconds 0.1 --steps 1000 >/dev/null &
		pid=$!
		sleep $pause
		timeout 300 "$recorder" -q -o "$tmp/early.txtrace" -p $pid 2>"$tmp/early.err"
		status=$?
		wait $pid || fail "the program ended with $?" || return
		case $status in
		0) ;;
		2) [ "$(wc -l <"$tmp/early.err")" = 1 ] || fail "not one sentence: $(cat "$tmp/early.err")" || return ;;
		*) fail "after $pause s the tracer ended with $status: $(cat "$tmp/early.err")" || return ;;
		esac
	done
}

# ---- a command ----

passes_status() { # passes_status EXPECTED COMMAND...
	local expected=$1
	shift
	"$recorder" -q -o "$tmp/command.txtrace" -- "$@" 2>"$tmp/command.err"
	local status=$?
	[ $status = "$expected" ] || fail "the status is $status, not $expected: $(cat "$tmp/command.err")"
}

passes_streams() {
	[ "$(echo question | "$recorder" -q -o "$tmp/streams.txtrace" -- sh -c 'read -r word; echo "$word answered"; echo aside >&2' 2>"$tmp/aside")" = "question answered" ] &&
		grep -q '^aside$' "$tmp/aside"
}

passes_arguments() {
	[ "$("$recorder" -q -o "$tmp/arguments.txtrace" -- printf '<%s>' 'two words' '' '-q' '--' '*' 2>/dev/null)" = "<two words><><-q><--><*>" ]
}

is_quiet() {
	"$recorder" -q -o "$tmp/quiet.txtrace" -- "$programs/spin" --repeat 1 --output "$tmp/quiet.truth" >"$tmp/quiet.out" 2>&1
	[ ! -s "$tmp/quiet.out" ] || fail "$(cat "$tmp/quiet.out")"
}

reports_at_the_end() {
	"$recorder" -o "$tmp/talk.txtrace" -- "$programs/spin" --repeat 3 --output "$tmp/talk.truth" >"$tmp/talk.out" 2>"$tmp/talk.err"
	cat "$tmp/talk.err" >>"$tmp/talk.out"
	cat "$tmp/talk.out"
	grep -q spin "$tmp/talk.out" && grep -q '0 lost' "$tmp/talk.out" && grep -q "talk.txtrace" "$tmp/talk.out" && ! grep -q $'\033' "$tmp/talk.out"
}

# As sudo sets it up for the user with the number 65534; the files are where that user may read them.
runs_as_invoking_user() {
	local got
	mkdir "$tmp/users" && chown 65534:65534 "$tmp/users" || return
	got=$(SUDO_UID=65534 SUDO_GID=65534 SUDO_USER=nobody "$recorder" -q -o "$tmp/users/user.txtrace" -- sh -c 'id -u; id -g; id -G; grep CapEff /proc/self/status' 2>"$tmp/user.err" |
		tr -s '\t\n' ' ')
	echo "$got" && cat "$tmp/user.err"
	[ "$got" = "65534 65534 65534 CapEff: 0000000000000000 " ]
}

has_recorded() { # has_recorded FILE: more than its header
	[ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -gt 4096 ]
}

ends_with_command() {
	"$recorder" -q -o "$tmp/interrupted.txtrace" -- "$programs/bank" --directory "$tmp" >"$tmp/interrupted.out" &
	tracer=$!
	wait_for 60 has_recorded "$tmp/interrupted.txtrace.partial" || fail "nothing is recorded" || return
	kill -TERM $tracer
	wait $tracer
	grep 'balances=conserved' "$tmp/interrupted.out" || fail "the command was not ended well"
}

check "SIGINT ends the tracer, the program runs on untraced" ends_by_signal INT
check "SIGTERM ends the tracer, the program runs on untraced" ends_by_signal TERM
check "-d ends the tracer, the program runs on untraced" ends_by_time
check "kill -9 of the tracer leaves the program running and untraced" dies_by_kill
check "what the killed tracer wrote can be read" killed_log_is_readable
check "kill -9 of five tracers under load costs the bank nothing" bank_survives
check "two tracers at once both record, one ends, the other goes on" two_at_once
check "kill -9 of the program ends the tracer, and the log is whole" program_is_killed
check "a program that ends while it is attached to is a normal end" program_ends_early
check "a command's exit status is the tracer's" passes_status 7 sh -c 'exit 7'
check "a command that was killed gives 128 and the signal" passes_status 143 sh -c 'kill -TERM $$'
check "a command reads its stdin and writes its stdout and stderr" passes_streams
check "a command gets its arguments as they are" passes_arguments
check "a command runs as the user who called sudo" runs_as_invoking_user
check "a signal to the tracer ends its command, too" ends_with_command
check "with -q it says nothing" is_quiet
check "without, it reports by label, says that 0 were lost and names the file, on no terminal without colours" reports_at_the_end
finish
