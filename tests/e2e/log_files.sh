#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The files that a recording makes: rotated under load, each whole by itself, never overwritten; a disk that is slow, full or gone; a target in which
# nothing happens.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

idle=
tracer=
disk=$tmp/disk # of 1 MiB, if we may mount one
trap 'kill -KILL $idle $tracer 2>/dev/null; mountpoint -q "$disk" && umount "$disk"' EXIT

# record NAME ITERATIONS MODE [OPTION...]: the loop under the recorder, with rings that hold all its events, its truth in NAME.truth.
record() {
	local name=$1 iterations=$2 mode=$3
	shift 3
	"$recorder" --ring-size 256M "$@" -- "$programs/probe_loop" --mode "$mode" --steps 200 --iterations "$iterations" --output "$tmp/$name.truth" \
		>"$tmp/$name.out" 2>"$tmp/$name.err"
}

begun_by() { # begun_by NAME: how many spans the program began
	jq -s 'map(.count) | add' "$tmp/$1.truth"
}

count() { # count KIND FILE...: records of a kind, in all files
	local kind=$1 file
	shift
	for file; do
		"$reader" dump -k "$kind" "$file" 2>/dev/null
	done | wc -l
}

each_is_sound() {
	local file
	for file; do
		"$reader" verify "$file" >"$tmp/verified" || fail "$file: $(cat "$tmp/verified")" || return
	done
}

files_in() {
	(cd "$1" && echo *)
}

# ---- rotation ----

