# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Sourced by the tests of this folder: programs of tests/programs, traced by the real txtrace-bpf on this machine's kernel.
#
# A case is `check NAME COMMAND...`: it holds when the command succeeds; what the command printed is shown if it does not. A test that cannot run
# here at all says so by need_bpf before its first case.

set -u
export LC_ALL=C
unset SUDO_UID SUDO_GID # the tests are root's, whoever called: files are made with the rights of that user otherwise
export TXTRACE_CONFINEMENT=abort # a recorder that wants a system call that its filter does not know ends, and the test fails

e2e=tests/e2e
tmp=$TEST_TMPDIR
recorder=$BUILD/txtrace-bpf
reader=$BUILD/txtrace
programs=$BUILD/programs
[ -d "$programs" ] || programs=build/programs # a flavour of the build shares them
number=0

need_bpf() {
	local reason=
	[ "$(id -u)" = 0 ] || reason="not root"
	[ -r /sys/kernel/btf/vmlinux ] || reason=${reason:-"the kernel has no BTF"}
	[ -n "$reason" ] || "$BPFTOOL" prog show >/dev/null 2>&1 || reason="root may not use it here"
	[ -n "$reason" ] || return 0
	echo "ok 1 - $(basename "$0" .sh) # SKIP bpf: $reason"
	echo "1..1"
	exit 0
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
		sed 's/^/# /' "$tmp/said" | cut -c 1-400 | head -n 60
	fi
}

finish() {
	echo "1..$number"
}

fail() {
	echo "$*"
	return 1
}

# wait_for LIMIT-IN-SECONDS COMMAND...: tries until it succeeds. For what must come, however late.
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}

runs() { # runs PID
	[ -d "/proc/$1" ] && ! grep -q '^State:.[ZX]' "/proc/$1/status" 2>/dev/null
}

has_ended() {
	! runs "$1"
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
	local name=$1
	shift
	python3 $e2e/check_truth.py "$@" "$tmp/$name.truth" "$tmp/$name.txtrace.jsonl"
}

# holds attach_to|launch NAME PROGRAM...: traces it and compares.
holds() {
	"$@" && compare "$2"
}
