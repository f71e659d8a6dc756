# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Sourced by the tests of this folder: programs of tests/programs, traced by the real txtrace-bpf on this machine's kernel.
#
# A case is `check NAME COMMAND...`: it holds when the command succeeds; what the command printed is shown if it does not. A test that cannot run
# here at all says so by need_bpf before its first case, or before the first one that needs it.

set -u
export LC_ALL=C
unset SUDO_UID SUDO_GID # the tests are root's, whoever called: files are made with the rights of that user otherwise
export TXTRACE_CONFINEMENT=abort # a recorder that wants a system call that its filter does not know ends, and the test fails

e2e=tests/e2e
tmp=$TEST_TMPDIR
recorder=$BUILD/txtrace-bpf
reader=$BUILD/txtrace
# A copy of the test's own: who traces every process that runs a file also sets the probes of another test's process. All users may run it.
programs=$tmp/programs
cp -r "$([ -d "$BUILD/programs" ] && echo "$BUILD" || echo build)/programs" "$programs" # a flavour of the build shares them
number=0

# TXTRACE_MARKS=ring: marks come through shared memory.
if [ -n "${TXTRACE_MARKS:-}" ]; then
	printf '#!/bin/sh\nexec "%s" --marks %s "$@"\n' "$recorder" "$TXTRACE_MARKS" >"$tmp/recorder"
	chmod +x "$tmp/recorder"
	recorder=$tmp/recorder
fi

# The programs wait until the recorders of this test record, which these tell a service manager.
export TXTRACE_TESTS_READY=$tmp/ready NOTIFY_SOCKET=@txtrace-tests-$$
mkdir -p "$TXTRACE_TESTS_READY"
"$programs/notified" --socket "${NOTIFY_SOCKET#@}" --folder "$TXTRACE_TESTS_READY" --watch $$ </dev/null >/dev/null || exit

need_bpf() {
	local reason=
	[ "$(id -u)" = 0 ] || reason="not root"
	[ -r /sys/kernel/btf/vmlinux ] || reason=${reason:-"the kernel has no BTF"}
	[ -n "$reason" ] || "$BPFTOOL" prog show >/dev/null 2>&1 || reason="root may not use it here"
	[ -n "$reason" ] || { need_marks; return 0; }
	number=$((number + 1))
	echo "ok $number - $(basename "$0" .sh) # SKIP bpf: $reason"
	echo "1..$number"
	exit 0
}

# Marks in shared memory need more than BPF: a recent kernel, and its clock.
need_marks() {
	[ -n "${TXTRACE_MARKS:-}" ] || return
	"$recorder" -q -o "$tmp/can_mark.txtrace" -- true 2>"$tmp/can_mark"
	grep -q -e "--marks ring is not possible" "$tmp/can_mark" || return
	echo "ok 1 - $(basename "$0" .sh) # SKIP $(cat "$tmp/can_mark")"
	echo "1..1"
	exit 0
}

kernel_since() { # kernel_since VERSION
	[ "$(printf '%s\n' "$1" "$(uname -r)" | sort -V | head -n 1)" = "$1" ]
}

# From here on, what the scheduler accounts for the threads that this test starts is recorded, and `compare` holds a log against that, too. Where the kernel does
# not let anybody read it (an emulated machine has nothing that steals), nothing is allowed for stolen time.
need_account() {
	[ -z "${TXTRACE_EMULATED:-}" ] || return 0 # nothing is stolen from a guest whose time is made up
	# No child of this shell, whose `wait` for all is not for it. It ends with this shell.
	account_pid=$("$BUILD/account/sched_account" $$ "$tmp/account" >"$tmp/account.said" 2>&1 & echo $!)
	wait_for 60 account_answers
	grep -q '^ready' "$tmp/account.said" && return
	sed 's/^/# /' "$tmp/account.said"
	account_pid=
}

account_answers() {
	grep -q '^ready' "$tmp/account.said" || has_ended "$account_pid"
}

