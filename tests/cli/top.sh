#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The live view as text: the figures of a log that says which they must be (top_log.py), of random logs as `report` has them, and of one that is being written.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

python3 tests/cli/top_log.py >"$tmp/top.txt" && "$make_log" "$tmp/top.txtrace" <"$tmp/top.txt" || exit

# page ARGUMENT...: one page of it, without what bars are made of
page() {
	run 0 top --batch 1 "$@" top.txtrace || return
	grep -q . "$tmp/out" || fail "there is nothing"
}

# figures NAME: of its row, without the bar; "": it has no row
figures() {
	sed -n "s/^$1  //p" "$tmp/out" | sed 's/█\|▓\|▒\|░//g' | tr -s ' ' | sed 's/^ //;s/ $//'
}

has_row() { # has_row NAME FIGURES
	[ "$(figures "$1")" = "$2" ] || fail "the row of $1 is: $(figures "$1"), not: $2"
}

# p50 of 1 to 20 is 10, p99 20, by nearest rank. 20 spans in 10 s are 2 a second.
windows() {
	page && has_row ten "2.00 0 10.0 ms 20.0 ms lock 50% holder" && has_row now "0.40 0 2.00 ms 4.00 ms" && has_row holder "0.80 0 100 ns 100 ns" &&
		has_row minute "0.00 0" && has_row old "" || return
	page -w 1 && has_row now "4.00 0 2.00 ms 4.00 ms" && has_row ten "0.00 0" && has_row old "" || return
	page -w 60 && has_row minute "0.10 0 5.00 ms 5.00 ms" && has_row ten "0.33 0 10.0 ms 20.0 ms lock 50% holder" && has_row old ""
}

# Lower bounds are spans that ended, and say nothing on times.
lower_bounds() {
	page && has_row cut "0.10 0"
}

head_line() {
	page || return
	[ "$(head -n 1 "$tmp/out")" = "shop: ended, 2025-11-21 11:41:09.500 UTC after 69.5 s" ] &&
		[ "$(sed -n 2p "$tmp/out")" = "40 spans, 3 open, 7 lost" ] && [ "$(sed -n 3p "$tmp/out")" = "the last 10 s by label, most time first" ] ||
		head -n 3 "$tmp/out" | fail "$(cat)"
}

open_spans() {
	page || return
	sed -n '/^open for/,$p' "$tmp/out" | tr -s ' ' | sed 's/^ //' >"$tmp/open"
	diff - "$tmp/open" <<-END
		open for label thread waits for id
		59.5 s oldest reader 31 disk, for 1.00 s 600
		49.5 s awake runner 32 not blocked 601
		39.5 s strange stranger 33 unknown 602
	END
}

kinds() {
	page --by thread && has_row "worker 11" "2.50 0 8.00 ms 20.0 ms lock 48% holder" && has_row "reader 31" "0.00 1" || return
	page --by process && has_row 10 "3.30 3 4.00 ms 20.0 ms lock 48% holder" || return
	page --by tag && has_row shard=1 "2.00 10.0 ms 20.0 ms lock 50% holder"
}

names() {
	sed -n '5,/^$/p' "$tmp/out" | sed '/^$/d;s/  .*//' | tr '\n' ' '
}

orders() {
	page --sort rate && [ "$(names)" = "ten holder now cut awake minute oldest strange " ] || fail "$(names)" || return
	page --sort name && [ "$(names)" = "awake cut holder minute now oldest strange ten " ] || fail "$(names)" || return
	page --sort p99 && [ "$(names)" = "ten now holder awake cut minute oldest strange " ] || fail "$(names)" || return
	page --filter '[nt]*' && [ "$(names)" = "ten now " ] || fail "$(names)"
}

# Each window of random logs, label by label, against `report` of the same time.
as_report_says() {
	local seed
	for seed in 1 2 3; do
		python3 tests/cli/top_check.py random $seed >"$tmp/random.txt" && "$make_log" "$tmp/random.txtrace" <"$tmp/random.txt" || return
		python3 tests/cli/top_check.py compare "$txtrace" "$tmp/random.txtrace" || return
	done
}

# What there is no room for is one row: nothing is left out of the sums.
many_labels() {
	local sum
	{
		echo 'header pid=1 cpus=1 command="many" start_monotonic_ns=0'
		for i in $(seq 500); do
			echo "span begin_ns=$((i * 1000)) end_ns=$((i * 1000 + 500)) pid=1 tid=1 end_tid=1 id=$i label=\"label $i\" work_ns=500 on_cpu_ns=500"
		done
		echo 'summary time_ns=600000 sent_cnt=1 received_cnt=1'
	} | "$make_log" "$tmp/many.txtrace" && run 0 top --batch 1 -w 1 many.txtrace || return
	grep -q '^(all others)  *300 ' "$tmp/out" || fail "$(head -n 8 "$tmp/out")" || return
	sum=$(sed -n '5,/^$/p' "$tmp/out" | sed -nE 's/^(label [0-9]+|\(all others\)) +([0-9.]+) .*/\2/p' | awk '{ sum += $1 } END { print sum }')
	[ "$sum" = 500 ] || fail "$sum spans"
}

