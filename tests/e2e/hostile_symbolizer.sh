#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The process that names code reads files that may be anything: it may do next
# to nothing, nobody else can stop it, and one that hangs holds up no end.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh
need_bpf

loop=
tracer=
symbolizer=
trap 'kill -KILL $symbolizer $loop $tracer 2>/dev/null' EXIT

has_symbolizer() {
	symbolizer=$(tr ' ' '\n' <"/proc/$tracer/task/$tracer/children" | while read -r pid; do
		! grep -qx txtrace-symbols "/proc/$pid/comm" || echo "$pid"
	done)
	[ -n "$symbolizer" ]
}

start() { # start [stopped]: the process that names code stops before there is anything to name
	"$programs/probe_loop" --mode tagged --steps 20000 --window-ms 50 >"$tmp/loop.out" &
	loop=$!
	wait_for 20 test -s "$tmp/loop.out"
	"$recorder" -q -o "$tmp/named.txtrace" --stacks off-cpu,on-cpu -p $loop 2>"$tmp/err" &
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

may_do_little() {
	wait_for 60 grep -q '^Seccomp:.2' "/proc/$symbolizer/status"
	grep -E '^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp):' "/proc/$symbolizer/status"
	grep -q '^Seccomp:.2' "/proc/$symbolizer/status" && grep -q '^NoNewPrivs:.1' "/proc/$symbolizer/status" || return
	[ "$(grep -cE '^Cap(Inh|Prm|Eff|Amb):.0+$' "/proc/$symbolizer/status")" = 4 ] || fail "it has capabilities" || return
	[ "$(find "/proc/$symbolizer/fd" -mindepth 1 | wc -l)" -le 20 ] && ! find "/proc/$symbolizer/fd" -lname '*bpf*' | grep .
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

check "a process names code" start
check "it has no capability, no descriptor of the recorder's, and a filter" may_do_little
check "its user is nobody's" has_an_id_of_its_own
check "processes of user nobody can neither stop nor kill it" nobody_can_stop_it
check "one that hangs: the second signal ends the recording at once, and the log is whole" one_that_hangs_holds_up_no_end
kill -CONT "$symbolizer" 2>/dev/null
end_loop
finish
