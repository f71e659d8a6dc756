#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Pipes where a file may be named: rules come out of one, as of `<(...)`; a log does not, which is said at once; and output goes into one, as into `>(...)`.
# Who waits for the other end can be interrupted, and leaves nothing behind.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

python3 tests/cli/make_run.py --run 1 | "$make_log" "$tmp/shop.txtrace"
rules='tx.wall.p90 < 20ms; tx.count >= 500'
writers=("merge -o" "repair -o" "recompress -o" "slice --from 0 -o" "anonymize --salt x -o" "export -f jsonl -o" "export -f chrome -o" "export -f perfetto -o" "flame -o" "flame --folded -o")
mkfifo "$tmp/pipe"
trap 'kill -KILL $(jobs -p) 2>/dev/null; wait 2>/dev/null' EXIT

# begin ARGUMENT...: txtrace, in $tmp, as $child; Ctrl-C ends it as it would on a terminal
begin() {
	(cd "$tmp" && exec env --default-signal=INT "$txtrace" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null) &
	child=$!
}

# It is in the midst of an open(), which waits for the other end, and so can be interrupted. (The shell that it was before ignores signals, and also opens
# files, for which a disk may let it wait.)
opens() {
	grep -q '(txtrace) S' "/proc/$child/stat" 2>/dev/null && grep -qE '^(257|56|2) ' "/proc/$child/syscall" 2>/dev/null
}

waits_for_other_end() {
	local end=$((SECONDS + 600))
	until opens; do
		[ -d "/proc/$child" ] && [ $SECONDS -lt $end ] || fail "it does not wait: $(cat "$tmp/err")" || return
		sleep 0.02
	done
}

# ended_by_interrupt: it dies of it, prints nothing, and leaves nothing
ended_by_interrupt() {
	local status
	waits_for_other_end || return
	kill -INT "$child"
	wait "$child"
	status=$?
	[ $status = 130 ] || fail "the status is $status" || return
	[ ! -s "$tmp/out" ] && [ ! -s "$tmp/err" ] || fail "it printed: $(cat "$tmp/out" "$tmp/err")" || return
	[ -z "$(find "$tmp" -newer "$tmp/before" -type f ! -name out ! -name err ! -name said)" ] || fail "it left $(ls "$tmp")" || return
	[ -p "$tmp/pipe" ] || fail "the pipe is gone"
}

interrupted() { # interrupted ARGUMENT...
	touch "$tmp/before"
	begin "$@" && ended_by_interrupt
}

# ---- rules ----

rules_by_substitution() {
	run 0 check shop.txtrace "$rules" && cp "$tmp/out" "$tmp/wanted" || return
	(cd "$tmp" && "$txtrace" check shop.txtrace <(printf '%s\n' "$rules") >out 2>err) || fail "check: $(cat "$tmp/err")" || return
	diff "$tmp/wanted" "$tmp/out" || return
	run 0 diff -g 'tx.wall < +5%' shop.txtrace -- shop.txtrace && cp "$tmp/out" "$tmp/wanted" || return
	(cd "$tmp" && "$txtrace" diff -g <(echo 'tx.wall < +5%') shop.txtrace -- shop.txtrace >out 2>err)
	[ $? = 0 ] || fail "diff: $(cat "$tmp/err")" || return
	diff "$tmp/wanted" "$tmp/out"
}

# Who writes the rules may be later than who reads them.
rules_that_come_later() {
	run 0 check shop.txtrace "$rules" && cp "$tmp/out" "$tmp/wanted" || return
	begin check shop.txtrace pipe
	waits_for_other_end || return
	printf '%s\n' "$rules" >"$tmp/pipe"
	wait "$child" || fail "it ended with $?: $(cat "$tmp/err")" || return
	diff "$tmp/wanted" "$tmp/out"
}

rules_that_never_come() {
	interrupted check shop.txtrace pipe && interrupted diff -g pipe shop.txtrace -- shop.txtrace
}

rules_without_end() {
	complains "can't read the rules '/dev/zero': File too large; rules themselves have <, = or > in them" check shop.txtrace /dev/zero
}

# ---- logs ----

# Nobody writes to the pipe: who opened it to read would wait.
a_log_from_a_pipe() {
	local command why="this is not a regular file; a log can't be read from a pipe or a device; '-' reads one from the standard input"
	for command in report "dump" "dump --follow" "verify" "repair -o out.txtrace" "merge -o out.txtrace" "export -f jsonl"; do
		# shellcheck disable=SC2086 # a command and its options
		complains "can't read 'pipe': $why" $command pipe || fail "$command" || return
	done
	complains "can't read 'pipe': $why" check pipe "$rules" && complains "can't read 'pipe': $why" diff pipe -- shop.txtrace &&
		complains "can't read 'pipe': $why" diff shop.txtrace -- pipe && complains "can't read 'pipe': $why" merge -o out.txtrace shop.txtrace pipe || return
	(cd "$tmp" && "$txtrace" report <(cat shop.txtrace) >out 2>err)
	[ $? = 2 ] && grep -q "$why" "$tmp/err"
}

