#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A capture that was rotated into several files is one log: given as a directory or file by file, and each file says which part it is.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

# part FILE NUMBER LAST-LINE [CAPTURE]: two batches of a capture, with one span each
part() {
	local number=$2 begin=$(($2 * 1000))
	"$make_log" "$tmp/$1" <<-END
		header pid=1 cpus=1 command="bank" boot_id="${5:-boot}" capture_id="${4:-capture}" part=$number first_sequence=$((number * 3)) start_monotonic_ns=1000 start_realtime_ns=1763725203000000000
		thread time_ns=$((begin + 1000)) pid=1 tid=1 comm="bank"
		span begin_ns=$((begin + 1000)) end_ns=$((begin + 1500)) pid=1 tid=1 end_tid=1 id=$((number * 2 + 1)) label="a$number" work_ns=500 on_cpu_ns=500
		flush
		span begin_ns=$((begin + 1500)) end_ns=$((begin + 1900)) pid=1 tid=1 end_tid=1 id=$((number * 2 + 2)) label="b$number" work_ns=400 on_cpu_ns=400
		$3
	END
}

summary() { # summary TIME COUNT
	echo "summary time_ns=$1 sent_cnt=$2 received_cnt=$2"
}

mkdir "$tmp/capture"
part capture/app.000001.txtrace 0 "continued time_ns=1900 next_part=1"
part capture/app.000002.txtrace 1 "continued time_ns=2900 next_part=2"
part capture/app.txtrace 2 "$(summary 3900 12)"
echo "this is no log" >"$tmp/capture/notes"

labels() {
	sed -nE 's/^span .* label="([^"]*)".*/\1/p' "$tmp/out" | tr '\n' ' '
}

a_directory() {
	run 0 dump capture && [ ! -s "$tmp/err" ] && [ "$(labels)" = "a0 b0 a1 b1 a2 b2 " ] || fail "$(cat "$tmp/out" "$tmp/err")" || return
	[ "$(grep -c '^continued' "$tmp/out")" = 0 ] || fail "it goes on in a file that was read"
}

several_files() {
	run 0 report --json capture/app.txtrace capture/app.000002.txtrace capture/app.000001.txtrace && [ ! -s "$tmp/err" ] &&
		jq -e '.complete and .totals.exact.count == 6' "$tmp/out" >/dev/null || fail "$(cat "$tmp/err"; jq -c .totals "$tmp/out")" || return
	run 0 spans --json capture && jq -e '.span_count == 6' "$tmp/out" >/dev/null || return
	run 0 export -f jsonl capture && [ "$(jq -r 'select(.type == "span").label' "$tmp/out" | tr -d '\n')" = a0b0a1b1a2b2 ]
}

info_of_all() {
	run 0 info capture && grep -qE "^files +3, from 'capture/app.000001.txtrace' to 'capture/app.txtrace'$" "$tmp/out" && grep -qE '^parts +parts 0 to 2$' "$tmp/out" ||
		fail "$(cat "$tmp/out")" || return
	run 0 info --json capture && jq -e '.files == 3 and .captures == 1 and .first_part == 0 and .last_part == 2 and .complete' "$tmp/out" >/dev/null
}

# One part alone is read in full, and says what it is.
one_part() {
	run 0 report capture/app.000002.txtrace || return
	[ "$(cat "$tmp/err")" = "txtrace: 'capture/app.000002.txtrace' is part 1 of its capture; what comes before and after it is in other files: give them, too, or their directory" ] ||
		fail "$(cat "$tmp/err")" || return
	run 0 info capture/app.000002.txtrace && grep -qE '^parts +part 1; it continues in another file$' "$tmp/out" || fail "$(cat "$tmp/out")" || return
	run 0 info capture/app.txtrace && grep -q 'what comes before it is in other files' "$tmp/err" || fail "$(cat "$tmp/err")" || return
	run 0 info capture/app.000001.txtrace && grep -q 'what comes after it is in other files' "$tmp/err" || fail "$(cat "$tmp/err")" || return
	run 0 verify capture/app.000002.txtrace || fail "$(cat "$tmp/out")"
}

missing_part() {
	mkdir -p "$tmp/gap" && cp "$tmp"/capture/app.000001.txtrace "$tmp"/capture/app.txtrace "$tmp/gap" && run 1 report --json gap || return
	grep -q "^txtrace: 'gap/app.txtrace' is damaged at byte 0: a part of the capture before this file is missing; 0 bytes are skipped$" "$tmp/err" || fail "$(cat "$tmp/err")" || return
	jq -e '.complete == false and .damage.parts == 1' "$tmp/out" >/dev/null || return
	run 1 verify gap
}

