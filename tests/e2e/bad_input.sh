#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What cannot be traced is refused with one sentence that says what to do, and a status that is not 0. Nothing is left behind.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

sleeper=
outside=$(mktemp -d) # nobody may look into the tests' own folder
chmod 755 "$outside"
trap 'rm -rf "$outside"; kill -KILL $sleeper 2>/dev/null' EXIT

expected_status=2

# judge STATUS PATTERN: one line on stderr, which has to match; the expected status; no log
judge() {
	cat "$tmp/err"
	[ "$1" = $expected_status ] || fail "the status is $1" || return
	[ "$(wc -l <"$tmp/err")" = 1 ] || fail "that is not one sentence" || return
	grep -qE "^txtrace-bpf: .*($2)" "$tmp/err" || fail "it does not say: $2" || return
	! grep -qE "^txtrace-bpf: ([A-Z]|.*\\.$)" "$tmp/err" || fail "it begins with a capital or ends with a full stop" || return
	[ ! -e "$tmp/refused.txtrace" ] || fail "it left a log"
}

# refuses PATTERN ARGUMENT...
refuses() {
	local pattern=$1
	shift
	timeout 600 "$recorder" -q -o "$tmp/refused.txtrace" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	judge $? "$pattern"
}

refuses_output() { # refuses_output PATH
	timeout 600 "$recorder" -q -o "$1" -- sleep 0 >"$tmp/out" 2>"$tmp/err"
	judge $? "$(basename "$1")"
}

refuses_user() {
	cp "$recorder" "$outside/" && chmod 755 "$outside/txtrace-bpf"
	(cd "$outside" && setpriv --reuid 65534 --regid 65534 --clear-groups ./txtrace-bpf -q -o "$outside/x" -p $$ >"$tmp/out" 2>"$tmp/err")
	judge $? 'root|sudo'
}

# In a mount namespace of its own, where nothing is in the folder that has the kernel's BTF.
refuses_without_btf() {
	unshare --mount sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$@"' sh "$recorder" -q -o "$tmp/refused.txtrace" -p "$sleeper" >"$tmp/out" 2>"$tmp/err"
	judge $? 'BTF'
}

sleep 1000 &
sleeper=$!
mkdir -p "$tmp/taken/txtrace.txtrace.partial"
no_pid=$(cat /proc/sys/kernel/pid_max) # one more than there can be

check "no such process" refuses "$no_pid" -p "$no_pid"
check "a pid that is none" refuses 'pid' -p twelve
check "pid 0" refuses 'pid' -p 0
check "itself a kernel thread" refuses 'kernel thread' -p 2
check "a program without probes is told what it has instead" refuses 'no txtrace probes.*(libc|it has)' -p $sleeper
check "nothing to trace" refuses 'nothing to trace'
check "a process and a command" refuses 'one of them' -p $sleeper -- sleep 0
check "an unknown option" refuses 'faster' --faster -p $sleeper
check "a duration that is none" refuses 'soon' -d soon -p $sleeper
check "an output folder that does not exist" refuses_output "$tmp/nowhere/a.txtrace"
check "an output folder in which a folder has the log's name" refuses_output "$tmp/taken"
check "a share of transactions that could be a percentage" refuses "sample.*1/100, not '100'" --sample 100 -p $sleeper
check "a queue that is too small" refuses 'queue-size.*at least 4.00 MiB' --queue-size 1M -p $sleeper
check "an output where nobody can write" refuses_output /proc/a.txtrace
check "somebody who is not root" refuses_user
if ! cat /proc/1/maps >"$tmp/maps" 2>/dev/null && setpriv --dump | grep -q 'Capability bounding set:.*sys_ptrace'; then
	check "a process that is closed even to us" refuses 'process 1 .*even with CAP_SYS_PTRACE' -p 1
fi
if unshare --mount true 2>/dev/null; then
	check "a kernel without BTF" refuses_without_btf
fi
expected_status=127 # as a shell has it
check "a command that does not exist" refuses 'no-such-command' -- no-such-command
expected_status=126
check "a command that is not executable" refuses 'passwd' -- /etc/passwd
check "the process that was refused runs on" runs $sleeper
finish
