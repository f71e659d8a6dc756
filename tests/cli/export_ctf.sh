#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# CTF as an export: babeltrace2 reads each event with all of its fields, in the order of time, and each loss with its count and its times.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

check_py=$PWD/tests/cli/export_ctf_check.py

reads() { # reads NAME: babeltrace2's text of $tmp/NAME.ctf
	babeltrace2 --clock-cycles "$tmp/$1.ctf" >"$tmp/$1.text" 2>"$tmp/$1.said" && babeltrace2 --clock-seconds "$tmp/$1.ctf" >"$tmp/text" 2>"$tmp/$1.said" ||
		fail "$(cat "$tmp/$1.said")"
}

same_as_log() { # same_as_log NAME STATUS
	run "$2" export -o "$1.ctf" "$1.txtrace" && cp "$tmp/err" "$tmp/$1.told" && run "$2" export -o "$1.jsonl" "$1.txtrace" && reads "$1" &&
		python3 "$check_py" "$tmp/$1.jsonl" "$tmp/$1.text" "$tmp/$1.said"
}

# Two runs that touch are one switch; a parent begins before its child, and one span ends before the next begins.
make_order() {
	"$make_log" "$tmp/order.txtrace" <<-'END'
		header pid=1 cpus=2 start_monotonic_ns=100 start_realtime_ns=1700000000000000100
		thread time_ns=100 pid=1 tid=1 comm="one"
		thread time_ns=100 pid=1 tid=2 comm="a name beyond15"
		span begin_ns=200 end_ns=300 pid=1 tid=1 end_tid=1 id=1 label="before" work_ns=100 on_cpu_ns=100
		span begin_ns=300 end_ns=400 pid=1 tid=1 end_tid=1 id=3 parent=2 label="child" work_ns=100 on_cpu_ns=100
		span begin_ns=300 end_ns=500 pid=1 tid=1 end_tid=1 id=2 label="parent" work_ns=200 on_cpu_ns=200
		run begin_ns=200 end_ns=500 pid=1 tid=1 cpu=1 left_as=blocked reason=disk syscall_nr=0
		span begin_ns=500 end_ns=500 pid=1 tid=1 end_tid=1 id=4 label="no length"
		run begin_ns=500 end_ns=600 pid=1 tid=2 cpu=1 left_as=preempted
		run begin_ns=600 end_ns=700 pid=1 tid=2 cpu=65535 left_as=unknown
		wake time_ns=700 pid=1 tid=1 waker_pid=1 waker_tid=2 waker_comm="w" cpu=65535
		summary time_ns=1000
	END
}

order_is_that_of_time() {
	same_as_log order 0 || return
	sed -nE 's/^\[0*([0-9]+)\] .*span_(begin|end): .*label = "([^"]*)".*/\1 \2 \3/p' "$tmp/order.text" >"$tmp/steps"
	diff - "$tmp/steps" <<-'END' || return
		200 begin before
		300 end before
		300 begin parent
		300 begin child
		400 end child
		500 end parent
		500 begin no length
		500 end no length
	END
	sed -nE 's/^\[0*([0-9]+)\] .*sched_switch: \{ cpu_id = 1 \}, \{ prev_comm = ("[^"]*").* prev_state = (-?[0-9]+), next_comm = ("[^"]*").*/\1 \2 \3 \4/p' \
		"$tmp/order.text" >"$tmp/steps"
	diff - "$tmp/steps" <<-'END' || return
		200 "(untraced)" 0 "one"
		500 "one" 2 "a name beyond15"
		600 "a name beyond15" 0 "(untraced)"
	END
	diff - "$tmp/order.told" <<-'END'
		txtrace: runs and wakeups on a CPU that is unknown or above 1023, written without it: 2
	END
}

# Wall times: the offset between the clocks is in the metadata.
wall_clock() {
	babeltrace2 --clock-seconds "$tmp/order.ctf" 2>/dev/null | head -n 1 | grep -q '^\[1700000000\.000000100\]' ||
		fail "$(babeltrace2 --clock-seconds "$tmp/order.ctf" | head -n 1)"
}

