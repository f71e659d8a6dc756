#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What is to be traced is killed, becomes another program, exits or forks between any two steps of attaching, however it was chosen: the recorder ends well, what
# lives on is traced, so is an innocent program beside it, and no BPF program stays. A moment here is a system call of the recorder's, not a time
# (target_races.sh). TXTRACE_ALL_STEPS=1 tries every one, otherwise one or two of each kind.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

which=kinds
[ "${TXTRACE_ALL_STEPS:-0}" = 0 ] || which=all
cgroup=
trap 'rmdir $cgroup 2>/dev/null' EXIT
ulimit -c 0

tries() { # tries MODE
	mkdir "$tmp/$1" || return
	CGROUP=$cgroup PROGRAMS=$programs python3 $e2e/attach_steps.py "$1" $which "$tmp/$1" || return
	! grep -s "$tmp/$1/" /sys/kernel/tracing/uprobe_events /sys/kernel/debug/tracing/uprobe_events || fail "a uprobe event is left"
}

# In the first folder where a cgroup can be made, if there is one.
make_cgroup() {
	local folder
	for folder in /sys/fs/cgroup/unified /sys/fs/cgroup/pids /sys/fs/cgroup/systemd /sys/fs/cgroup; do
		if [ -w "$folder/cgroup.procs" ] && mkdir "$folder/txtrace-steps-$$" 2>/dev/null; then
			cgroup=$folder/txtrace-steps-$$
			return
		fi
	done
	return 1
}

check "processes by their pids, and an innocent one" tries named
check "a process by its pid, and nobody else" tries alone
check "with its children" tries follow
check "by the file that it runs" tries exe
check "by the file that it runs, while it records" tries late
if make_cgroup; then
	check "by its cgroup" tries cgroup
else
	number=$((number + 1))
	echo "ok $number - by its cgroup # SKIP no cgroup can be made here"
fi
check "a command" tries command
finish