# What needs a file says so.
a_log_from_the_standard_input() {
	(cd "$tmp" && "$txtrace" merge -o merged.txtrace - <shop.txtrace 2>err) || fail "$(cat "$tmp/err")" || return
	(cd "$tmp" && "$txtrace" dump -k span merged.txtrace 2>/dev/null | wc -l >merged && "$txtrace" dump -k span - <shop.txtrace 2>/dev/null | wc -l | cmp - merged && [ "$(cat merged)" -gt 0 ]) ||
		fail "the merged log has other spans" || return
	(cd "$tmp" && "$txtrace" repair -o out.txtrace - <shop.txtrace 2>err)
	[ $? = 2 ] && [ "$(cat "$tmp/err")" = "txtrace: can't repair the standard input: save it as a file, and repair that" ] || fail "$(cat "$tmp/err")" || return
	[ ! -e "$tmp/out.txtrace" ] || fail "there is an output" || return
	(cd "$tmp" && "$txtrace" dump --follow - <shop.txtrace 2>err)
	[ $? = 2 ] && [ "$(cat "$tmp/err")" = "txtrace: can't follow the standard input: name the file that is being written" ] || fail "$(cat "$tmp/err")"
}

# ---- output ----

# The same as into a file. A log is read again, as its file has an id of its own.
into_a_pipe() {
	local command
	for command in "${writers[@]}"; do
		rm -f "$tmp/file"
		# shellcheck disable=SC2086 # a command and its options
		run 0 $command file shop.txtrace || fail "$command" || return
		# shellcheck disable=SC2086
		begin $command pipe shop.txtrace
		waits_for_other_end || fail "$command" || return
		cat "$tmp/pipe" >"$tmp/read"
		wait "$child" || fail "$command into the pipe: $?: $(cat "$tmp/err")" || return
		case $command in
		export* | flame*) ;;
		*)
			run 0 dump read && mv "$tmp/out" "$tmp/read" && run 0 dump file && mv "$tmp/out" "$tmp/file" || fail "$command" || return
			;;
		esac
		cmp "$tmp/file" "$tmp/read" && [ -s "$tmp/read" ] || fail "$command" || return
	done
}

reports_into_a_pipe() {
	run 0 check -w json=file shop.txtrace "$rules" || return
	begin check -w json=pipe shop.txtrace "$rules"
	waits_for_other_end || return
	cat "$tmp/pipe" >"$tmp/read"
	wait "$child" || return
	cmp "$tmp/file" "$tmp/read"
}

# bash does not wait for what it has put there, but for its output.
into_a_substitution() {
	run 0 export -f jsonl -o file shop.txtrace || return
	(cd "$tmp" && "$txtrace" export -f jsonl -o >(sha256sum) shop.txtrace) >"$tmp/sum" || return
	until [ -s "$tmp/sum" ]; do sleep 0.02; done
	[ "$(sha256sum <"$tmp/file")" = "$(cat "$tmp/sum")" ]
}

nobody_reads() {
	local command
	for command in "${writers[@]}"; do
		# shellcheck disable=SC2086 # a command and its options
		interrupted $command pipe shop.txtrace || fail "$command" || return
	done
	interrupted check -f json -w junit=pipe shop.txtrace "$rules"
}

# What was named was not written, unlike stdout, of which whoever reads it takes what he likes.
the_reader_goes() {
	begin export -f jsonl -o pipe shop.txtrace
	waits_for_other_end || return
	head -c 1 "$tmp/pipe" >/dev/null
	wait "$child"
	[ $? = 2 ] && [ "$(cat "$tmp/err")" = "txtrace: can't write 'pipe': Broken pipe" ] || fail "$(cat "$tmp/err")"
}

check "rules by process substitution" rules_by_substitution
check "rules that come later are waited for" rules_that_come_later
check "rules that never come can be interrupted" rules_that_never_come
check "rules without an end are refused" rules_without_end
check "a log from a pipe is refused at once, in one sentence" a_log_from_a_pipe
check "the standard input is a log, but for what needs a file" a_log_from_the_standard_input
check "output into a pipe is what a file gets" into_a_pipe
check "a report into a pipe is what a file gets" reports_into_a_pipe
check "output into a process substitution" into_a_substitution
check "output that nobody reads can be interrupted, and nothing is left" nobody_reads
check "a named pipe whose reader goes is a failure" the_reader_goes
finish
