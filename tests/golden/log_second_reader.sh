#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A reader that was written from docs/log-format.md alone finds in every golden log what ours finds, and an index that fits the blocks.
set -u
cd "$(dirname "$0")" || exit 1

logs=(log-1.0-example-none log-1.0-extreme-none log-1.0-world-zstd log-1.0-world-lz4 log-1.0-expected-zstd
	log-1.1-wakes-none log-1.1-cost-none log-1.1-neighbours-none log-1.1-process-none log-1.1-stacks-none
	log-1.1-flight-none)
number=0

# tell NAME COMMAND...: a case, which holds if the command succeeds.
tell() {
	local name=$1
	shift
	number=$((number + 1))
	if "$@"; then echo "ok $number - $name"; else echo "not ok $number - $name"; fi
}

same_records() {
	diff <(python3 read_log.py "$1.txtrace" 2>&1) "${1%-*}.txt" >&2
}

index_fits() {
	python3 read_log.py --index "$1.txtrace" >"$TEST_TMPDIR/index" &&
		[ "$(awk -F '[= ]' '/^spans=/ { sum += $2 } END { print sum + 0 }' "$TEST_TMPDIR/index")" = "$(grep -cE '^span( |$)' "${1%-*}.txt")" ]
}

# The bytes that the document takes apart are those of the file.
example_is_true() {
	diff <(sed -nE 's/^    [0-9a-f]{4}  (([0-9a-f]{2} ?)+)( .*)?$/\1/p' ../../docs/log-format.md | xargs -n 1) \
		<(od -An -v -tx1 log-1.0-example-none.txtrace | xargs -n 1) >&2
}

echo "1..$((1 + 2 * ${#logs[@]}))"
for log in "${logs[@]}"; do
	tell "$log: the same records" same_records "$log"
	tell "$log: the index fits the blocks" index_fits "$log"
done
tell "the example in docs/log-format.md is the file" example_is_true
