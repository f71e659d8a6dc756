#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Streams that were recorded once on a real kernel (txtrace-bpf --stream … -- PROGRAM --repeat 2 --output …; random: --spans 40 --seed 7) are attributed again, without one, and held
# against what the program had measured of itself. So the known answers are proved where BPF is not to be had, and under sanitizers.
set -u
number=0
for stream in tests/replay/recorded/*.stream; do
	number=$((number + 1))
	name=$(basename "$stream" .stream)
	if "$BUILD/replay" "$stream" >"$TEST_TMPDIR/log" 2>"$TEST_TMPDIR/said" &&
		python3 tests/e2e/check_truth.py "${stream%.stream}.truth" "$TEST_TMPDIR/log" >>"$TEST_TMPDIR/said"; then
		echo "ok $number - $name, replayed, is as the program measured it"
	else
		echo "not ok $number - $name, replayed, is as the program measured it"
		sed 's/^/# /' "$TEST_TMPDIR/said"
	fi
done
echo "1..$number"