# A destroyed log says so in the trace.
cut_log() {
	head -c $(($(stat -c %s "$tmp/export.txtrace") / 2)) "$tmp/export.txtrace" >"$tmp/cut.txtrace"
	run 1 export -o cut.ctf cut.txtrace && reads cut && grep -q 'txtrace:damage: .* reason = "[a-z]' "$tmp/cut.text" &&
		tail -n 1 "$tmp/cut.text" | grep -q 'txtrace:end: .* complete = 0'
}

# Whatever a log says, its trace is one that a reader takes.
hostile_logs() {
	local log cnt=0
	mkdir "$tmp/mutants"
	python3 tests/cli/mutate_log.py --seed 1 --count 40 "$tmp/mutants" tests/golden/*-none.txtrace tests/golden/*-zstd.txtrace >"$tmp/list" || return
	for log in "$tmp"/mutants/*.txtrace; do
		rm -rf "$tmp/mutant.ctf"
		"$txtrace" export -o "$tmp/mutant.ctf" "$log" 2>"$tmp/err"
		[ $? != 2 ] || continue
		cnt=$((cnt + 1))
		reads mutant || fail "$log: $(grep "^$(basename "$log" .txtrace) " "$tmp/list")" || return
	done
	echo "$cnt logs"
	[ $cnt -gt 20 ]
}

# What is there stays, and what fails leaves nothing.
directory_is_not_replaced() {
	mkdir -p "$tmp/empty.ctf" "$tmp/full.ctf/sub"
	run 0 export -o empty.ctf order.txtrace && [ -e "$tmp/empty.ctf/metadata" ] || return
	complains "can't write 'full.ctf': it exists already, and format 'ctf' makes a directory; remove it first, or choose another name" \
		export -o full.ctf order.txtrace || return
	complains "format 'ctf' makes a directory: give its name with --output" export -f ctf order.txtrace || return
	[ "$(cd "$tmp" && echo full.ctf*)" = full.ctf ] || fail "left: $(ls "$tmp")"
}

# The stream of spans is larger than a file may be.
full_disk_leaves_nothing() {
	(
		trap '' XFSZ
		ulimit -f 2
		run 2 export -o limit.ctf export.txtrace
	) || return
	[ "$(cat "$tmp/err")" = "txtrace: can't write 'limit.ctf': File too large" ] || fail "$(cat "$tmp/err")" || return
	[ -z "$(find "$tmp" -name 'limit.ctf*')" ] || fail "left: $(find "$tmp" -name 'limit.ctf*')"
}

# Every stream's packets, without a reader: they fill their file, and each says how long it is.
packets_are_whole() {
	python3 - "$tmp/order.ctf" <<-'END'
		import pathlib, struct, sys
		seen = 0
		for path in pathlib.Path(sys.argv[1]).iterdir():
		    data, at, end, number = path.read_bytes(), 0, 0, 0
		    while path.name != "metadata" and at < len(data):
		        magic, _, stream, begin, until, content, size, lost, sequence = struct.unpack_from("<I16sIQQQQQQ", data, at)
		        assert (magic, stream, sequence, content) == (0xc1fc1fc1, int(path.name == "spans"), number, size), path
		        assert end <= begin <= until and at + size // 8 <= len(data), path
		        at, end, number, seen = at + size // 8, until, number + 1, seen + 1
		assert seen == 2, seen
	END
}

make_from export
make_order
python3 tests/cli/export_check.py random 1 | "$make_log" "$tmp/random.txtrace"
if command -v babeltrace2 >/dev/null; then
	check "babeltrace2 reads each event of a log of everything" same_as_log export 0
	check "and of 5,000 records at random" same_as_log random 0
	check "the order at one moment, switches, unknown CPUs" order_is_that_of_time
	check "the wall clock" wall_clock
	check "half of a log" cut_log
	check "logs that lie" hostile_logs
else
	run 0 export -o order.ctf order.txtrace
	skip "babeltrace2 reads each event" "there is no babeltrace2 here"
fi
check "packets fill their files" packets_are_whole
check "a directory is not replaced" directory_is_not_replaced
check "a file that can't be written" full_disk_leaves_nothing
finish
