#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What the recorder needs, and what it gives up: as nobody with CAP_BPF and CAP_PERFMON it records, exactly; as root it keeps, once it records, what its options
# need, in each thread and process its own, and is confined to the system calls that recording takes.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
need_account

loop=
tracer=
outside=$(mktemp -d) # nobody may look into the tests' own folder
chmod 755 "$outside"
mkdir -m 777 "$outside/logs"
for file in "$recorder" "$programs"/{spin,marks,probe_loop,many_threads}; do
	install -m 755 "$file" "$outside/"
done
trap 'kill -KILL $loop $tracer 2>/dev/null; wait 2>/dev/null; rm -rf "$outside"' EXIT

nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
pair="$nobody --inh-caps -all,+bpf,+perfmon --ambient-caps -all,+bpf,+perfmon --bounding-set -all,+bpf,+perfmon"

# ---- with two capabilities ----

# nobody_records NAME WHOSE PROGRAM [ARGUMENT...]: WHOSE is empty, or the command that makes the target somebody's
nobody_records() {
	local name=$1 whose=$2 program=$3 log=$outside/logs/$1.txtrace
	shift 3
	(cd "$outside" && exec $whose "./$program" "$@" --output "$outside/logs/$name.truth") &
	loop=$!
	(cd "$outside" && exec ${runs_as:-$pair} ./txtrace-bpf -q -o "$log" -p $loop) 2>"$tmp/err" || fail "the tracer ended with $?: $(cat "$tmp/err")" || return
	wait $loop || fail "the program ended with $?" || return
	cat "$tmp/err"
	mv "$log" "$tmp/$name.txtrace" && mv "$outside/logs/$name.truth" "$tmp/$name.truth"
	export_log "$tmp/$name.txtrace" && compare "$name"
}

said_what_is_lacking() {
	cat "$tmp/err"
	[ "$(grep -c 'recording, in less detail: without CAP_SYS_PTRACE .*without CAP_SYS_ADMIN how long BPF programs run is not known$' "$tmp/err")" = 1 ]
}

nobody_launches() {
	(cd "$outside" && $pair ./txtrace-bpf -q -o logs/launched.txtrace -- ./spin --output logs/launched.truth) 2>"$tmp/err" || fail "$(cat "$tmp/err")" || return
	mv "$outside"/logs/launched.t* "$tmp/" && export_log "$tmp/launched.txtrace" && compare launched
}

with_file_capabilities() {
	setcap cap_bpf,cap_perfmon+ep "$outside/txtrace-bpf" || return
	runs_as=$nobody nobody_records by_file "$nobody" spin
	local status=$?
	setcap -r "$outside/txtrace-bpf"
	return $status
}

# ---- of everything ----

# set_of PID-OR-PATH-OF-STATUS NAME: what the capabilities are called
caps_of() {
	capsh --decode="$(sed -n 's/^CapPrm:\t//p' "$1")" | sed 's/.*=//; s/cap_//g'
}

start() { # start [OPTION...]
	rm -f "$tmp/loop.out" # what the last loop wrote would end the wait below
	"$programs/probe_loop" --mode begin-end --steps 2000 --rate 5000 --window-ms 50 >"$tmp/loop.out" &
	loop=$!
	wait_for 20 test -s "$tmp/loop.out"
	"$recorder" -q -o "$tmp/kept.txtrace" "$@" -p $loop 2>"$tmp/err" &
	tracer=$!
	wait_for 20 grep -q '"traced":true' "$tmp/loop.out" || fail "it is not traced: $(cat "$tmp/err")" || return
	[ "${1:-}" = --no-confine ] || wait_for 20 grep -q '^Seccomp:.2' "/proc/$tracer/status" || fail "it is not confined"
}

stop() {
	kill $tracer
	wait $tracer || fail "the tracer ended with $?: $(cat "$tmp/err")" || return
	kill $loop
	wait $loop
	tracer='' loop=''
}

is_confined() { # is_confined STATUS-FILE
	# shellcheck disable=SC2015 # whatever does not hold
	grep -q '^NoNewPrivs:.1' "$1" && grep -q '^Seccomp:.2' "$1" && grep -q '^CapInh:.0*$' "$1" && grep -q '^CapAmb:.0*$' "$1" &&
		[ "$(sed -n 's/^CapPrm:\t//p' "$1")" = "$(sed -n 's/^CapEff:\t//p' "$1")" ] || fail "$1: $(grep -E '^(Cap|NoNew|Seccomp)' "$1")"
}

# Its child, which reads of other processes.
reads_alone() { # reads_alone PID
	local worker
	worker=$(tr -d ' ' <"/proc/$1/task/$1/children")
	is_confined "/proc/$worker/status" && [ "$(caps_of "/proc/$worker/status")" = dac_read_search,sys_ptrace,checkpoint_restore ]
}

