#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What is sound is called so, and each thing that is wrong is found, with its place and status 1.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

make_from sound
make_from empty
make_from broken

# from_sound NAME SED-SCRIPT: the sound log with a change
from_sound() {
	sed "$2" "$logs/sound.txt" | "$make_log" "$tmp/$1.txtrace"
}

# finds CHECK SENTENCE SED-SCRIPT: in the log that was changed so, that check alone finds one problem, which is this
finds() {
	from_sound changed "$3" && run 1 verify --json changed.txtrace || return
	jq -e --arg check "$1" --arg what "$2" '.sound == false and ([.checks[].problems] | add) == 1 and .checks[$check].problems == 1 and
		.problems[0].check == $check and .problems[0].what == $what' "$tmp/out" >/dev/null || fail "$(jq -c '.problems' "$tmp/out")" || return
	run 1 verify changed.txtrace && [ "$(tail -n 1 "$tmp/out")" = "'changed.txtrace' is not sound: 1 problem" ] || fail "$(tail -n 1 "$tmp/out")" || return
	[ ! -s "$tmp/err" ] || fail "it said: $(cat "$tmp/err")"
}

excused() { # excused CHECK EXCUSE SED-SCRIPT
	from_sound changed "$3" && run 0 verify --json changed.txtrace || return
	jq -e --arg check "$1" --arg excuse "$2" '.sound and .checks[$check].problems == 1 and .checks[$check].excuse == $excuse' "$tmp/out" >/dev/null ||
		fail "$(jq -c '.checks' "$tmp/out")"
}

# No byte of the file may be another.
any_byte() {
	local size at status
	"$make_log" "$tmp/plain.txtrace" none <"$logs/sound.txt"
	size=$(stat -c %s "$tmp/plain.txtrace")
	for ((at = 0; at < size; at += 7)); do
		cp "$tmp/plain.txtrace" "$tmp/bitten.txtrace"
		printf '\xee' | dd of="$tmp/bitten.txtrace" bs=1 seek=$at conv=notrunc status=none
		cmp -s "$tmp/plain.txtrace" "$tmp/bitten.txtrace" && continue
		(cd "$tmp" && "$txtrace" verify bitten.txtrace >out 2>err)
		status=$?
		[ $status = 1 ] || [ $status = 2 ] || fail "byte $at: status $status" || return
	done
}

cut_anywhere() {
	local size at status
	size=$(stat -c %s "$tmp/sound.txtrace")
	for ((at = 0; at < size; at += 13)); do
		head -c $at "$tmp/sound.txtrace" >"$tmp/cut.txtrace"
		(cd "$tmp" && "$txtrace" verify cut.txtrace >out 2>err)
		status=$?
		# Also behind the summary, where only the index is missing.
		[ $status = 1 ] || [ $status = 2 ] || fail "cut at $at: status $status" || return
	done
}

limit() {
	from_sound changed 's/ work_ns=/ runnable_ns=1 work_ns=/' && run 1 verify -n 2 changed.txtrace || return
	[ "$(grep -c '^  record' "$tmp/out")" = 2 ] && grep -q '^  and 2 more$' "$tmp/out" || fail "$(cat "$tmp/out")" || return
	run 1 verify -n 0 changed.txtrace && ! grep -q '^  record' "$tmp/out"
}

# 10,000 spans do not fit into 64 KiB: what can't be known is not called a problem.
little_memory() {
	awk 'BEGIN {
		print "thread time_ns=1 pid=1 tid=1 comm=\"x\""
		for (i = 1; i <= 10000; i++)
			print "span begin_ns=" i " end_ns=" i + 1 " pid=1 tid=1 end_tid=1 id=" i " parent=" (i < 10000 ? i + 1 : 0) " work_ns=1 on_cpu_ns=1"
		print "summary time_ns=20000"
	}' </dev/null | "$make_log" "$tmp/many.txtrace"
	run 0 verify many.txtrace && ! grep -q 'not checked' "$tmp/out" || fail "$(cat "$tmp/out")" || return
	run 0 verify --max-memory 64K many.txtrace && [ "$(grep -c 'not checked: there are more than fit into memory' "$tmp/out")" = 2 ] || fail "$(cat "$tmp/out")"
}

check "a sound log" expects verify_sound 0 verify sound.txtrace
check "a sound log without a span" run 0 verify empty.txtrace
check "a log with all kinds of problems" expects verify_broken 1 verify broken.txtrace
check "the same as JSON" expects verify_json 1 verify --json broken.txtrace
check "a ledger that does not add up" finds balance "span 2 of process 100: its ledger sums up to 500000001 ns, its work is 500000000 ns" \
	'/label="commit"/s/disk_ns=400000000/disk_ns=400000001/'
check "more work than wall without a second thread" finds work "span 3 of process 100: one thread worked for it, 1500000000 ns in a wall time of 1000000000 ns" \
	's/ flags=moved//'
check "an unfinished span that is no lower bound" finds flags "span 9 of process 100: it is unfinished and not marked as a lower bound" \
	's/flags=lower_bound,unfinished/flags=unfinished/'
check "a record behind its place" finds order "a record of kind attribute stands 200000000 ns too late" 's/time_ns=2100000000/time_ns=1900000000/'
check "a parent that is not there" finds parents "span 8 of process 100 is a parent, and is not in the log" 's/parent=1 /parent=8 /'
check "an attribute of a span that is not there" finds marks "span 77 of process 100 is named by an attribute, and is not in the log" 's/span=4 /span=77 /'
check "a thread that nobody told of" finds threads "thread 103 of process 100 is woken, but no earlier record names it" '/^wake/s/tid=101/tid=103/'
check "counts that do not add up" finds summary "40 events were sent, 39 received and 0 lost: that does not add up" 's/received_cnt=40/received_cnt=39/'
check "no summary" finds summary "there is none: recording did not end cleanly, or is still going on" '/^summary/d'
check "a parent whose begin may be lost" excused parents "events were lost" 's/parent=1 /parent=8 /; s/received_cnt=40/received_cnt=39 lost_cnt=1/'
check "a span that the program named at random" excused marks "the program named spans that were not open, as the summary counts" \
	's/span=4 /span=77 /; s/received_cnt=40/received_cnt=40 mark_unknown=1/'
check "events that came late" excused order "events came late, as the summary counts" \
	's/time_ns=2100000000/time_ns=1900000000/; s/received_cnt=40/received_cnt=40 late_cnt=1/'
check "any byte that is wrong" any_byte
check "a log that is cut off anywhere" cut_anywhere
check "the first problems of each check are listed" limit
check "with little memory, references are not checked, and that is said" little_memory
check "no log" complains "can't read 'absent': there is no such file" verify absent
finish
