#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs of a command and of its base in turn, each into a log of its own: names, order, what fails, what stops, and the example of docs/ci.md with them.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit

# refuses SENTENCE OPTION...: status 2, this sentence alone, and nothing is made
refuses() {
	local sentence=$1 status
	shift
	(cd "$tmp" && "$recorder" "$@") >"$tmp/out" 2>"$tmp/err"
	status=$?
	cat "$tmp/err"
	[ $status = 2 ] && [ "$(cat "$tmp/err")" = "txtrace-bpf: $sentence" ] && [ ! -s "$tmp/out" ] && [ ! -e "$tmp/txtrace-runs" ] && [ ! -e "$tmp/ran" ]
}

check "--base alone" refuses "--base needs --repeat; give both to record runs of both in turn" --base true -- touch ran
check "--repeat without a command" refuses "--repeat runs a command; give it after '--' (-- COMMAND)" --repeat 3 -p 1
check "no runs at all" refuses "option '--repeat' takes at least 1, not '0'" --repeat 0 -- touch ran
check "a number that is none" refuses "option '--repeat' takes a number, not 'ten'" --repeat ten -- touch ran
check "a base with a quote that is open" refuses "the command of --base has a ' that is not closed" --repeat 2 --base "touch 'ran" -- touch ran
check "a base that needs a shell" refuses "the command of --base has a '>' in it, which a shell would know what to do with; quote it, or say sh -c '…'" \
	--repeat 2 --base "echo > ran" -- touch ran
check "a base that is empty" refuses "the command of --base has no command in it" --repeat 2 --base " " -- touch ran
check "rotation" refuses "with --repeat each run has one log, which is kept; remove --rotate-size, --rotate-time, --keep and --keep-size" --repeat 2 --keep 3 -- touch ran
check "a service" refuses "--stream, --metrics, --metrics-file and --config are for one capture, not for --repeat" --repeat 2 --stream x -- touch ran
touch "$tmp/file"
check "a place that is a file" refuses "cannot put logs into 'file', which is to be a directory (-o): Not a directory" --repeat 2 -o file -- touch ran

need_bpf

loop="$programs/probe_loop --mode begin-end --iterations 5"
names() { # names DIR: what is in it
	(cd "$1" && echo *)
}

# records DIR STATUS OPTION...
records() {
	local directory=$1 wanted=$2 status
	shift 2
	(cd "$tmp" && "$recorder" -o "$directory" "$@") >"$tmp/out" 2>"$tmp/err"
	status=$?
	cat "$tmp/err"
	# shellcheck disable=SC2053 # it may be a pattern
	[[ $status = $wanted ]] || fail "the status is $status, not $wanted"
}

