#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# An hour of a recorder whose targets come and go all the time, with new threads, labels, keys and processes, and whose log is rotated within a limit: once it is
# warm, it takes no more memory and no more descriptors, and the disk that it was given is enough. `make check-all` runs it. TXTRACE_GROWTH_S: so many seconds
# instead of 3,600; at least 120.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

seconds=${TXTRACE_GROWTH_S:-3600}
keep_bytes=$((4 << 20))
tracer=
crowd=
cleanup() {
	jobs -p | xargs -r kill -KILL 2>/dev/null
	wait 2>/dev/null
}
trap cleanup EXIT

# One turn: what a recorder keeps tables of, and none of it is there any more behind it. A million labels in a program of its own each time, more than are
# kept of one.
turn() { # turn SEED
	"$programs/family" --wait-traced 0 --children 30 --depth 3 --spans 20 --exec 1 >/dev/null
	"$programs/thread_storm" --threads 2000 >/dev/null
	"$programs/random" --wait-traced 0 --spans 200 --seed "$1" --threads 16 >/dev/null
	"$programs/plenty" --wait-traced 0 --what keys --count 5000
	"$programs/plenty" --wait-traced 0 --what spans --count 20000
	"$programs/plenty" --wait-traced 0 --what futexes --count 2000
	"$programs/hostile" --wait-traced 0 --what labels --rounds 500 >/dev/null
	timeout 5 "$programs/hostile" --wait-traced 0 --what ids --rounds 20 >/dev/null
	[ "$1" -gt 5 ] || renew "$1"
}

# Files that nobody has seen. What is known of a file's code, about a megabyte each, is kept to the end, of 256 files (userspace/attach/code/code_map.h): so only the
# first turns have some.
renew() { # renew SEED
	cp "$programs/spin" "$tmp/renewed.$1"
	"$tmp/renewed.$1" --wait-traced 0 --repeat 2 >/dev/null
	rm -f "$tmp/renewed.$1"
}

keeps_going() {
	local seed=0
	while :; do
		seed=$((seed + 1))
		turn $seed
		echo $seed >"$tmp/turns"
	done
}

records_for_an_hour() {
	mkdir "$tmp/logs"
	keeps_going >"$tmp/crowd.out" 2>&1 &
	crowd=$!
	"$recorder" --messages json -f -p $crowd --stacks off-cpu --rotate-size 1M --keep 0 --keep-size $keep_bytes --span-memory 64M --queue-size 8M -o "$tmp/logs/log.txtrace" \
		>"$tmp/out" 2>"$tmp/err" &
	tracer=$!
	wait_for 60 grep -qs '"message":"recording"' "$tmp/err" || fail "it does not record: $(cat "$tmp/err")" || return
	python3 tests/long/growth_watch.py "$tracer" "$seconds" "$tmp/logs" $keep_bytes >"$tmp/growth"
	local status=$?
	sed 's/^/# MEASURED /' "$tmp/growth" >&3
	kill -INT "$tracer"
	wait "$tracer" || fail "the recorder ended with $?: $(tail -n 5 "$tmp/err")" || return
	echo "# MEASURED $(cat "$tmp/turns") turns" >&3
	kill -KILL $crowd
	cat "$tmp/growth"
	return $status
}

# What is left is a log: parts that follow each other, the last of which says what was sent, received and lost.
log_is_sound() {
	local files
	files=$(find "$tmp/logs" -name '*.txtrace' | wc -l)
	[ "$files" -ge 2 ] && [ -e "$tmp/logs/log.txtrace" ] || fail "$(ls "$tmp/logs")" || return
	"$reader" info --json "$tmp/logs/log.txtrace" >"$tmp/info" || return
	jq -c '[.first_part, .losses]' "$tmp/info"
	jq -e '.complete and .losses.balanced and .losses.sent == .losses.received + .losses.lost and .first_part > 0' "$tmp/info" >/dev/null || return
	"$reader" verify "$tmp/logs/log.txtrace" || fail "it is not sound"
}

exec 3>&1
check "$seconds s of programs that come and go: memory, descriptors and disk stay" records_for_an_hour
check "what is left is a sound log" log_is_sound
finish
