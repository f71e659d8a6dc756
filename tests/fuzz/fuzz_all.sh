#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tests/fuzz/fuzz_all.sh [--merge]
#
# What `make fuzz` runs: every target of tests/fuzz for FUZZ_SECONDS (60), or those that FUZZ_TARGETS names, one after the other. What libFuzzer
# finds interesting is kept in build/fuzz/corpus; the next run goes on from there. What breaks a law, crashes, hangs or takes too much memory is kept in
# build/fuzz/found, and its target counts as failed; the others still run. --merge: picks the inputs of tests/fuzz/corpus anew, out of those that are there
# and those of build/fuzz/corpus.
set -u
cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C

seconds=${FUZZ_SECONDS:-60}
fuzzers=build/sanitize-fuzzer-no-link-address-undefined/fuzz
work=build/fuzz
corpus=tests/fuzz/corpus
# A log takes 64 MB at most, whatever is in it, and so does what a file of code is read into; what a sanitizer adds comes on top, less what it keeps of freed memory.
limits=(-rss_limit_mb=512 -malloc_limit_mb=65 -timeout=20)
export ASAN_OPTIONS=quarantine_size_mb=16:${ASAN_OPTIONS:-}

case $seconds in '' | *[!0-9]*) echo "FUZZ_SECONDS=$seconds is no number" >&2 && exit 2 ;; esac

targets=${FUZZ_TARGETS:-$(cd tests/fuzz && echo fuzz_*.c | sed 's/fuzz_//g; s/\.c//g')}

# value NAME LOG: of libFuzzer's last statistics
value() {
	sed -n "s/^stat::$1: *//p" "$2" | tail -n 1
}

# covered WHAT LOG: the last number behind "cov:" or "ft:"
covered() {
	grep -oE "$1: [0-9]+" "$2" | tail -n 1 | cut -d' ' -f2
}

fuzz() { # fuzz TARGET
	local log=$work/$1.log found=$work/found/$1 status
	mkdir -p "$work/corpus/$1" "$found" "$corpus/$1" "$work/seeds/$1"
	rm -f "$found"/*
	"$fuzzers/fuzz_$1" "${limits[@]}" -max_total_time="$seconds" -max_len=16384 -print_final_stats=1 -artifact_prefix="$found/" \
		"$work/corpus/$1" "$corpus/$1" "$work/seeds/$1" >"$log" 2>&1
	status=$?
	printf '%-8s %12s %8s %8s %8s %8s %6s MB\n' "$1" "$(value number_of_executed_units "$log")" "$(value average_exec_per_sec "$log")" \
		"$(covered cov "$log")" "$(covered ft "$log")" "$(find "$work/corpus/$1" "$corpus/$1" -type f | wc -l)" "$(value peak_rss_mb "$log")"
	[ $status = 0 ] && return
	grep -aE -m 12 'broken law|ERROR:|SUMMARY|runtime error|^ +#[0-5] ' "$log" | sed 's/^/  /'
	for input in "$found"/*; do
		[ -e "$input" ] || { tail -n 5 "$log" && break; }
		cat <<-EOF
			  $1 failed on $input ($(wc -c <"$input") bytes). Again:
			      $fuzzers/fuzz_$1 $input
			  Smaller: the same with -minimize_crash=1 -runs=100000. When it is fixed, keep it: cp $input $corpus/$1/
		EOF
	done
	return 1
}

# libFuzzer tells what code each input covers, and pick_corpus.py picks.
merge() { # merge TARGET
	local control=$work/$1.control
	rm -rf "$control" "$work/merged/$1"
	mkdir -p "$corpus/$1" "$work/corpus/$1" "$work/merged/$1"
	"$fuzzers/fuzz_$1" "${limits[@]}" -merge=1 -use_counters=0 -merge_control_file="$control" "$work/merged/$1" "$corpus/$1" "$work/seeds/$1" "$work/corpus/$1" \
		>"$work/$1.merge.log" 2>&1 && python3 tests/fuzz/pick_corpus.py "$control" "$corpus/$1" || { tail -n 5 "$work/$1.merge.log" && return 1; }
}

mkdir -p "$work"
python3 tests/fuzz/make_seeds.py build/txtrace "$work/seeds" || exit 1
failed=0
if [ "${1:-}" = --merge ]; then
	for target in $targets; do merge "$target" || failed=1; done
	exit $failed
fi
printf '%-8s %12s %8s %8s %8s %8s %9s\n' target runs runs/s code features inputs memory
for target in $targets; do
	if [ -x "$fuzzers/fuzz_$target" ]; then
		fuzz "$target" || failed=1
	else
		echo "there is no target '$target'" && failed=1
	fi
done
exit $failed
