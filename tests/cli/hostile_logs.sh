#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# takes long: 8 s of a CPU
# Logs that lie and whose checksums are right, to every command: `diff` with one on either side and on both, `merge` likewise, `check` with rules that match.
# Each command ends well, says what it says in plain text, and leaves no half of a file.
# TXTRACE_HOSTILE_LOGS says how many logs: 70 as it is (24 with a sanitizer), 2,000 with TXTRACE_ALL_STEPS=1. TXTRACE_SEED: others.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

seed=${TXTRACE_SEED:-1}
count=70
case $BUILD in *sanitize*) count=24 ;; esac
[ "${TXTRACE_ALL_STEPS:-0}" = 0 ] || count=2000
count=${TXTRACE_HOSTILE_LOGS:-$count}
sound=tests/golden/log-1.0-expected-zstd.txtrace

# The golden logs as they are, and those with compression also without, so that they can be changed inside.
make_mutants() {
	local log
	mkdir "$tmp/golden" "$tmp/mutants"
	cp tests/golden/*.txtrace "$tmp/golden" || return
	for log in tests/golden/*-zstd.txtrace tests/golden/*-lz4.txtrace; do
		"$txtrace" recompress --codec none -o "$tmp/golden/plain-$(basename "$log")" "$log" 2>/dev/null
		[ $? -le 1 ] || fail "$log" || return # they have no summary
	done
	python3 tests/cli/mutate_log.py --seed "$seed" --count "$count" "$tmp/mutants" "$tmp"/golden/*.txtrace >"$tmp/mutants.list" || return
	[ "$(find "$tmp/mutants" -name '*.txtrace' | wc -l)" = "$count" ]
}

# The mutator is of use only while most of what it makes gets past the checksums, and some of it is read as a sound log is.
mutants_are_read() {
	local read=0 whole=0 cnt=0 log
	for log in "$tmp"/mutants/*.txtrace; do
		"$txtrace" dump "$log" >"$tmp/out" 2>"$tmp/err"
		[ $? = 2 ] || read=$((read + 1))
		grep -q damaged "$tmp/err" || whole=$((whole + 1))
		cnt=$((cnt + 1))
		[ $cnt -lt 70 ] || break
	done
	echo "of $cnt logs, $read can be read, $whole without damage"
	[ $((read * 2)) -gt $cnt ] && [ $((whole * 5)) -gt $cnt ]
}

same_seed_same_logs() {
	mkdir "$tmp/again"
	python3 tests/cli/mutate_log.py --seed "$seed" --count 20 "$tmp/again" "$tmp"/golden/*.txtrace >/dev/null || return
	for log in "$tmp"/again/*.txtrace; do
		cmp "$log" "$tmp/mutants/$(basename "$log")" || return
	done
}

# What did not hold is told with the log's number: tests/cli/mutate_log.py makes it again, and says what it did to it.
every_command() {
	python3 tests/cli/hostile_logs_check.py "$txtrace" "$tmp/mutants" $sound >"$tmp/held" 2>&1
	local status=$? number
	cat "$tmp/held"
	for number in $(grep -o '/mutants/[0-9]*' "$tmp/held" | cut -d/ -f3 | sort -nu | head -n 5); do
		grep "^$number " "$tmp/mutants.list"
	done
	return $status
}

check "mutants of every golden log" make_mutants
check "the same seed makes the same mutants" same_seed_same_logs
check "they get past the checksums" mutants_are_read
check "every command takes $count of them, seed $seed" every_command
finish