keeps_what_it_needs() {
	local task got
	start || return
	for task in "/proc/$tracer/task"/*; do
		is_confined "$task/status" || return
		got=$(caps_of "$task/status")
		case $task in
		*/$tracer) [ "$got" = dac_read_search,sys_ptrace,perfmon,bpf,checkpoint_restore ] ;;
		*) [ "$got" = dac_read_search ] ;;
		esac || fail "$task has $got" || return
	done
	cat "/proc/$tracer/task"/*/children | tr ' ' '\n' | grep . >"$tmp/children"
	while read -r task; do
		got=$(caps_of "/proc/$task/status")
		case $(cat "/proc/$task/comm") in
		txtrace-trial) is_confined "/proc/$task/status" && [ "$got" = sys_admin ] ;;
		txtrace-readers) [ "$got" = dac_read_search,sys_ptrace,checkpoint_restore ] && reads_alone "$task" ;;
		*) [ -z "$got" ] && grep -q '^NoNewPrivs:.1' "/proc/$task/status" ;;
		esac || fail "$(cat "/proc/$task/comm") has $got" || return
	done <"$tmp/children"
	stop
}

escape_keeps_all() {
	start --no-confine || return
	grep -E '^(CapEff|NoNewPrivs|Seccomp):' "/proc/$tracer/status" "/proc/self/status" | awk '{ print $2 }' | sort | uniq -c | sort -rn >"$tmp/sets"
	cat "$tmp/sets"
	diff <(grep -E '^(CapPrm|NoNewPrivs|Seccomp):' "/proc/$tracer/status") <(grep -E '^(CapPrm|NoNewPrivs|Seccomp):' /proc/self/status) || return
	stop
}

# Rotation goes on in a directory that is another user's alone, when all but what that takes is given up.
rotates_under_sudo() {
	mkdir -m 700 "$outside/home" && chown 65534:65534 "$outside/home"
	SUDO_UID=65534 SUDO_GID=65534 "$recorder" -q -o "$outside/home/app.txtrace" --rotate-size 32K --keep 3 --metrics-file "$outside/home/app.prom" \
		-- "$outside/probe_loop" --mode tagged --iterations 300000 >"$tmp/out" 2>"$tmp/err" || fail "$(cat "$tmp/err")" || return
	ls -ln "$outside/home"
	[ "$(find "$outside/home" -name '*.txtrace' -user 65534 | wc -l)" = 3 ] && [ -s "$outside/home/app.prom" ]
}

# The command keeps its own privileges, and may raise them: it was there before.
command_is_not_confined() {
	"$recorder" -q -o "$tmp/free.txtrace" -- grep -E '^(CapPrm|NoNewPrivs|Seccomp):' /proc/self/status >"$tmp/out" || return
	diff "$tmp/out" <(grep -E '^(CapPrm|NoNewPrivs|Seccomp):' /proc/self/status)
}

# The highest number tells that there were more.
two_files_are_kept() {
	[ "$(find "$tmp" -name 'kept*.txtrace*' | wc -l)" = 2 ] && [ -n "$(find "$tmp" -name 'kept.0000*')" ] && [ ! -e "$tmp/kept.000001.txtrace" ]
}

# Children, interrupts, metrics, other options, rotation: all at once, under the filter that ends the program.
does_all_it_is_for() {
	local port
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	echo 'keep = 4' >"$tmp/conf"
	start -f --config "$tmp/conf" --metrics "127.0.0.1:$port" --metrics-file "$tmp/all.prom" --rotate-size 16K --irq || return
	wait_for 20 curl -sf --max-time 20 -o "$tmp/page" "http://127.0.0.1:$port/metrics" || fail "no metrics" || return
	echo 'keep = 2' >"$tmp/conf"
	kill -HUP $tracer
	wait_for 60 two_files_are_kept || fail "the options were not read again: $(ls "$tmp")" || return
	stop && ! grep -q 'not among' "$tmp/err"
}

if "$recorder" --check --json | jq -e '.rows[] | select(.subject == "uprobe_multi") | .found | startswith("all")' >/dev/null; then
	check "nobody with CAP_BPF and CAP_PERFMON traces a process of its own" nobody_records own "$nobody" spin
	check "what is lacking is said, in one sentence" said_what_is_lacking
	check "and one of root's" nobody_records roots "" spin
	check "many threads" nobody_records threads "$nobody" many_threads --threads 4 --repeat 4
	check "all kinds of marks of its own process" nobody_records marks "$nobody" marks
	check "and of root's, whose memory it may not read" nobody_records marks_of_root "" marks
	check "and a command" nobody_launches
	if command -v setcap >/dev/null; then
		check "by capabilities of the file" with_file_capabilities
	fi
fi
if command -v capsh >/dev/null; then
	check "root: what is kept is what recording needs, everywhere" keeps_what_it_needs
fi
check "--no-confine keeps all" escape_keeps_all
check "in another user's directory, rotation goes on" rotates_under_sudo
check "a command that is traced is not confined" command_is_not_confined
check "all that recording does is allowed" does_all_it_is_for
finish
