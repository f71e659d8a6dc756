#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The recorder has a CPU for a short time only, where the kernel lets a thread choose that; nobody else has.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

tracer=
command=
trap 'kill -KILL $tracer $command 2>/dev/null; wait 2>/dev/null' EXIT

slices_of() { # slices_of PID: those of its threads, each once
	python3 $e2e/read_slices.py "$1" | sort -u | xargs
}

# The command is launched by it, and shall be scheduled as it would be without it. What the user has chosen stays: here a lower priority.
recorder_alone() {
	local usual
	usual=$(slices_of $$)
	nice -n 7 "$recorder" -q -o "$tmp/slices.txtrace" -- "$programs/spin" --repeat 100000 --output "$tmp/spin.truth" 2>"$tmp/err" &
	tracer=$!
	wait_for 3 is_recording $tracer || fail "it does not record: $(cat "$tmp/err")" || return
	command=$(pgrep -P $tracer -x spin)
	echo "usual $usual, recorder $(slices_of $tracer) in $(find /proc/$tracer/task -mindepth 1 -maxdepth 1 | wc -l) threads, command $(slices_of "$command")"
	[ "$(slices_of $tracer)" = 100000 ] || fail "the recorder's slices are not short" || return
	[ "$(slices_of "$command")" = "$usual" ] || fail "the command's slice is not the usual one" || return
	[ "$(ps -L -o ni= -p $tracer | sort -u | xargs)" = 7 ] || fail "its threads' nice values: $(ps -L -o ni= -p $tracer | xargs)"
}

if [ "$(slices_of $$)" = 0 ]; then
	number=1
	echo "ok 1 - short slices # SKIP Linux 6.12 and later have them"
else
	check "the recorder's threads have short slices, a command that it launches has not" recorder_alone
fi
finish
