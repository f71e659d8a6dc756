# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Sourced by the tests of the recorder's processes without privilege (userspace/attach/process/outside_process.h), which set the pid of the recorder and its log.
# shellcheck disable=SC2154 # e2e.sh sets tmp, reader

tracer=
log=

# child_of_tracer NAME: prints its pid; fails if there is none
child_of_tracer() {
	local pid children
	read -ra children <"/proc/$tracer/task/$tracer/children"
	for pid in "${children[@]}"; do
		grep -qx "$1" "/proc/$pid/comm" && echo "$pid" && return
	done
	return 1
}

is_confined() { # is_confined PID
	grep -q '^Seccomp:.2' "/proc/$1/status"
}

# No capability, a user of its own, a filter; none of the recorder's descriptors.
may_do_little() { # may_do_little PID MAXIMUM-OF-DESCRIPTORS
	local status=/proc/$1/status
	wait_for 60 is_confined "$1"
	grep -E '^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp):' "$status"
	is_confined "$1" && grep -q '^NoNewPrivs:.1' "$status" || return
	[ "$(grep -cE '^Cap(Inh|Prm|Eff|Amb):.0+$' "$status")" = 4 ] || fail "it has capabilities" || return
	[ "$(awk '/^Uid:/ { print ($2 >= 1879048192 || $2 == 65534) && $2 == $3 && $3 == $4 && $4 == $5 }' "$status")" = 1 ] || fail "it is root" || return
	ls -l "/proc/$1/fd"
	[ "$(find "/proc/$1/fd" -mindepth 1 | wc -l)" -le "$2" ] && ! find "/proc/$1/fd" -lname '*bpf*' | grep . || return
	! find "/proc/$1/fd" -lname "${log%.txtrace}*" | grep .
}

recorded_bytes() {
	stat -c %s "$log.partial"
}

has_grown() { # has_grown BYTES
	[ "$(recorded_bytes)" -gt "$1" ]
}

# Twice: what was being written when it was asked does not count.
goes_on() {
	wait_for 30 has_grown "$(recorded_bytes)" && wait_for 30 has_grown "$(recorded_bytes)" || fail "nothing is recorded any more"
}

# The recorder is ended; its log is whole and has everything.
log_is_whole() {
	kill -TERM "$tracer"
	wait "$tracer" || fail "it ended with $?: $(cat "$tmp/err")" || return
	tracer=
	"$reader" verify "$log" && "$reader" info --json "$log" >"$tmp/info" && jq -c .losses "$tmp/info" &&
		jq -e '.losses | .lost == 0 and .sent == .received and .sent > 1000' "$tmp/info" >/dev/null
}
