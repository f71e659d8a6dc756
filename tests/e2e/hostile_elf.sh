#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# takes long: 12 s of a CPU
# ELF files of traced programs are read by processes that may do next to nothing. A file on which one of them crashes or
# takes for ever has no probes, and is named; everything else is recorded.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh
need_bpf

loop=
late=
tracer=
elf=
trap 'kill -KILL $elf $loop $late $tracer 2>/dev/null' EXIT

has_elf() {
	elf=$(tr ' ' '\n' <"/proc/$tracer/task/$tracer/children" | while read -r pid; do
		! grep -qx txtrace-elf "/proc/$pid/comm" || echo "$pid"
	done)
	[ -n "$elf" ]
}

# start [OPTION...]: until the loop is traced; beside it a shell that starts the programs that it is told
start() {
	rm -f "$tmp"/beside* "$tmp/hold" "$tmp/late.out"
	mkfifo "$tmp/hold"
	"$programs/probe_loop" --mode tagged --steps 500 --rate 2000 --window-ms 100 >"$tmp/loop.out" &
	loop=$!
	# shellcheck disable=SC2016 # the inner shell's
	bash -c 'exec <>"$0/hold"
		while read -r program && [ "$program" != end ]; do
			"$program" --mode tagged --steps 500 --rate 100 --window-ms 100 >"$0/late.out" &
		done
		kill $(jobs -p)' "$tmp" &
	late=$!
	wait_for 20 test -s "$tmp/loop.out"
	"$recorder" -q --ring-size 64M -o "$tmp/beside.txtrace" -f -p "$loop,$late" "$@" 2>"$tmp/err" &
	tracer=$!
	wait_for 60 grep -q '"traced":true' "$tmp/loop.out" || fail "it is not traced: $(cat "$tmp/err")" || return
	has_elf || fail "no process reads ELF files" || return
	starts first && wait_for 60 grep -q '"traced":true' "$tmp/late.out" || fail "what is started is not traced"
}

# The log is whole and has everything of the loop.
stop() {
	echo end >"$tmp/hold"
	wait "$late"
	kill -TERM "$tracer"
	wait "$tracer" || fail "it ended with $?: $(cat "$tmp/err")" || return
	kill "$loop"
	wait "$loop"
	loop='' late='' tracer='' elf=''
	cat "$tmp/err"
	"$reader" verify "$tmp/beside.txtrace" && "$reader" info --json "$tmp/beside.txtrace" >"$tmp/info" && jq -c .losses "$tmp/info" &&
		jq -e '.losses | .lost == 0 and .sent == .received and .sent > 1000' "$tmp/info" >/dev/null
}

# starts NAME: a program that nobody has read before
starts() {
	rm -f "$tmp/late.out"
	cp "$programs/probe_loop" "$tmp/$1"
	echo "$tmp/$1" >"$tmp/hold"
	wait_for 60 test -s "$tmp/late.out" || fail "$1 does not start"
}

recorded_bytes() {
	stat -c %s "$tmp/beside.txtrace.partial"
}

has_grown() { # has_grown BYTES
	[ "$(recorded_bytes)" -gt "$1" ]
}

goes_on() {
	wait_for 30 has_grown "$(recorded_bytes)" && wait_for 30 has_grown "$(recorded_bytes)" || fail "nothing is recorded any more"
}

is_named() { # is_named NAME
	grep -q "no probes were looked for in '$tmp/$1'.*: the process that" "$tmp/err"
}

may_do_little() {
	local status=/proc/$elf/status
	grep -E '^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp):' "$status"
	grep -q '^Seccomp:.2' "$status" && grep -q '^NoNewPrivs:.1' "$status" || return
	[ "$(grep -cE '^Cap(Inh|Prm|Eff|Amb):.0+$' "$status")" = 4 ] || fail "it has capabilities" || return
	[ "$(awk '/^Uid:/ { print ($2 >= 1879048192 || $2 == 65534) && $2 == $3 && $3 == $4 && $4 == $5 }' "$status")" = 1 ] || fail "it is root" || return
	ls -l "/proc/$elf/fd"
	[ "$(find "/proc/$elf/fd" -mindepth 1 | wc -l)" -le 10 ] && ! find "/proc/$elf/fd" -lname '*bpf*' | grep . || return
	! find "/proc/$elf/fd" -lname "$tmp/beside*" | grep .
}


# The one that is started meanwhile is named, and the next one traced.
one_that_is_stopped_costs_its_file() {
	kill -STOP "$elf"
	starts unread || return
	wait_for 60 is_named unread || fail "it is not named: $(cat "$tmp/err")" || return
	kill -CONT "$elf"
	goes_on && starts read || return
	wait_for 60 grep -q '"traced":true' "$tmp/late.out" || fail "the next one is not traced: $(cat "$tmp/err")" || return
	stop && ! is_named read
}

one_that_is_killed_costs_files_alone() {
	start || return
	kill -KILL "$elf"
	starts lost || return
	wait_for 60 is_named lost || fail "it is not named: $(cat "$tmp/err")" || return
	goes_on && ! grep '"traced":true' "$tmp/late.out" && stop
}

# Also while it is stopped.
goes_with_its_recorder() {
	start || return
	kill -STOP "$elf"
	kill -KILL "$tracer"
	wait "$tracer" 2>/dev/null
	wait_for 30 has_ended "$elf" || fail "it outlives the recorder" || return
	echo end >"$tmp/hold"
	wait "$late"
	kill "$loop"
	wait "$loop"
	loop='' late='' tracer='' elf=''
}

# No function of it is found; the loop beside it has all that it had.
one_that_takes_for_ever_is_given_up() {
	local slow
	python3 $e2e/forge_symbols.py "$programs/probe_loop" "$tmp/endless" || return
	"$tmp/endless" --mode tagged --steps 500 --rate 100 --window-ms 100 >"$tmp/endless.out" &
	slow=$!
	wait_for 20 test -s "$tmp/endless.out"
	start -p $slow --func 'endless:nothing*'
	local status=$?
	kill -KILL $slow
	wait $slow 2>/dev/null
	[ $status = 0 ] || return
	wait_for 30 is_named endless || fail "it is not named: $(cat "$tmp/err")" || return
	goes_on && stop
}

# Its probes are, by a process of their own.
its_functions_are_not_listed() {
	"$recorder" --list "$tmp/endless" '*' >"$tmp/listed" || return
	cat "$tmp/listed"
	grep -q 'txtrace:begin' "$tmp/listed" && grep -q 'cannot be read: the process that reads it' "$tmp/listed" && ! grep -q aaaa "$tmp/listed"
}

check "a process has the files read" start
check "it has no capability, none of the recorder's files, and a filter" may_do_little
check "one that is stopped costs the file that it was to read" one_that_is_stopped_costs_its_file
check "one that is killed costs no more than the files that follow" one_that_is_killed_costs_files_alone
check "it ends with its recorder" goes_with_its_recorder
check "a file that takes for ever is named, and the rest recorded" one_that_takes_for_ever_is_given_up
check "its functions are not listed, which is said" its_functions_are_not_listed
finish
