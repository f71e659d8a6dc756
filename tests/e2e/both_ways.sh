#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The same programs with marks through probes and through shared memory: both hold, and how near each of them comes is shown side by side.
export TXTRACE_MARKS=ring
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
need_account
in_memory=$recorder

one_way() { # one_way probes|memory PROGRAM [ARGUMENT...]
	local way=$1 name=$2.$1
	if [ "$way" = probes ]; then
		unset TXTRACE_MARKS
		recorder=$BUILD/txtrace-bpf
	else
		export TXTRACE_MARKS=ring
		recorder=$in_memory
	fi
	launch "$name" "${@:2}" && compare "$name" --misses "$tmp/misses.$way"
}

both_ways() {
	check "$1: through probes" one_way probes "$@"
	check "$1: through memory" one_way memory "$@"
}

side_by_side() {
	python3 tests/e2e/both_ways.py "$tmp/misses.probes" "$tmp/misses.memory" >"$tmp/table"
}

for program in spin waits lock starved handoff nested shared fork_exec many_threads marks; do
	both_ways $program
done
both_ways random --seed 5 --threads 4 --spans 1000
check "the same spans are known both ways" side_by_side
cat "$tmp/table"
finish
