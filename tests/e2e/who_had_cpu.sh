#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Who had the CPU: a program that knows for how long another one had it, and two threads that have it in turns.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
need_account

trace() { # trace [OPTION...]
	"$recorder" -q -o "$tmp/n.txtrace" "$@" -- "$programs/noisy" --output "$tmp/n.truth" && export_log "$tmp/n.txtrace" &&
		"$reader" neighbours --json "$tmp/n.txtrace" >"$tmp/n.label" && "$reader" neighbours --json --by thread "$tmp/n.txtrace" >"$tmp/n.thread"
}

# says EXPRESSION: of jq, with the truth as $t
says() {
	jq -e --argjson t "$(cat "$tmp/n.truth")" "$1" "$tmp/n.label" >/dev/null || fail "$(jq -c . "$tmp/n.truth")" "$(jq -c .rows "$tmp/n.label")"
}

# At each switch the scheduler reads its clock at another moment than the recorder; it leaves out what the hypervisor took.
noisy='(.rows[] | select(.label == "beside noisy")) as $row | ([$row.neighbours[] | select(.name == "noisy" and .tid == $t.noisy_tid).ns] | add)'

# Sets hidden_ns: where the kernel hid a switch of the CPU it is not known who had it.
find_hidden() {
	local account
	account_so_far || fail "the scheduler's account cannot be had" || return
	hidden_ns=$(python3 $e2e/hidden_switches.py "$(jq .cpu "$tmp/n.truth")" "$tmp/n.txtrace.jsonl" "${account[@]:1}")
}

noisy_had_it_for_so_long() {
	local hidden_ns
	find_hidden || return
	says "$noisy as \$ns | \$ns >= \$t.noisy_ns - 20000 * (\$t.noisy_stays + 1) - $hidden_ns and \$ns <= \$row.runnable_ns" && return
	fail "hidden: $hidden_ns ns" "$(grep '"label":"beside noisy"' "$tmp/n.txtrace.jsonl")" "$("$reader" info --json "$tmp/n.txtrace" | jq -c .losses)"
}

# Others of this machine have that CPU, too; but each of them by its name.
all_is_known() {
	local hidden_ns
	find_hidden || return
	says "[.rows[] | .unknown_ns <= $hidden_ns] | all"
}

each_thread_waits_for_the_other() {
	says '[["left", "right", $t.right_tid], ["right", "left", $t.left_tid]] as $pairs | [.rows[] as $row | $pairs[] | select(.[0] == $row.label) as $pair |
		[$row.neighbours[] | select(.name == $pair[1] and .tid == $pair[2])] | (map(.label) | unique) as $labels |
		($labels | index($pair[1])) != null and ($labels - [$pair[1], null]) == []] | length == 2 and all'
}

as_the_log_says() {
	python3 tests/cli/neighbours_check.py compare "$tmp/n.txtrace.jsonl" "$tmp/n.label" &&
		python3 tests/cli/neighbours_check.py compare "$tmp/n.txtrace.jsonl" "$tmp/n.thread"
}

# Where threads are woken, moved, made and gone by the hundred, runnable time has somebody's name, too, and stays add up.
many_threads_wait() {
	local program account
	for program in many_threads handoff wake_storm random; do
		"$recorder" -q -o "$tmp/$program.txtrace" -- "$programs/$program" --output "$tmp/$program.truth" && export_log "$tmp/$program.txtrace" &&
			"$reader" verify "$tmp/$program.txtrace" && "$reader" neighbours --json --by thread "$tmp/$program.txtrace" >"$tmp/$program.thread" &&
			account_so_far && python3 tests/cli/neighbours_check.py compare "$tmp/$program.txtrace.jsonl" "$tmp/$program.thread" "${account[@]:1}" || return
	done
}

# When nobody is traced any more, nobody waits for a CPU: the kernel side's counts are where they were.
a_small_ring_loses_neighbours() {
	trace --ring-size 64K && jq -e '.losses' "$tmp/n.label" >/dev/null && as_the_log_says
}

check "a program beside a noisy one is traced" trace
check "the noisy one had the CPU for as long as the scheduler says" noisy_had_it_for_so_long
check "nobody is unknown" all_is_known
check "of two threads on one CPU each waits for the other, in its span" each_thread_waits_for_the_other
check "it is what the records of the log say" as_the_log_says
check "many threads, woken and moved: known, and what the records say" many_threads_wait
check "with small rings the same holds" a_small_ring_loses_neighbours
finish
