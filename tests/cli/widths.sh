#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# No command writes a line that is wider than the terminal; labels that differ do so on the screen; in a pipe they are there in full.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

for log in cost neighbours small tree waits workers; do
	make_from "$log"
done

long='app::services::payments::processors::CreditCardProcessor'

# Labels that are alike at their begins, and at their ends.
make_long() {
	awk -v long="$long" 'BEGIN {
		print "header pid=1 cpus=1 command=\"a program with a long name, and many arguments, so that its line is wide\" start_monotonic_ns=1"
		for (i = 1; i <= 6; i++) {
			label = long "::" (i % 2 ? "authorize" : "capture") "::step" int(i / 2) "::run"
			print "thread time_ns=" 100 * i " pid=1 tid=" i " comm=\"a-worker-thread\""
			print "run begin_ns=" 1000 * i " end_ns=" 1000 * i + 100 " pid=1 tid=" i " cpu=0 runnable_ns=100 left_as=blocked reason=lock syscall_nr=202 object=0x1000"
			print "wake time_ns=" 1000 * i + 400 " pid=1 tid=" i " waker_tid=" i % 6 + 1 " waker_pid=1 waker_comm=\"a-worker-thread\" span=" i " waker_span=" i % 6 + 1 " cpu=0"
			print "run begin_ns=" 1000 * i + 500 " end_ns=" 1000 * i + 900 " pid=1 tid=" i " cpu=0 blocked_ns=300 runnable_ns=100 left_as=preempted"
			print "span begin_ns=" 1000 * i " end_ns=" 1000 * i + 900 " pid=1 tid=" i " end_tid=" i " id=" i " label=\"" label "\" work_ns=900 on_cpu_ns=500 runnable_ns=100 lock_ns=300"
		}
		print "summary time_ns=20000"
	}' </dev/null | "$make_log" "$tmp/long.txtrace"
}

full_in_a_pipe() {
	local command
	for command in report tree tail histogram concurrency spans blocked@--by@label neighbours report@--cost blame; do
		# shellcheck disable=SC2086
		run 0 ${command//@/ } long.txtrace || return
		[ "$(grep -o "$long::[a-z]*::step[0-9]::run" "$tmp/out" | sort -u | wc -l)" = 6 ] || fail "$command: $(cat "$tmp/out")" || return
	done
}

# What programs read is not folded, whatever the terminal.
json_is_not_folded() {
	run 0 report --json long.txtrace && cp "$tmp/out" "$tmp/piped" &&
		TERM=xterm python3 tests/cli/on_terminal.py "$tmp" 60 1000 "$txtrace" report --json long.txtrace </dev/null >"$tmp/out" && cmp "$tmp/out" "$tmp/piped"
}

# The end of a line may come in two parts.
lines_end_as_ever() {
	python3 tests/cli/on_terminal.py "$tmp" 60 1000 sh -c 'stty -opost; printf "a\r"; sleep 0.3; printf "\nb\r"' </dev/null >"$tmp/out"
	printf 'a\nb\r' | cmp - "$tmp/out"
}

# A pager that tells that it ran.
pages() { # pages ROWS OPTION...
	local rows=$1
	shift
	TXTRACE_PAGER='echo paged; cat' python3 tests/cli/on_terminal.py "$tmp" 80 "$rows" "$txtrace" "$@" </dev/null >"$tmp/out"
}

a_pager_shows_what_is_long() {
	pages 10 report waits.txtrace && grep -q '^paged' "$tmp/out" && grep -q '^events' "$tmp/out" || fail "$(cat "$tmp/out")"
}

no_pager() {
	pages 200 report waits.txtrace && ! grep -q '^paged' "$tmp/out" && grep -q '^events' "$tmp/out" &&
		pages 10 --no-pager report waits.txtrace && ! grep -q '^paged' "$tmp/out" && grep -q '^events' "$tmp/out" &&
		TXTRACE_PAGER='echo paged' run 0 report waits.txtrace && ! grep -q '^paged' "$tmp/out"
}

# One that ends at once leaves the command to its end: the status is the command's.
a_pager_that_goes() {
	TXTRACE_PAGER='head -n 1 >/dev/null' python3 tests/cli/on_terminal.py "$tmp" 80 10 "$txtrace" dump waits.txtrace </dev/null >"$tmp/out"
	[ $? = 0 ] && [ ! -s "$tmp/out" ]
}

check "a log with long labels" make_long
check "no line is wider than the terminal, and labels differ, at 60, 80 and 200 columns" python3 tests/cli/widths_check.py "$txtrace" "$tmp" 60 80 200
check "labels are there in full in a pipe" full_in_a_pipe
check "the terminal of these tests knows where lines end" lines_end_as_ever
check "what programs read is not folded" json_is_not_folded
check "a pager shows what is longer than the screen" a_pager_shows_what_is_long
check "no pager: what fits, --no-pager, a pipe" no_pager
check "a pager that goes away is no failure" a_pager_that_goes
finish