retention() {
	run 0 report capture/app.000002.txtrace capture/app.txtrace || return
	[ "$(cat "$tmp/err")" = "txtrace: 'capture/app.000002.txtrace and 1 more' begins with part 1 of its capture; what comes before is in other files, or was removed" ] || fail "$(cat "$tmp/err")"
}

verified() {
	run 0 verify capture && grep -q "^'capture' is sound$" "$tmp/out" || fail "$(cat "$tmp/out")"
}

# What is made of all parts is one log, complete in itself.
one_log() {
	run 0 "$@" -o "one.txtrace" capture && run 0 verify one.txtrace && run 0 info --json one.txtrace || fail "$(cat "$tmp/out" "$tmp/err")" || return
	jq -e '.files == 1 and .first_part == 0 and .records.span == 6 and .records.continued == 0 and .complete' "$tmp/out" >/dev/null || fail "$(cat "$tmp/out")"
}

# The recorder was started again.
two_captures() {
	mkdir -p "$tmp/two" && cp "$tmp"/capture/*.txtrace "$tmp/two" && part two/later.txtrace 0 "$(summary 1900 5)" "later capture" || return
	run 0 info --json two && jq -e '.captures == 2 and .files == 4 and .losses.sent == 17 and .records.span == 8' "$tmp/out" >/dev/null || fail "$(cat "$tmp/out")" || return
	run 0 info two && grep -q '2 captures, read one after the other' "$tmp/out" || return
	run 0 verify two || fail "$(cat "$tmp/out")" || return
	complains "'two' is of 2 captures: this works on one capture, and 'txtrace merge' makes one log of those that are each given by a file or a directory of its own" recompress -o x.txtrace two || return
	part two/later.txtrace 0 "" "later capture" && run 1 info two || return
	run 1 merge -o merged.txtrace capture two/later.txtrace && run 1 info --json merged.txtrace && jq -e '.records.span == 8' "$tmp/out" >/dev/null
}

refused() {
	complains "can't read 'capture/app.txtrace': it is the same part of one capture as 'capture/app.txtrace'" report capture capture/app.txtrace || return
	part other_boot.txtrace 0 "$(summary 1900 5)" other "another boot" || return
	run 2 report capture other_boot.txtrace && grep -q "^txtrace: can't read '.*': it is not of the same boot of the same machine as '.*'; 'txtrace merge' puts such logs together$" "$tmp/err" ||
		fail "$(cat "$tmp/err")" || return
	complains "'capture' is a directory: repair one file at a time" repair -o x.txtrace capture || return
	complains "can't write 'capture/app.txtrace': it is the log that is read" recompress -o capture/app.txtrace capture || return
	complains "can't write 'capture/app.000002.txtrace': it is the log itself" export -f jsonl -o capture/app.000002.txtrace capture || return
	mkdir -p "$tmp/nothing" && complains "can't read 'nothing': there is no log in this directory" report nothing
}

# has LABELS OPTION...: dump of all parts has these spans, whatever the number of threads
has() {
	local wanted=$1 threads
	shift
	for threads in 0 1 2 5; do
		(cd "$tmp" && TXTRACE_THREADS=$threads "$txtrace" dump -k span "$@" capture >"$tmp/out" 2>"$tmp/err") || fail "$(cat "$tmp/err")" || return
		[ "$(labels)" = "$wanted" ] || fail "with $threads threads: $(labels)" || return
	done
}

check "a directory is read as one log" a_directory
check "several files are read as one log, in their order" several_files
check "info tells the parts" info_of_all
check "one part alone says that it is one" one_part
check "a part that is missing in the middle is told" missing_part
check "parts that are missing at the beginning are told" retention
check "all parts are verified together" verified
check "recompress makes one log of them" one_log recompress
check "slice makes one log of them" one_log slice
check "anonymize makes one log of them" one_log anonymize
check "merge makes one log of them" one_log merge
check "two captures of one boot are read one after the other" two_captures
check "what does not go together is refused" refused
check "dump: all" has "a0 b0 a1 b1 a2 b2 "
check "dump: from a time" has "b1 a2 b2 " --from 1900ns
check "dump: from a time of the clock" has "b1 a2 b2 " --from 2900abs
check "dump: to a time" has "a0 b0 a1 " --to 1900ns
check "dump: a range" has "b0 a1 " -f 700ns -t 1800ns
check "dump: a range without records" has "" -f 5s
finish
