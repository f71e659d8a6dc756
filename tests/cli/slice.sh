#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A slice has what overlaps its range, each record as it was.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

make_from sound
make_from small
make_from export
run 0 dump sound.txtrace
cp "$tmp/out" "$tmp/all"

everything() { # everything NAME
	run 0 slice -o slice.txtrace "$1.txtrace" && run 0 dump "$1.txtrace" && cp "$tmp/out" "$tmp/before" && run 0 dump slice.txtrace &&
		diff "$tmp/before" "$tmp/out" || return
	run 0 info --json slice.txtrace && jq -S .capture "$tmp/out" >"$tmp/info" && run 0 info --json "$1.txtrace" &&
		jq -S .capture "$tmp/out" | diff - "$tmp/info"
}

# has LINES OPTION...: the slice has exactly these lines of the log's dump, and is sound
has() {
	local wanted=$1
	shift
	run 0 slice "$@" -o slice.txtrace sound.txtrace || return
	[ ! -s "$tmp/err" ] || fail "it said: $(cat "$tmp/err")" || return
	grep -q "^$(wc -w <<<"$wanted") of 18 records, .*, are in 'slice.txtrace'$" "$tmp/out" || fail "it printed: $(cat "$tmp/out")" || return
	run 0 dump slice.txtrace || return
	for line in $wanted; do
		sed -n "${line}p" "$tmp/all"
	done | diff - "$tmp/out" || return
	run 0 verify slice.txtrace || fail "$(cat "$tmp/out")"
}

says_so() {
	run 0 slice -f 2s --to=7s -l 'tr*' -p 100 -o slice.txtrace sound.txtrace && run 0 info --json slice.txtrace || return
	[ "$(jq -r .capture.options "$tmp/out")" = "-p 100; txtrace slice --from 2s --to 7s --label tr* --pid 100" ] || fail "$(jq -r .capture.options "$tmp/out")"
}

# The label is longer than the header has room for; that it is a slice is told all the same.
says_so_briefly() {
	run 0 slice -l "$(printf 'x%.0s' {1..1000})" -o slice.txtrace sound.txtrace && run 0 info --json slice.txtrace || return
	jq -r .capture.options "$tmp/out" | grep -q '^-p 100; txtrace slice --label x*$' || fail "$(jq -r .capture.options "$tmp/out")"
}

damaged_header() {
	cp "$tmp/sound.txtrace" "$tmp/headless.txtrace"
	printf '\xee' | dd of="$tmp/headless.txtrace" bs=1 seek=20 conv=notrunc status=none
	complains "the header of 'headless.txtrace' is damaged, and with it the time when the capture began: give times as 'txtrace dump' prints them, as in 6098565896422abs" \
		slice -f 1s -o slice.txtrace headless.txtrace || return
	run 1 slice -f 3500000000abs -o slice.txtrace headless.txtrace && run 1 dump -k span slice.txtrace && [ "$(wc -l <"$tmp/out")" = 3 ]
}

little_memory() {
	awk 'BEGIN {
		for (i = 1; i <= 9000; i++) {
			print "attribute time_ns=" 10 * i " pid=1 tid=1 span=" i " name=\"n\" value_type=int value=1"
			print "span begin_ns=" 10 * i " end_ns=" 10 * i + 5 " pid=1 tid=1 end_tid=1 id=" i " label=\"" (i % 9 ? "a" : "b") "\" work_ns=5 on_cpu_ns=5"
		}
		print "summary time_ns=90010"
	}' </dev/null | "$make_log" "$tmp/many.txtrace"
	run 0 slice -l a -o slice.txtrace many.txtrace && [ ! -s "$tmp/err" ] && grep -q "^16,001 of 18,001" "$tmp/out" || fail "$(cat "$tmp/out" "$tmp/err")" || return
	run 0 slice -l a --max-memory 64K -o slice.txtrace many.txtrace && grep -q "^17,001 of 18,001" "$tmp/out" &&
		grep -q "^txtrace: there are more spans than fit into memory: attributes, .* are kept for all spans" "$tmp/err" || fail "$(cat "$tmp/out" "$tmp/err")"
}

check "all of a log with nothing special is that log" everything sound
check "all of a log with every kind of record is that log" everything small
check "all of a log with strings that are no text is that log" everything export
# The lines of the dump: 1, 2 threads; 3 run 1.9-2.1 s; 4 attribute of span 1; 5 checkpoint of 9; 6 wake 2.4; 7 span 2, 2-2.5 s; 8 span 1, 2-3 s;
# 9 run with its wait 2.1-3.5 s; 10 instant 3.6; 11 counter 3.7; 12 link 3.8; 13 span 3, 3-4 s; 14 attribute of span 4; 15 span 4, 4-5 s; 16 thread 5.5;
# 17 span 9, 1.5-6 s; 18 summary. The capture began at 1 s.
check "a range" has "1 2 5 9 10 11 12 13 17 18" --from 2s --to 3s
check "a range by the clock" has "1 2 5 9 10 11 12 13 17 18" --from 3000000000abs --to 4000000000abs
check "a span that reaches over has all that is said about it" has "1 2 4 5 6 7 8 9 12 17 18" -f 1.3s -t 1.45s
check "from" has "1 2 5 14 15 16 17 18" --from 3000ms
check "to" has "1 2 3 4 5 7 8 12 17 18" --to 1.05s
check "a label" has "1 2 3 4 6 8 9 10 11 12 13 16 18" --label 'trans*'
check "a label in a range" has "1 2 9 10 11 12 13 18" --label transfer -f 2s -t 3s
check "a process that is there" has "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18" --pid 100
check "a process that is not there" has "18" --pid 1
check "a range with nothing in it" has "1 2 16 18" --from 100s
check "the header says that it is a slice" says_so
check "the header says so also when there is little room" says_so_briefly
check "a log that lost its header" damaged_header
check "with little memory, more is kept, and that is said" little_memory
check "a range that is none" complains "there is nothing between --from 2s and --to 1s" slice -f 2s -t 1s -o x sound.txtrace
check "an end before the beginning" complains "there is nothing between --from the beginning and --to 0abs" slice -t 0abs -o x sound.txtrace
check "a time that is none" complains "option '--to' takes a time since the capture began like 250us, 1.5s or 2m, or one of CLOCK_MONOTONIC like 6098565896422abs, not '1x'" \
	slice -t 1x -o x sound.txtrace
check "a number that is none" complains "option '--to' takes a time since the capture began like 250us, 1.5s or 2m, or one of CLOCK_MONOTONIC like 6098565896422abs, not 'abs'" \
	slice -t abs -o x sound.txtrace
finish