hostile_names() {
	make_from hostile && run 0 top --batch 1 hostile.txtrace || [ -s "$tmp/out" ] || return
	! grep -q $'\e' "$tmp/out" || fail "escape sequences"
}

no_wider_than_asked() {
	local width
	for width in 60 79 80 99 100 127 128 200; do
		(cd "$tmp" && COLUMNS=$width "$txtrace" top --batch 1 top.txtrace >out) || return
		[ "$(LC_ALL=C.UTF-8 wc -L <"$tmp/out")" -le $((width < 79 ? 79 : width)) ] ||
			fail "width $width: $(cat "$tmp/out")" || return
	done
}

newest_of_a_directory() {
	mkdir -p "$tmp/logs/empty" && cp "$tmp/many.txtrace" "$tmp/logs/b.txtrace" && touch -d 2020-01-01 "$tmp/logs/b.txtrace" &&
		cp "$tmp/top.txtrace" "$tmp/logs/a.txtrace" && touch "$tmp/logs/z.txt" || return
	run 0 top --batch 1 logs && grep -q '^shop: ' "$tmp/out" && run 2 top --batch 1 logs/empty && grep -qF "there is no log (*.txtrace) in 'logs/empty'" "$tmp/err" &&
		run 2 top --batch 1 nowhere.txtrace && grep -q "nowhere.txtrace" "$tmp/err"
}

# Without an argument it is the current one.
newest_of_the_current_directory() {
	(cd "$tmp/logs" && "$txtrace" top --batch 1 >"$tmp/out" 2>"$tmp/err") && grep -q '^shop: ' "$tmp/out" || fail "$(cat "$tmp/err")"
}

# Three parts of a capture, the first one given.
follows_rotation() {
	local part last
	for part in 0 1 2; do
		last="continued time_ns=$((part * 1000 + 900)) next_part=$((part + 1))"
		[ $part -lt 2 ] || last="summary time_ns=2900 sent_cnt=3 received_cnt=3"
		"$make_log" "$tmp/parts.$([ $part = 2 ] || echo "00000$((part + 1)).")txtrace" <<-END || return
			header pid=1 cpus=1 command="bank" capture_id="capture" part=$part first_sequence=$part start_monotonic_ns=0
			span begin_ns=$((part * 1000)) end_ns=$((part * 1000 + 500)) pid=1 tid=1 end_tid=1 id=$((part + 1)) label="part $part" work_ns=500 on_cpu_ns=500
			$last
		END
	done
	run 0 top --batch 1 parts.000001.txtrace && has_row "part 0" "1.00 0 500 ns 500 ns" && has_row "part 1" "1.00 0 500 ns 500 ns" && has_row "part 2" "1.00 0 500 ns 500 ns"
}

# A page a second, and what the recorder writes meanwhile is on the next one.
follows_a_writer() {
	mkfifo "$tmp/text" || return
	"$make_log" "$tmp/app.txtrace" <"$tmp/text" &
	exec 8>"$tmp/text"
	{
		sed -n 1p "$tmp/top.txt"
		sed -n '/label="minute"/p' "$tmp/top.txt"
		echo flush
	} >&8
	until [ -s "$tmp/app.txtrace.partial" ]; do sleep 0.05; done
	(cd "$tmp" && exec "$txtrace" top --batch 100 -w 60 app.txtrace >pages 2>err </dev/null 8>&-) &
	local follower=$!
	until grep -q '^minute ' "$tmp/pages"; do kill -0 $follower || fail "$(cat "$tmp/err")" || return; sleep 0.05; done
	! grep -q '^now ' "$tmp/pages" || fail "too early" || return
	sed -n '/label="now"/p;/^summary/p' "$tmp/top.txt" >&8
	exec 8>&-
	wait $follower || fail "it ended with $?: $(cat "$tmp/err")" || return
	grep -q '^now ' "$tmp/pages" && grep -q '^shop: recording, ' "$tmp/pages" && grep -q '^shop: ended, ' "$tmp/pages"
}

no_terminal() {
	run 2 top top.txtrace && grep -qF "the output is no terminal; print pages as text with --batch N" "$tmp/err"
}

check "windows of 1, 10 and 60 s have the spans that ended in them" windows
check "lower bounds count, and are in no percentile" lower_bounds
check "the head says which capture, how far, what is open, what was lost" head_line
check "the oldest open spans, and what they wait for" open_spans
check "rows by thread, process and tag" kinds
check "orders and a filter" orders
check "the figures are those of report" as_report_says
check "labels beyond 200 are one row" many_labels
check "names cannot speak to the terminal" hostile_names
check "it is no wider than it may be" no_wider_than_asked
check "of a directory, the newest log" newest_of_a_directory
check "without an argument, that of the current directory" newest_of_the_current_directory
check "it goes on in the next file" follows_rotation
check "it follows a recorder, and ends with the capture" follows_a_writer
check "without a terminal it says so" no_terminal
finish
