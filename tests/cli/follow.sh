#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# dump --follow: prints each batch as soon as it is on the disk, goes on over rotation, and ends when the capture does.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

# record NAME NUMBER LAST-LINE: a part of a capture, with one span in each of its two batches
record() {
	local begin=$(($2 * 1000))
	"$make_log" "$tmp/$1" <<-END
		header pid=1 cpus=1 command="bank" capture_id="capture" part=$2 first_sequence=$(($2 * 3)) start_monotonic_ns=1000
		span begin_ns=$((begin + 1000)) end_ns=$((begin + 1500)) pid=1 tid=1 end_tid=1 id=$(($2 * 2 + 1)) label="a$2" work_ns=500 on_cpu_ns=500
		flush
		span begin_ns=$((begin + 1500)) end_ns=$((begin + 1900)) pid=1 tid=1 end_tid=1 id=$(($2 * 2 + 2)) label="b$2" work_ns=400 on_cpu_ns=400
		$3
	END
}

labels() {
	sed -nE 's/^span .* label="([^"]*)".*/\1/p' "$tmp/$1" | tr '\n' ' '
}

# Waits until the follower has printed that; it ends by itself when the test's time is over.
prints() { # prints FILE LABELS
	until [ "$(labels "$1")" = "$2" ]; do
		kill -0 "$follower" 2>/dev/null || [ "$(labels "$1")" = "$2" ] || fail "it ended with: $(cat "$tmp/err")" || return
		sleep 0.05
	done
}

begin() { # begin OPTION...: follows app.txtrace into the file `followed`, which is empty before
	: >"$tmp/followed"
	(cd "$tmp" && exec "$txtrace" dump --follow "$@" >"$tmp/followed" 2>"$tmp/err" </dev/null) &
	follower=$!
}

ends() { # ends STATUS
	wait "$follower"
	local status=$?
	[ $status = "$1" ] || fail "the status is $status, not $1: $(cat "$tmp/err")"
}

record whole.000001.txtrace 0 "continued time_ns=1900 next_part=1"
record whole.000002.txtrace 1 "continued time_ns=2900 next_part=2"
record whole.txtrace 2 "summary time_ns=3900 sent_cnt=6 received_cnt=6"
record single.txtrace 0 "summary time_ns=1900 sent_cnt=2 received_cnt=2"

# A recorder, played: holds the lock on the file that it writes, as its process does (flock(1) keeps it for the commands that follow).
second_batch() { # second_batch FILE: the offset of its second block
	LC_ALL=C grep -obUaP '\xf5\xc3TXB\x9a\x00\xff' "$tmp/$1" | sed -n '2s/:.*//p'
}

complete_file() {
	begin single.txtrace && ends 0 && [ "$(labels followed)" = "a0 b0 " ] && [ ! -s "$tmp/err" ]
}

growing_file() {
	local at
	at=$(second_batch single.txtrace)
	exec 9>"$tmp/app.txtrace.partial"
	flock 9
	begin app.txtrace || return
	head -c 5 "$tmp/single.txtrace" >&9
	sleep 0.2
	head -c "$at" "$tmp/single.txtrace" | tail -c +6 >&9
	prints followed "a0 " || return
	tail -c +$((at + 1)) "$tmp/single.txtrace" | head -c 40 >&9
	sleep 0.3
	[ "$(labels followed)" = "a0 " ] || fail "half a batch: $(labels followed)" || return
	tail -c +$((at + 41)) "$tmp/single.txtrace" >&9
	mv "$tmp/app.txtrace.partial" "$tmp/app.txtrace"
	exec 9>&-
	ends 0 && [ "$(labels followed)" = "a0 b0 " ] && [ ! -s "$tmp/err" ] || fail "$(labels followed) $(cat "$tmp/err")"
}

rotation() {
	local at
	at=$(second_batch whole.txtrace)
	rm -f "$tmp"/app.*
	cp "$tmp/whole.000001.txtrace" "$tmp/app.000001.txtrace"
	begin app.000001.txtrace || return
	prints followed "a0 b0 " || return
	cp "$tmp/whole.000002.txtrace" "$tmp/app.tmp" && mv "$tmp/app.tmp" "$tmp/app.000002.txtrace"
	prints followed "a0 b0 a1 b1 " || return
	exec 9>"$tmp/app.txtrace.partial"
	flock 9
	head -c "$at" "$tmp/whole.txtrace" >&9
	prints followed "a0 b0 a1 b1 a2 " || return
	tail -c +$((at + 1)) "$tmp/whole.txtrace" >&9
	mv "$tmp/app.txtrace.partial" "$tmp/app.txtrace"
	exec 9>&-
	ends 0 && [ "$(labels followed)" = "a0 b0 a1 b1 a2 b2 " ] && [ ! -s "$tmp/err" ] || fail "$(labels followed) $(cat "$tmp/err")" || return
	[ "$(grep -c '^continued' "$tmp/followed")" = 0 ]
}

# Without a recorder that holds it, the file ends where it ends.
killed_recorder() {
	rm -f "$tmp"/app.*
	head -c $(($(second_batch single.txtrace) + 50)) "$tmp/single.txtrace" >"$tmp/app.txtrace.partial"
	begin app.txtrace && ends 1 && [ "$(labels followed)" = "a0 " ] || fail "$(labels followed) $(cat "$tmp/err")" || return
	grep -q 'no summary' "$tmp/err"
}

interrupted() { # interrupted SIGNAL
	rm -f "$tmp"/app.*
	exec 9>"$tmp/app.txtrace.partial"
	flock 9
	head -c "$(second_batch single.txtrace)" "$tmp/single.txtrace" >&9
	begin app.txtrace
	prints followed "a0 " && kill -s "$1" "$follower" && ends 0 && [ ! -s "$tmp/err" ] || fail "$(cat "$tmp/err")"
	local status=$?
	exec 9>&-
	return $status
}

# Whoever reads the output goes away: there is nobody to write for.
reader_gone() {
	rm -f "$tmp"/app.*
	exec 9>"$tmp/app.txtrace.partial"
	flock 9
	head -c "$(second_batch single.txtrace)" "$tmp/single.txtrace" >&9
	(cd "$tmp" && { "$txtrace" dump --follow app.txtrace; echo $? >"$tmp/status"; } | head -n 1 >"$tmp/followed")
	exec 9>&-
	[ "$(cat "$tmp/status")" = 0 ] && [ "$(labels followed)" = "a0 " ]
}

limits() {
	begin -n 1 single.txtrace && ends 0 && [ "$(labels followed)" = "a0 " ] || return
	begin --from 600ns single.txtrace && ends 0 && [ "$(labels followed)" = "b0 " ] || return
	begin --to 600ns single.txtrace && ends 0 && [ "$(labels followed)" = "a0 " ]
}

check "a complete file is printed, and that is it" complete_file
check "each batch of a file that grows comes as soon as it is whole" growing_file
check "it goes on in the files that follow" rotation
check "it ends when the recorder was killed" killed_recorder
# Programs that a shell without job control runs in the background ignore SIGINT; blocked signals are waited for all the same.
check "it ends when it is terminated" interrupted TERM
check "it ends when its reader has gone" reader_gone
check "with a limit and a range" limits
check "no such file" complains "can't read 'absent': there is no such file" dump --follow absent
mkdir "$tmp/folder"
check "a directory" complains "can't read 'folder': this is a directory; only a file can be followed" dump --follow folder
finish
