#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# takes long: 12 s of a CPU
# ELF files of traced programs are read by processes that may do next to nothing. A file on which one of them crashes or
# takes for ever has no probes, and is named; everything else is recorded.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
# shellcheck source=tests/e2e/outside.sh
. tests/e2e/outside.sh || exit
need_bpf

loop=
late=
tracer=
elf=
log=$tmp/beside.txtrace
trap 'kill -KILL $elf $loop $late $tracer 2>/dev/null' EXIT

# start [OPTION...]: until the loop is traced; beside it a shell that starts the programs that it is told
start() {
	rm -f "$tmp"/beside* "$tmp/hold" "$tmp/late.out" "$tmp/loop.out" # what the last loop wrote would end the wait below
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
	"$recorder" -q --ring-size 64M -o "$log" -f -p "$loop,$late" "$@" 2>"$tmp/err" &
	tracer=$!
	wait_for 60 grep -q '"traced":true' "$tmp/loop.out" || fail "it is not traced: $(cat "$tmp/err")" || return
	elf=$(child_of_tracer txtrace-elf) || fail "no process reads ELF files" || return
	starts first && wait_for 60 grep -q '"traced":true' "$tmp/late.out" || fail "what is started is not traced"
}

# The log has everything of the loop.
stop() {
	echo end >"$tmp/hold"
	wait "$late"
	log_is_whole || return
	kill "$loop"
	wait "$loop"
	loop='' late='' elf=''
	cat "$tmp/err"
}

# starts NAME: a program that nobody has read before
starts() {
	rm -f "$tmp/late.out"
	cp "$programs/probe_loop" "$tmp/$1"
	echo "$tmp/$1" >"$tmp/hold"
	wait_for 60 test -s "$tmp/late.out" || fail "$1 does not start"
}

is_named() { # is_named NAME
	grep -q "no probes were looked for in '$tmp/$1'.*: the process that" "$tmp/err"
}

elf_may_do_little() {
	may_do_little "$elf" 10
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
check "it has no capability, none of the recorder's files, and a filter" elf_may_do_little
check "one that is stopped costs the file that it was to read" one_that_is_stopped_costs_its_file
check "one that is killed costs no more than the files that follow" one_that_is_killed_costs_files_alone
check "it ends with its recorder" goes_with_its_recorder
check "a file that takes for ever is named, and the rest recorded" one_that_takes_for_ever_is_given_up
check "its functions are not listed, which is said" its_functions_are_not_listed
finish
