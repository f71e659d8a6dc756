#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs that know where the time of their spans went, each traced twice: attached to while it runs, and started by the tracer. TXTRACE_FEW=1: every
# other one of them, in one of these ways.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
need_account
story_cnt=0

wants() { # wants NUMBER: of the story, up to 4, where few are wanted
	[ -z "${TXTRACE_FEW:-}" ] || [ $((story_cnt % 4)) = "$1" ]
}

# both STORY PROGRAM [ARGUMENT...]
both() {
	local story=$1 program=$2
	shift 2
	story_cnt=$((story_cnt + 1))
	wants 2 && check "$story: attached to" holds attach_to "$program.attached" "$program" "$@"
	wants 0 && check "$story: launched" holds launch "$program.launched" "$program" "$@"
}

both "5 ms of computing are on-CPU" spin
both "every way to wait is blocked, for its reason" waits
both "who waits for a mutex is blocked, who holds it is not" lock
both "who shares a CPU with a spinner is runnable" starved
both "between two threads a span is detached" handoff
both "children count for their parents, overlaps for both" nested
both "three threads at once make work longer than wall" shared
both "a fork and an exec disturb no span of the parent's" fork_exec
both "threads that come and go keep their accounts apart" many_threads
both "tags, attributes, instants, counters, links and keys arrive as they were" marks
finish
