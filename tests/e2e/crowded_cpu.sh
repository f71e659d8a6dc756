#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Threads that take the CPU from each other in the middle of a BPF program. Kernels since 6.13 give such a program one stack for each CPU, and those
# that can be preempted there (7.3) run a probe's program twice on it, or leave a tracepoint's program out.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
need_account

# A name that is set by nobody else than the program; what is not in the stream has to be among the losses, which may be of others, too.
tells_of_each_name() {
	local told lost said
	"$recorder" -q --stream "$tmp/names.stream" -o "$tmp/names.txtrace" -- "$programs/crowded_cpu" --do rename --wait-traced 30 --output "$tmp/names" || return
	said=$(grep -o '[0-9]*' "$tmp/names")
	told=$(grep -c ' thread .* rename .*comm="crowd"' "$tmp/names.stream")
	lost=$(sed -n 's/.* loss .* sched_events=\([0-9]*\).*/\1/p' "$tmp/names.stream" | awk '{ sum += $1 } END { print sum + 0 }')
	[ "$told" -le $((said + 1)) ] && [ $((told + lost)) -ge "$said" ] ||
		fail "the program took $said names; $told were told, $lost events were lost: $(grep -c ' loss ' "$tmp/names.stream") losses"
}

check "in a probe: every span is its own" holds launch crowd crowded_cpu
check "on a tracepoint: what was left out is a loss" tells_of_each_name
finish
