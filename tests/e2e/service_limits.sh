#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The limits of the systemd unit are none for the recorder: with the
# capabilities that it leaves, and no other system calls, everything is
# recorded.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

unit=docs/service/txtrace.service
loop=
tracer=
trap 'kill -KILL $loop $tracer 2>/dev/null' EXIT

# As setpriv has them: +bpf,+perfmon
capabilities=$(sed -n 's/^CapabilityBoundingSet=//p' $unit | tr ' ' '\n' | sed 's/^CAP_/+/' | tr 'A-Z\n' 'a-z,' | sed 's/,$//')

start() { # start COMMAND...: that runs the recorder
	rm -f "$tmp/loop.out" # what the last loop wrote would end the wait below
	"$programs/probe_loop" --mode tagged --steps 20000 --window-ms 50 >"$tmp/loop.out" &
	loop=$!
	wait_for 20 test -s "$tmp/loop.out"
	echo 'keep = 3' >"$tmp/conf"
	"$@" "$recorder" --config "$tmp/conf" -q -o "$tmp/served.txtrace" --stacks off-cpu --metrics-file "$tmp/prom" --exe "$programs/probe_loop" 2>"$tmp/err" &
	tracer=$!
	wait_for 60 grep -q '"traced":true' "$tmp/loop.out" || fail "it is not traced: $(cat "$tmp/err")"
}

stop() {
	sleep 1
	pkill -TERM -P "$tracer" -x txtrace-bpf || kill -TERM "$tracer" # below strace, or itself
	wait "$tracer" || fail "it ended with $?: $(cat "$tmp/err")" || return
	kill "$loop"
	wait "$loop"
	tracer='' loop=''
	cat "$tmp/err"
	"$reader" report "$tmp/served.txtrace" | grep '^loop' && [ -s "$tmp/prom" ]
}

recorded_with_its_capabilities() {
	start setpriv --bounding-set="-all,$capabilities" --inh-caps=-all --no-new-privs || return
	grep -h '^CapBnd' "/proc/$tracer/status"
	# shellcheck disable=SC2013 # numbers
	for pid in $(cat "/proc/$tracer/task/$tracer/children"); do cat "/proc/$pid/comm"; done | grep -qx txtrace-symbols || fail "no process names code" || return
	stop && ! grep -E 'less detail|confine' "$tmp/err"
}

allowed_calls() { # of SystemCallFilter, its sets resolved
	local name
	for name in "$@"; do
		case $name in
		@*) # shellcheck disable=SC2046 # names
			allowed_calls $(systemd-analyze syscall-filter "$name" | sed -n 's/^  *\([-@a-z0-9_]*\)$/\1/p') ;;
		*) echo "$name" ;;
		esac
	done
}

makes_no_other_call() {
	# shellcheck disable=SC2046 # names; what systemd always allows is in its @default
	allowed_calls $(sed -n 's/^SystemCallFilter=//p' $unit) @default | sort -u >"$tmp/allowed"
	start strace -f -qq -o "$tmp/calls" || return
	stop || return
	sed -nE 's/^[0-9]+ +([a-z0-9_]+)\(.*/\1/p' "$tmp/calls" | sort -u >"$tmp/called"
	[ "$(wc -l <"$tmp/called")" -gt 40 ] && grep -qx bpf "$tmp/called" && grep -qx seccomp "$tmp/called" || fail "the trace is no trace" || return
	! comm -13 "$tmp/allowed" "$tmp/called" | grep -vE '^(uprobe|uretprobe|syscall_0x1(4f|50))$' # those are no one's choice, and no filter's
}

if "$recorder" --check --json | jq -e '.rows[] | select(.subject == "uprobe_multi") | .found | startswith("all")' >/dev/null; then
	check "the unit leaves the capabilities that recording takes" recorded_with_its_capabilities
fi
if command -v strace >/dev/null && command -v systemd-analyze >/dev/null; then
	check "and the system calls" makes_no_other_call
fi
[ $number -gt 0 ] || { echo "ok 1 - service_limits # SKIP neither uprobe_multi nor strace and systemd-analyze" && number=1; }
finish
