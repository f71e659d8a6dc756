#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What cannot be read is said, with where and how much; what can be read is shown; status 1 tells it from a whole log and from none.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

# Two batches and the summary: the spans a and b are in the first, c and d in the second.
batches() {
	cat <<-END
		header pid=1 cpus=1 command="bank" start_monotonic_ns=1000 start_realtime_ns=1763725203000000000
		span begin_ns=1000 end_ns=2000 pid=1 tid=1 end_tid=1 id=1 label="a" work_ns=1000 on_cpu_ns=1000
		span begin_ns=2000 end_ns=3000 pid=1 tid=1 end_tid=1 id=2 label="b" work_ns=1000 on_cpu_ns=1000
		flush
		span begin_ns=3000 end_ns=4000 pid=1 tid=1 end_tid=1 id=3 label="c" work_ns=1000 on_cpu_ns=1000
		span begin_ns=4000 end_ns=5000 pid=1 tid=1 end_tid=1 id=4 label="d" work_ns=1000 on_cpu_ns=1000
		flush
		$1
	END
}

batches "summary time_ns=6000 sent_cnt=8 received_cnt=8" | "$make_log" "$tmp/whole.txtrace" none
batches abort | "$make_log" "$tmp/crashed.txtrace" none
batches "span begin_ns=1 end_ns=2 id=9 label=\"e\" work_ns=1 on_cpu_ns=1" | "$make_log" "$tmp/open.txtrace" none

labels() {
	sed -nE 's/^span .* label="([^"]*)".*/\1/p' "$tmp/out" | tr -d '\n'
}

damage_byte() { # damage_byte OFFSET: as damaged.txtrace
	cp "$tmp/whole.txtrace" "$tmp/damaged.txtrace"
	printf '\xee' | dd of="$tmp/damaged.txtrace" bs=1 seek="$1" conv=notrunc status=none
}

spans_after_cut() { # spans_after_cut LENGTH
	head -c "$1" "$tmp/whole.txtrace" >"$tmp/cut.txtrace"
	(cd "$tmp" && "$txtrace" dump -k span cut.txtrace 2>"$tmp/err" >"$tmp/out")
}

# Whatever is missing at the end: a prefix of the spans, status 1 or 2, one sentence at least, never a crash.
cut_anywhere() {
	local size at status seen=
	size=$(stat -c %s "$tmp/whole.txtrace")
	for ((at = 0; at < size; at += 11)); do
		spans_after_cut $at
		status=$?
		case $status:$(labels) in
		2:) ;;
		0:abcd) ;; # only the index is missing, or what is behind the summary
		1: | 1:ab | 1:abcd) ;;
		*) fail "cut at $at: status $status, spans '$(labels)'" || return ;;
		esac
		seen="$seen $status:$(labels)"
		[ $status = 0 ] || grep -q '^txtrace: ' "$tmp/err" || fail "cut at $at: nothing is said" || return
	done
	# All of these came.
	for status in 2: 1: 1:ab 1:abcd; do
		grep -qw -- "$status" <<<"$seen" || fail "no cut gave $status" || return
	done
}

# A byte of the file changed: at most one batch is lost, and what is shown is true.
damage_anywhere() {
	local size at status seen=
	size=$(stat -c %s "$tmp/whole.txtrace")
	for ((at = 0; at < size; at += 11)); do
		damage_byte $at
		(cd "$tmp" && "$txtrace" dump -k span damaged.txtrace >"$tmp/out" 2>"$tmp/err")
		status=$?
		case $status:$(labels) in
		2:) ;;
		0:abcd | 1:abcd | 1:ab | 1:cd) ;;
		*) fail "byte $at: status $status, spans '$(labels)'" || return ;;
		esac
		seen="$seen $status:$(labels)"
		[ $status = 0 ] || grep -q '^txtrace: ' "$tmp/err" || fail "byte $at: nothing is said" || return
	done
	for status in 1:abcd 1:ab 1:cd; do
		grep -qw -- "$status" <<<"$seen" || fail "no damage gave $status" || return
	done
}