# account_so_far: sets `account` to the options of check_truth.py that name what is recorded by now
account_so_far() {
	local answers
	account=()
	[ -n "${account_pid:-}" ] || return 0
	answers=$(account_answer_cnt)
	kill -USR1 "$account_pid" && wait_for 60 account_has_answered "$answers" || return
	grep -q '^written, lost 0$' <(tail -n 1 "$tmp/account.said") || return
	account=(--account "$tmp/account")
}

account_answer_cnt() {
	grep -c '^written' "$tmp/account.said"
}

account_has_answered() { # account_has_answered CNT: more often than that
	[ "$(account_answer_cnt)" -gt "$1" ]
}

# check NAME COMMAND...
check() {
	local name=$1
	shift
	number=$((number + 1))
	if "$@" >"$tmp/said" 2>&1; then
		echo "ok $number - $name"
	else
		echo "not ok $number - $name"
		sed 's/^/# /' "$tmp/said" | cut -c 1-400 | head -n 200
	fi
}

finish() {
	echo "1..$number"
}

fail() {
	echo "$*"
	return 1
}

# wait_for LIMIT-IN-SECONDS COMMAND...: tries until it succeeds. For what must come, however late: a busy machine may take ten times the limit.
wait_for() {
	local end=$((SECONDS + 10 * $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}

# Of this machine alone. Another program may take it before it is used.
free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

runs() { # runs PID
	[ -d "/proc/$1" ] && ! grep -q '^State:.[ZX]' "/proc/$1/status" 2>/dev/null
}

has_ended() {
	! runs "$1"
}

# All is set: the recorder's loop waits for several descriptors at a time (poll, or ppoll), and before that, for its helpers, for one.
is_recording() { # is_recording PID
	grep -qE '^(7|73|271) 0x[0-9a-f]+ 0x[2-9a-f]' "/proc/$1/syscall" 2>/dev/null
}

# In memory, as in a guest that has no disk, nobody has to wait for a file.
is_in_memory() { # is_in_memory FOLDER
	[ "$(stat -f -c %T "$1")" = tmpfs ]
}

# export_log LOG: as LOG.jsonl
export_log() {
	"$reader" export "$1" --format jsonl >"$1.jsonl"
}

# Traces a program that waits for its tracer, from outside, until it ends.
attach_to() { # attach_to NAME PROGRAM [ARGUMENT...]
	local name=$1 program=$2 status pid
	shift 2
	"$programs/$program" "$@" --output "$tmp/$name.truth" &
	pid=$!
	"$recorder" -q -o "$tmp/$name.txtrace" -p $pid
	status=$?
	[ $status = 0 ] || kill -KILL $pid
	wait $pid || fail "$program ended with $?" || return
	[ $status = 0 ] || fail "txtrace-bpf ended with $status" || return
	export_log "$tmp/$name.txtrace"
}

# Starts it under the tracer.
launch() { # launch NAME PROGRAM [ARGUMENT...]
	local name=$1 program=$2
	shift 2
	"$recorder" -q -o "$tmp/$name.txtrace" -- "$programs/$program" "$@" --output "$tmp/$name.truth" || fail "txtrace-bpf ended with $?" || return
	export_log "$tmp/$name.txtrace"
}

# compare NAME [--lossy]
compare() {
	local name=$1 account
	shift
	account_so_far || fail "the scheduler's account cannot be had" || return
	python3 $e2e/check_truth.py "$@" "${account[@]}" "$tmp/$name.truth" "$tmp/$name.txtrace.jsonl"
}

# is_sound LOG.jsonl: by itself and by the account, of a program that tells nothing
is_sound() {
	local account
	account_so_far || fail "the scheduler's account cannot be had" || return
	python3 $e2e/check_truth.py "${account[@]}" - "$1"
}

# holds attach_to|launch NAME PROGRAM...: traces it and compares.
holds() {
	"$@" && compare "$2"
}
