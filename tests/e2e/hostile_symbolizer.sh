#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The process that names code reads files that may be anything: it may do next
# to nothing, nobody else can stop it, and one that hangs holds up no end.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
# shellcheck source=tests/e2e/outside.sh
. tests/e2e/outside.sh || exit
need_bpf

loop=
tracer=
symbolizer=
unwinder=
log=$tmp/named.txtrace
trap 'kill -KILL $symbolizer $loop $tracer 2>/dev/null' EXIT

has_symbolizer() {
	symbolizer=$(child_of_tracer txtrace-symbols)
}

start() { # start [stopped]: the process that names code stops before there is anything to name
	rm -f "$tmp/loop.out" # what the last loop wrote would end the wait below
	"$programs/probe_loop" --mode tagged --steps 20000 --window-ms 50 >"$tmp/loop.out" &
	loop=$!
	wait_for 20 test -s "$tmp/loop.out"
	"$recorder" -q -o "$log" --stacks off-cpu,on-cpu -p $loop 2>"$tmp/err" &
	tracer=$!
	wait_for 60 has_symbolizer || fail "no process names code: $(cat "$tmp/err")" || return
	[ "${1:-}" != stopped ] || kill -STOP "$symbolizer"
	wait_for 60 grep -q '"traced":true' "$tmp/loop.out" || fail "it is not traced: $(cat "$tmp/err")"
}

end_loop() {
	kill "$loop"
	wait "$loop"
	loop=
}

symbolizer_may_do_little() {
	may_do_little "$symbolizer" 20
}

# Of no other process, and of nobody's account.
has_an_id_of_its_own() {
	local uid other
	uid=$(awk '/^Uid:/ { print $2 }' "/proc/$symbolizer/status")
	[ "$(awk '/^Uid:/ { print $2, $3, $4, $5 }' "/proc/$symbolizer/status")" = "$uid $uid $uid $uid" ] && ! getent passwd "$uid" || return
	for other in /proc/[0-9]*/status; do
		[ "$other" = "/proc/$symbolizer/status" ] || [ "$(awk '/^Uid:/ { print $2 }' "$other" 2>/dev/null)" != "$uid" ] || fail "$other" || return
	done
}

nobody_can_stop_it() {
	local signal
	for signal in STOP KILL TERM; do
		! setpriv --reuid 65534 --regid 65534 --clear-groups kill -$signal "$symbolizer" 2>>"$tmp/kill" || fail "$signal was sent" || return
	done
	grep -q 'not permitted' "$tmp/kill" && ! grep -q '^State:.T' "/proc/$symbolizer/status"
}

# Only root can make it hang now, or a file on which its library takes for ever.
one_that_hangs_holds_up_no_end() {
	local begin
	kill "$tracer" && wait "$tracer" && end_loop || return
	start stopped || return
	begin=$SECONDS
	sleep 1
	kill -TERM "$tracer"
	sleep 2
	runs $tracer || fail "it did not wait for names: the test tests nothing" || return
	kill -TERM "$tracer"
	wait_for 25 has_ended $tracer || fail "the second signal did not end it" || return
	wait $tracer || fail "it ended with $?: $(cat "$tmp/err")" || return
	echo "$((SECONDS - begin)) s"
	tracer=
	"$reader" report "$tmp/named.txtrace" | grep '^loop' && "$reader" verify "$tmp/named.txtrace"
}

# Names are missing then, and that is said.
one_that_dies_is_told_of() {
	kill -CONT "$symbolizer" 2>/dev/null
	end_loop && start || return
	kill -KILL "$symbolizer"
	sleep 1
	end_loop
	kill -INT "$tracer" 2>/dev/null
	wait "$tracer" || fail "it ended with $?: $(cat "$tmp/err")" || return
	tracer=
	grep -q 'the process that names functions has failed' "$tmp/err" || fail "$(cat "$tmp/err")" || return
	"$reader" verify "$log"
}

has_unwinder() {
	unwinder=$(child_of_tracer txtrace-unwind)
}

# It is waited for once, for two seconds; then the recording goes on without it.
unwinder_that_hangs_is_told_of() {
	start && wait_for 60 has_unwinder || return
	may_do_little "$unwinder" 20 || return
	kill -STOP "$unwinder"
	wait_for 60 has_ended "$unwinder" || fail "it is not ended" || return
	end_loop
	kill -INT "$tracer" 2>/dev/null
	wait "$tracer" || fail "it ended with $?: $(cat "$tmp/err")" || return
	tracer=
	grep -q 'the process that reads unwind tables has failed' "$tmp/err" || fail "$(cat "$tmp/err")" || return
	"$reader" verify "$log"
}

check "a process names code" start
check "it has no capability, no descriptor of the recorder's, and a filter" symbolizer_may_do_little
check "its user is nobody's" has_an_id_of_its_own
check "processes of user nobody can neither stop nor kill it" nobody_can_stop_it
check "one that hangs: the second signal ends the recording at once, and the log is whole" one_that_hangs_holds_up_no_end
check "one that dies: what is missing is told, and the log is whole" one_that_dies_is_told_of
check "one that unwinds stacks has nothing either; if it hangs, that is told, and the log is whole" unwinder_that_hangs_is_told_of
finish