# The damage is told with its offset, counted, and shown in every view; the rest is there.
damage_is_told() {
	local at
	for ((at = 0; ; at++)); do
		damage_byte $at
		run 1 dump -k span damaged.txtrace >/dev/null && grep -q 'with 2 records' "$tmp/err" && [ "$(labels)" = cd ] && break
	done
	grep -qE "^txtrace: 'damaged.txtrace' is damaged at byte [0-9]+: .*; [0-9]+ bytes with 2 records are skipped$" "$tmp/err" ||
		fail "no offset: $(cat "$tmp/err")" || return
	grep -qE "^txtrace: 'damaged.txtrace' has 1 damaged part, [0-9]+ B: at least 2 records missing from what is shown$" "$tmp/err" ||
		fail "no sum: $(cat "$tmp/err")" || return
	run 1 report damaged.txtrace || return
	grep -qE '^damage +1 part of the file, [0-9]+ B: at least 2 records missing$' "$tmp/out" || fail "report says nothing" || return
	grep -q '^c ' "$tmp/out" || fail "report does not show the rest" || return
	run 1 report --json damaged.txtrace || return
	jq -e '.complete == false and .damage.parts == 1 and .damage.records == 2 and ([.labels[].label] | sort) == ["c", "d"]' "$tmp/out" || return
	run 1 spans damaged.txtrace && grep -q '^2 of 2 spans' <(tail -n 1 "$tmp/out") || fail "spans" || return
	run 1 info damaged.txtrace && grep -q '^damage ' "$tmp/out" || fail "info" || return
	run 1 export -f jsonl damaged.txtrace || fail "export" || return
	[ "$(jq -r 'select(.type == "span").label' "$tmp/out" | tr -d '\n')" = cd ] || fail "export does not have the rest"
}

crashed_recorder() {
	run 1 dump -k span crashed.txtrace.partial || return
	[ "$(labels)" = abcd ] || fail "spans '$(labels)'" || return
	grep -q "^txtrace: 'crashed.txtrace.partial' has no summary: recording did not end cleanly" "$tmp/err"
}

no_summary() {
	run 1 report open.txtrace && grep -q '0 lost as far as the log goes' "$tmp/out" && [ "$(wc -l <"$tmp/err")" = 1 ]
}

unreadable() { # unreadable FILE WORDS
	run 2 report "$1" || return
	[ ! -s "$tmp/out" ] || fail "it printed something" || return
	[ "$(wc -l <"$tmp/err")" = 1 ] || fail "that is not one sentence: $(cat "$tmp/err")" || return
	grep -q "^txtrace: can't read '$1': .*$2" "$tmp/err" || fail "it said: $(cat "$tmp/err")"
}

: >"$tmp/nothing"
echo 'this is a letter, and no log' >"$tmp/letter"
head -c 100000 /dev/zero >"$tmp/zeros"
cp "$txtrace" "$tmp/program"
mkdir "$tmp/folder"

# A hole has no bytes that have to be looked at: four terabytes of them are behind or within a log.
holes_are_passed_over() {
	local command
	cp "$tmp/crashed.txtrace.partial" "$tmp/tail.txtrace" && truncate -s 4T "$tmp/tail.txtrace" || return
	cp "$tmp/whole.txtrace" "$tmp/middle.txtrace" && truncate -s 4T "$tmp/middle.txtrace" && cat "$tmp/whole.txtrace" >>"$tmp/middle.txtrace" || return
	for command in report verify "dump -k span" "repair -o repaired.txtrace"; do
		rm -f "$tmp/repaired.txtrace"
		# shellcheck disable=SC2086 # a command and its options
		(cd "$tmp" && timeout 300 "$txtrace" $command tail.txtrace >out 2>err)
		[ $? -le 1 ] || fail "$command: $(cat "$tmp/err")" || return
	done
	(cd "$tmp" && timeout 300 "$txtrace" dump -k span tail.txtrace >out 2>err)
	[ "$(labels)" = abcd ] || fail "of the sparse tail: $(labels)" || return
	(cd "$tmp" && timeout 300 "$txtrace" dump -k span middle.txtrace >out 2>err)
	cat "$tmp/err"
	[ "$(labels)" = abcdabcd ] || fail "behind the hole: $(labels)"
}

can_have_holes() {
	truncate -s 4T "$tmp/sparse" 2>/dev/null && [ "$(stat -c %b "$tmp/sparse")" -lt 1000 ]
	local status=$?
	rm -f "$tmp/sparse"
	return $status
}

check "a whole log is read in silence" run 0 report whole.txtrace
check "a log that was cut off anywhere is read up to there" cut_anywhere
check "a log that is damaged anywhere loses one batch at most" damage_anywhere
check "damage is told, with its place and its size, by every command" damage_is_told
check "the log of a recorder that was killed is read" crashed_recorder
check "a log without a summary says that losses are not known" no_summary
check "no such file" unreadable absent 'no such file'
check "an empty file" unreadable nothing ''
check "a text" unreadable letter ''
check "zeros" unreadable zeros ''
check "another binary" unreadable program ''
check "a folder" unreadable folder ''
if can_have_holes; then
	check "a hole of terabytes is passed over" holes_are_passed_over
fi
finish