rotated() {
	mkdir "$tmp/rotated"
	record rotated 200000 attributed --compress none --rotate-size 300K --keep 0 -o "$tmp/rotated/app.txtrace" || fail "it ended with $?: $(cat "$tmp/rotated.err")" || return
	ls -l "$tmp/rotated"
	[ -e "$tmp/rotated/app.000003.txtrace" ] && [ ! -e "$tmp/rotated/app.txtrace.partial" ] || fail "it did not rotate" || return
	each_is_sound "$tmp"/rotated/* || return
	[ "$(count span "$tmp"/rotated/*)" = "$(begun_by rotated)" ] || fail "$(begun_by rotated) spans were begun" || return
	[ "$(count attribute "$tmp"/rotated/*)" = "$(begun_by rotated)" ] || fail "attributes are missing" || return
	[ "$(count continued "$tmp"/rotated/*)" = $(($(find "$tmp/rotated" -type f | wc -l) - 1)) ] || fail "the ends of parts are not told"
}

# The directory is one log, and so are its files in any order.
they_are_read_as_one() {
	[ "$(count span "$tmp/rotated")" = "$(begun_by rotated)" ] || fail "$(begun_by rotated) spans were begun" || return
	# shellcheck disable=SC2046 # names without blanks
	"$reader" verify $(find "$tmp/rotated" -type f | sort -r) || return
	"$reader" report "$tmp/rotated" 2>&1 | tee "$tmp/rotated.report"
	! grep -qiE 'damage|missing|no summary' "$tmp/rotated.report"
}

# A thread that was there before the file began is introduced in it, before it does anything.
each_names_its_threads() {
	local file
	for file in "$tmp"/rotated/*; do
		"$reader" dump "$file" | grep -v '^loss' | head -n 1 | grep -E '^(thread|process) ' || fail "$file" || return
		"$reader" dump -k thread "$file" | grep -q 'comm="\?probe_loop' || fail "$file" || return
	done
}

names_all_files() {
	local file
	cat "$tmp/rotated.err"
	for file in "$tmp"/rotated/*; do
		[ "$(find "$tmp/rotated" -type f | wc -l)" -gt 10 ] || grep -q "^next: txtrace report .*$file" "$tmp/rotated.err" || fail "$file is not named" || return
	done
	grep -q "of log for .* files: '$tmp/rotated/app.000001.txtrace'.* '$tmp/rotated/app.txtrace'" "$tmp/rotated.err"
}

# Recordings follow each other: nothing is overwritten, the oldest go, and what somebody else put there stays.
goes_on_after_a_restart() {
	local folder=$tmp/again i
	mkdir "$folder" && echo "not a log" >"$folder/app.000002.txtrace"
	for i in 1 2 3 4 5; do
		record "again$i" $((i * 640)) begin-end -q --keep 3 -o "$folder/app.txtrace" || fail "it ended with $?" || return
	done
	ls -l "$folder"
	[ "$(files_in "$folder")" = "app.000002.txtrace app.000004.txtrace app.000005.txtrace app.txtrace" ] || return
	for i in 3:app.000004 4:app.000005 5:app; do
		[ "$(count span "$folder/${i#*:}.txtrace")" = $((${i%:*} * 640)) ] || fail "not those of recording ${i%:*}" || return
	done
	grep -q "not a log" "$folder/app.000002.txtrace"
}

a_directory_will_do() {
	mkdir "$tmp/directory"
	record directory 64 begin-end -q -o "$tmp/directory" && record directory 64 begin-end -q -o "$tmp/directory/" || fail "it ended with $?" || return
	[ "$(files_in "$tmp/directory")" = "txtrace.000001.txtrace txtrace.txtrace" ]
}

belong_to_the_user() {
	local theirs # nobody may look into the tests' own folder
	theirs=$(mktemp -d) && install -m 755 "$programs/probe_loop" "$theirs/" && mkdir "$theirs/logs" && chown -R 65534:65534 "$theirs"
	SUDO_UID=65534 SUDO_GID=65534 "$recorder" -q --ring-size 256M --compress none --rotate-size 300K --keep 0 -o "$theirs/logs/app" -- \
		"$theirs/probe_loop" --mode attributed --iterations 200000 --steps 200 >/dev/null || fail "it ended with $?" || return
	stat -c '%u %g %a %n' "$theirs"/logs/* | tee "$tmp/owned"
	rm -rf "$theirs"
	grep -q '/app.000001$' "$tmp/owned" && [ "$(cut -d ' ' -f 1-3 "$tmp/owned" | sort -u)" = "65534 65534 600" ]
}

compresses_as_told() {
	local codec
	for codec in none lz4 zstd; do
		record codec 6400 begin-end -q --compress $codec -o "$tmp/$codec.txtrace" || fail "it ended with $?" || return
		each_is_sound "$tmp/$codec.txtrace" && [ "$(count span "$tmp/$codec.txtrace")" = 6400 ] || return
	done
	[ "$(stat -c %s "$tmp/none.txtrace")" -gt "$(stat -c %s "$tmp/zstd.txtrace")" ]
}

# ---- a target in which nothing happens ----

start_idle() {
	mkfifo "$tmp/held" 2>/dev/null
	exec 8<>"$tmp/held"
	"$programs/idle" --wait-traced 60 --output "$tmp/idle.truth" <"$tmp/held" 8>&- &
	idle=$!
}

end_idle() {
	exec 8>&-
	wait $idle || fail "the program ended with $?" || return
	idle=
}

has_open_span() { # has_open_span FILE
	"$reader" dump -k open_span "$1" 2>/dev/null | grep -q 'label="\?idle'
}

# Nothing ever happens behind its begin that could push it out.
its_open_span_is_in_the_file() {
	start_idle
	"$recorder" -q -o "$tmp/idle.txtrace" -p "$idle" 2>"$tmp/idle.err" 8>&- &
	tracer=$!
	wait_for 20 has_open_span "$tmp/idle.txtrace.partial" || fail "it never came" || return
}

# It takes two kills, and nothing of either is lost.
two_crashes_cost_nothing() {
	kill -KILL $tracer
	wait $tracer
	"$recorder" -q -o "$tmp/idle.txtrace" -p "$idle" 2>"$tmp/idle.err" 8>&- &
	tracer=$!
	wait_for 20 has_open_span "$tmp/idle.txtrace" || fail "the first one's file is gone" || return
	wait_for 20 test -s "$tmp/idle.txtrace.partial" || return
	kill -KILL $tracer
	wait $tracer
	"$recorder" -q -o "$tmp/idle.txtrace" -d 200ms -p "$idle" || fail "it ended with $?" || return
	ls "$tmp"/idle*
	has_open_span "$tmp/idle.000001.txtrace" || fail "the first one's file is gone" || return
	[ -e "$tmp/idle.000002.txtrace" ] && each_is_sound "$tmp/idle.txtrace"
}

one_name_for_one_recorder() {
	"$recorder" -q -o "$tmp/busy.txtrace" -p "$idle" 2>"$tmp/idle.err" 8>&- &
	tracer=$!
	wait_for 20 test -s "$tmp/busy.txtrace.partial" || return
	"$recorder" -q -o "$tmp/busy.txtrace" -p "$idle" 2>"$tmp/err"
	local status=$?
	cat "$tmp/err"
	kill -INT $tracer
	wait $tracer || fail "the first one ended with $?" || return
	[ $status = 2 ] && grep -qE "^txtrace-bpf: .*busy.txtrace.*another recorder writes it" "$tmp/err" && [ "$(wc -l <"$tmp/err")" = 1 ] || return
	[ -e "$tmp/busy.txtrace" ] && [ ! -e "$tmp/busy.000001.txtrace" ]
}

# one_end PATTERN: it ended by itself, in one sentence.
one_end() {
	wait_for 20 has_ended $tracer || fail "it goes on" || return
	wait $tracer
	local status=$?
	cat "$tmp/idle.err"
	[ $status = 3 ] || fail "the status is $status" || return
	[ "$(wc -l <"$tmp/idle.err")" = 1 ] && grep -qE "^txtrace-bpf: recording stopped: .*($1)" "$tmp/idle.err"
}

ends_with_its_directory() {
	mkdir "$tmp/doomed"
	"$recorder" -q -o "$tmp/doomed/app.txtrace" -p "$idle" 2>"$tmp/idle.err" 8>&- &
	tracer=$!
	wait_for 20 test -s "$tmp/doomed/app.txtrace.partial" || return
	rm -r "$tmp/doomed"
	one_end 'No such file or directory' && runs "$idle"
}

# ---- a disk that does not keep up ----

# A pipe that nobody reads until the program has ended. The log is three times as large as the queue, so that it also overflows if the recorder is behind the
# program by then.
a_slow_disk_is_told() {
	local status=0
	mkfifo "$tmp/pipe"
	exec 9<>"$tmp/pipe"
	record slow 1000000 keyed --queue-size 4M --compress none -o "$tmp/pipe" &
	tracer=$!
	wait_for 100 test -s "$tmp/slow.truth" || return
	cat <"$tmp/pipe" >"$tmp/slow.txtrace" 9>&- &
	exec 9>&-
	wait $tracer || status=$?
	wait $!
	cat "$tmp/slow.err"
	[ $status = 0 ] || fail "it ended with $status" || return
	"$reader" report "$tmp/slow.txtrace" >"$tmp/slow.report" 2>&1
	cat "$tmp/slow.report"
	grep -q "the disk did not keep up" "$tmp/slow.err" && grep -q "^dropped" "$tmp/slow.report"
}

# The program's number is the sum, and the recorder says the same number as its log.
every_dropped_span_is_counted() {
	local written dropped begun
	begun=$(begun_by slow)
	written=$(count span "$tmp/slow.txtrace")
	dropped=$("$reader" export "$tmp/slow.txtrace" --format jsonl 2>/dev/null | jq -s 'map(select(.type == "dropped") | .records.span) | add')
	echo "begun $begun, written $written, dropped $dropped"
	[ "$written" -gt 0 ] && [ "$dropped" -gt 0 ] && [ $((written + dropped)) = "$begun" ] || return
	grep "not in the log" "$tmp/slow.err" | tr -d , | grep -q " $dropped of them spans"
}

a_slow_disk_is_waited_for_with_sync() {
	mkfifo "$tmp/synced"
	cat <"$tmp/synced" >"$tmp/synced.txtrace" &
	record synced 100000 keyed --sync --queue-size 4M --compress none -o "$tmp/synced" || fail "it ended with $?" || return
	wait $!
	[ "$(count dropped "$tmp/synced.txtrace")" = 0 ] && [ "$(count span "$tmp/synced.txtrace")" = "$(begun_by synced)" ]
}

# ---- a disk that is full ----

stops_when_full_with_parts() {
	record full 4000000 attributed --compress none --rotate-size 200K --keep 0 -o "$disk/app.txtrace"
	local status=$? file
	cat "$tmp/full.err" && ls -l "$disk"
	[ $status = 3 ] || fail "the status is $status" || return
	for file in "$disk"/*; do
		grep -q "recording stopped: No space left on device; what was recorded before is in .*'$file'" "$tmp/full.err" || fail "it does not name $file" || return
		"$reader" dump -k span "$file" 2>/dev/null | grep -q '^span' || fail "$file can't be read" || return
	done
	each_is_sound "$disk"/app.0*.txtrace || return
	[ -s "$tmp/full.truth" ] || fail "the program was ended"
}

# The files of the recording before are in the way: they go, once there is room for a beginning.
stays_below_a_cap() {
	rm "$disk/app.000001.txtrace"
	record capped 400000 attributed --compress none --rotate-size 100K --keep-size 600K -o "$disk/app.txtrace" || fail "it ended with $?: $(cat "$tmp/capped.err")" || return
	cat "$tmp/capped.err" && ls -l "$disk"
	[ "$(du -sk "$disk" | cut -f1)" -le 640 ] || return
	grep -q "the oldest of its .* files were removed to make room" "$tmp/capped.err" && each_is_sound "$disk"/app*.txtrace
}

check "rotation under load: all that the program did is in the files, and each is sound by itself" rotated
check "the files are read as one log" they_are_read_as_one
check "each file begins with the threads that live" each_names_its_threads
check "the closing words name all files" names_all_files
check "a restart goes on with the numbers; the oldest logs go, other files stay" goes_on_after_a_restart
check "a directory is a place for the log" a_directory_will_do
check "every file belongs to the user who called sudo" belong_to_the_user
check "batches are compressed as told" compresses_as_told
check "an open span of a target in which nothing happens is in the file" its_open_span_is_in_the_file
check "what two crashes left is kept" two_crashes_cost_nothing
check "a name that is being written is refused to a second recorder" one_name_for_one_recorder
check "a directory that vanishes ends the recording of an idle target in one sentence" ends_with_its_directory
check "the idle program saw nothing of all that" end_idle
check "a disk that does not keep up costs batches, and the log and the recorder say so" a_slow_disk_is_told
check "what was written and what was dropped is what the program did" every_dropped_span_is_counted
check "with --sync nothing is dropped" a_slow_disk_is_waited_for_with_sync
if mkdir -p "$disk" && mount -t tmpfs -o size=1m none "$disk" 2>/dev/null; then
	check "a full disk ends the recording in one sentence, and leaves files that can be read" stops_when_full_with_parts
	check "with a cap it is never full" stays_below_a_cap
fi
finish