commands_in_time() { # commands_in_time DIR: the commands of its logs, in the order in which they began
	local log
	for log in "$1"/*.txtrace; do
		"$reader" export -f jsonl "$log" | jq -r 'select(.type == "header") | "\(.start_monotonic_ns) \(.command)"'
	done | sort -n | cut -d' ' -f2-
}

in_turn() {
	# shellcheck disable=SC2086
	records "a b" 0 --repeat 3 --base "$loop --steps '1'" -- $loop --steps 2 || return
	[ "$(names "$tmp/a b")" = "base-001.txtrace base-002.txtrace base-003.txtrace new-001.txtrace new-002.txtrace new-003.txtrace" ] || return
	commands_in_time "$tmp/a b" >"$tmp/commands"
	cat "$tmp/commands"
	[ "$(uniq "$tmp/commands" | wc -l)" = 6 ] && [ "$(sort -u "$tmp/commands")" = "$loop --steps 1
$loop --steps 2" ] && [ "$(head -n 1 "$tmp/commands")" = "$loop --steps 1" ] || return
	# What it says is next is what to run next, as it stands.
	tail -n 1 "$tmp/err" | sed -n "s/^txtrace-bpf: 3 pairs were recorded; next: txtrace //p" >"$tmp/next"
	(cd "$tmp" && eval "\"$reader\" $(cat next)" >"$tmp/diff.out")
	grep -q '^  the runs of both sides were recorded in turn' "$tmp/diff.out"
}

numbers_go_on() {
	# shellcheck disable=SC2086
	records "a b" 0 --repeat 2 -q -- $loop || return
	[ ! -s "$tmp/err" ] && [ "$(names "$tmp/a b")" = "base-001.txtrace base-002.txtrace base-003.txtrace new-001.txtrace new-002.txtrace new-003.txtrace new-004.txtrace new-005.txtrace" ] || return
	"$reader" verify "$tmp/a b/new-005.txtrace"
}

# The base runs twice, the second run of the new one fails: with it goes the base run before it.
a_run_that_fails() {
	records fails 7 --repeat 5 --base true -- sh -c '[ ! -e once ] || exit 7; touch once' || return
	[ "$(names "$tmp/fails")" = "aside-base-002.txtrace aside-new-002.txtrace base-001.txtrace new-001.txtrace" ] || fail "$(names "$tmp/fails")" || return
	grep -q "^txtrace-bpf: run 2 of 5, new, ended with status 7: no more runs" "$tmp/err"
}

a_base_that_is_not_there() {
	# shellcheck disable=SC2086
	records absent '12[67]' --repeat 2 --base "./absent --fast" -- $loop || return
	grep -q '^txtrace-bpf: cannot run "./absent"' "$tmp/err" && ! ls "$tmp"/absent/new-* 2>/dev/null
}

# In a terminal of its own, which sends SIGINT to all in it when ^C is typed. Started in the background, SIGINT would be ignored.
cat >"$tmp/terminal.py" <<'END'
import os, pty, signal, sys, time
how, mark, command = sys.argv[1], sys.argv[2], sys.argv[3:]
pid, terminal = pty.fork()
if pid == 0:
	os.execv(command[0], command)
end = time.time() + 60
while time.time() < end and not (os.path.exists(mark) and os.path.getsize(mark)):
	time.sleep(0.05)
if how == "typed":
	os.write(terminal, b"\x03")
else:
	os.kill(pid, getattr(signal, "SIG" + how))
try:
	while said := os.read(terminal, 4096):
		os.write(1, said)
except OSError:
	pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END

# stopped HOW: while the second run goes on; it ends, its log is put aside, nothing runs on.
stopped() {
	local status directory=stop$1
	rm -f "$tmp"/ran.*
	(cd "$tmp" && timeout 600 python3 terminal.py "$1" ran.2 "$recorder" -o "$directory" --repeat 9 -- \
		sh -c 'if [ -e ran.1 ]; then echo $$ >ran.2; exec sleep 1000; fi; touch ran.1') >"$tmp/out" 2>&1
	status=$?
	cat "$tmp/out"
	[ $status = 3 ] && [ "$(names "$tmp/$directory")" = "aside-new-002.txtrace new-001.txtrace" ] && grep -q 'stopped by a signal in run 2 of 9' "$tmp/out" ||
		fail "$status $(names "$tmp/$directory")" || return
	wait_for 20 eval "! runs $(cat "$tmp/ran.2")"
}

example() {
	awk '$0 == "## A plain shell" { below = 1; next } below && /^    / { print substr($0, 5); begun = 1; next } begun { exit }' docs/ci.md
}

# The shell execs the server, so the probes are set while the server runs. It waits for them. Its new version holds a lock for 2 ms of CPU time: many times
# what a transfer takes otherwise, however loaded the machine is.
shell_example() {
	local status
	rm -rf "$tmp/example" && mkdir -p "$tmp/example/bin" && example >"$tmp/example/example.sh" && cd "$tmp/example" || return
	ln -s "$recorder" bin/txtrace-bpf && ln -s "$reader" bin/txtrace
	printf '#!/bin/sh\nexec "%s" --wait-traced 60 --transactions 300 --rate 3000\n' "$programs/bank" >server-base
	printf '#!/bin/sh\nexec "%s" --wait-traced 60 --transactions 300 --rate 3000 --hold-us 2000\n' "$programs/bank" >server-new
	chmod +x server-*
	echo 'transfer.on_cpu < +100%' >rules.txt
	PATH=$PWD/bin:$PATH bash example.sh >said 2>&1
	status=$?
	cd "$OLDPWD" || return
	cat "$tmp/example/said"
	[ $status = 1 ] && [ "$(tail -n 1 "$tmp/example/said")" = "it regressed" ] && [ -s "$tmp/example/report.html" ]
}

check "runs in turn, each in a log of its own, and what to do next" in_turn
check "more runs: numbers go on, and --quiet is quiet" numbers_go_on
check "a run that fails is the last, and its pair is put aside" a_run_that_fails
check "a base that cannot be run" a_base_that_is_not_there
check "SIGTERM" stopped TERM
check "SIGINT, sent to the recorder alone" stopped INT
check "Ctrl-C in a terminal" stopped typed
check "the shell script of docs/ci.md, on a server that became slower" shell_example
finish
