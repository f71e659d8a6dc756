#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A program that lets reads of its memory wait, by a FUSE file: who is traced beside it is recorded without a loss, it is named, and SIGTERM closes the log
# although the kernel cannot take out its probes yet.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

skip() { # skip NAME REASON
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

# Whether a file can be mounted that way here.
can_freeze() { # can_freeze USER-NAMESPACE
	mkdir -p "$tmp/trial" && timeout 60 "$programs/frozen" --directory "$tmp/trial" --labels 1 --wait-traced 0 --limit 1 --user-namespace "$1" >"$tmp/trial.out" 2>&1
}

beside() { # beside USER-NAMESPACE
	mkdir "$tmp/$1" || return
	PROGRAMS=$programs python3 $e2e/frozen_memory.py "$tmp/$1" "$1"
}

for user_namespace in 0 1; do
	name="beside a process whose memory cannot be read$([ $user_namespace = 0 ] || echo ", of a FUSE server in a user namespace")"
	if can_freeze $user_namespace; then
		check "$name" beside $user_namespace
	else
		skip "$name" "no FUSE here: $(tail -n 1 "$tmp/trial.out")"
	fi
done
name="a file that it has mapped: its probes wait, and nobody else does"
if can_freeze 0; then
	mkdir "$tmp/attach"
	check "$name" env PROGRAMS="$programs" python3 $e2e/frozen_attach.py "$tmp/attach"
else
	skip "$name" "no FUSE here: $(tail -n 1 "$tmp/trial.out")"
fi
finish
