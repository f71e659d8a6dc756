#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Who is traced: lists of pids, children, commands by name, executables, cgroups of both versions, everybody. Each test counts spans that it knows.
# runs alone: with -a, the probes of every process of the machine are set
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
need_account

tracer=
cgroups=()
cleanup() {
	local cgroup
	jobs -p | xargs -r kill -KILL 2>/dev/null
	wait 2>/dev/null
	for cgroup in "${cgroups[@]}"; do rmdir "$cgroup" 2>/dev/null; done
}
trap cleanup EXIT

# start_tracer LOG OPTION...: returns once it records
start_tracer() {
	local log=$1
	shift
	rm -f "$log" "$log.partial" "$tmp/tracer.err"
	"$recorder" --messages json -o "$log" "$@" >"$tmp/tracer.out" 2>"$tmp/tracer.err" &
	tracer=$!
	wait_for 20 grep -qs '"event":"start","message":"recording"' "$tmp/tracer.err" || fail "the tracer does not begin: $(cat "$tmp/tracer.err")"
}

end_tracer() {
	kill -INT "$tracer"
	wait "$tracer" || fail "the tracer ended with $?: $(cat "$tmp/tracer.err")"
}

# spans_of LOG PID: how many there are
spans_of() {
	grep '"type":"span"' "$1.jsonl" | grep -c "\"pid\":$2,"
}

# counts LOG LABEL NUMBER: a process may end before its label is read, on a busy machine. Its spans are there all the same, and the recorder says so.
counts() {
	local cnt nameless
	cnt=$(grep '"type":"span"' "$1.jsonl" | grep -c "\"label\":\"$2\"")
	nameless=$(grep '"type":"span"' "$1.jsonl" | grep -c '"label":""')
	[ "$cnt" -le "$3" ] && [ $((cnt + nameless)) -ge "$3" ] || fail "$cnt spans are called $2, not $3; there are $(grep -c '"type":"span"' "$1.jsonl"), $nameless without a name" || return
	[ "$nameless" = 0 ] || grep -q '[1-9][0-9,]* labels or names could not be read' "$tmp/tracer.err" || fail "$nameless have no name: $(cat "$tmp/tracer.err")"
}

# ---- pids ----

list_of_pids() {
	local pids=() pid
	for i in 1 2 3; do
		"$programs/spin" --repeat 5 --output "$tmp/list.$i" &
		pids+=($!)
	done
	"$recorder" -q -o "$tmp/list.txtrace" -p "$(IFS=,; echo "${pids[*]}")" || fail "the tracer ended with $?" || return
	wait "${pids[@]}" || fail "a program failed" || return
	export_log "$tmp/list.txtrace" || return
	cat "$tmp"/list.[123] >"$tmp/list.truth"
	compare list || return
	for pid in "${pids[@]}"; do
		[ "$(spans_of "$tmp/list.txtrace" "$pid")" = 5 ] || fail "process $pid has not 5 spans" || return
	done
	"$reader" export "$tmp/list.txtrace" --format jsonl | grep '"type":"process"' | grep -c '"exit":true' | grep -qx 3 || fail "not three exits are told"
}

# Somebody else runs the same program: he is none of the list's.
others_are_left_alone() {
	local other pid tracer
	"$programs/probe_loop" --mode begin-end --steps 2000 --rate 5000 --window-ms 100 >"$tmp/other.out" &
	other=$!
	"$programs/probe_loop" --mode begin-end --steps 2000 --rate 5000 --window-ms 100 >"$tmp/mine.out" &
	pid=$!
	wait_for 20 test -s "$tmp/other.out" && wait_for 20 test -s "$tmp/mine.out"
	"$recorder" -q -o "$tmp/alone.txtrace" -p $pid &
	tracer=$!
	wait_for 60 grep -q '"traced":true' "$tmp/mine.out"
	kill -INT $tracer
	wait $tracer || return
	kill $other $pid
	wait $other $pid
	export_log "$tmp/alone.txtrace" || return
	[ "$(spans_of "$tmp/alone.txtrace" $pid)" -gt 0 ] || fail "nothing was traced" || return
	[ "$(spans_of "$tmp/alone.txtrace" $other)" = 0 ] || fail "somebody else was traced" || return
	! grep -q '"traced":true' "$tmp/other.out" || fail "somebody else was slowed down"
}

# ---- children ----

# Two processes, one of which was forked by the other: what both measured for one key adds up to one ledger.
two_processes_one_key() {
	"$recorder" -q -f -o "$tmp/relay.txtrace" -- "$programs/relay" --repeat 20 --output "$tmp/relay.truth" 2>"$tmp/tracer.err" || return
	export_log "$tmp/relay.txtrace"
	compare relay && counts "$tmp/relay.txtrace" request 20
}

one_key_by_pids() {
	local client server
	"$programs/relay" --repeat 20 --output "$tmp/pair.truth" &
	client=$!
	wait_for 20 pgrep -P $client >"$tmp/server" || return
	server=$(cat "$tmp/server")
	"$recorder" -q -o "$tmp/pair.txtrace" -p $client,"$server" 2>"$tmp/tracer.err" || fail "the tracer ended with $?" || return
	wait $client || return
	export_log "$tmp/pair.txtrace"
	compare pair && counts "$tmp/pair.txtrace" request 20
}

# family_is_whole NAME EXEC CHILDREN DEPTH SPANS: each child has exactly its spans and its process, or is counted as lost. Whose program had ended before
# anybody could look at it may have spans without a label: it is unknown, not guessed.
family_is_whole() {
	local log=$tmp/$1.txtrace pid
	rm -f "$tmp/$1.pids"
	"$recorder" -f -o "$log" -- "$programs/family" --exec "$2" --children "$3" --depth "$4" --spans "$5" --list "$tmp/$1.pids" >"$tmp/$1.out" 2>"$tmp/$1.err" ||
		return
	cat "$tmp/$1.err"
	export_log "$log" || return
	python3 - "$tmp/$1.pids" "$log.jsonl" "$5" <<'EOF'
import collections, json, sys
pids = collections.Counter(int(line) for line in open(sys.argv[1]))
spans, labels, processes, lost = collections.Counter(), collections.Counter(), collections.Counter(), 0
for line in open(sys.argv[2]):
	record = json.loads(line)
	if record["type"] == "span":
		spans[record["pid"]] += 1
		labels[record["label"]] += 1
	elif record["type"] == "process" and record["exit"]:
		processes[record["pid"]] += 1
	elif record["type"] == "loss":
		lost += record["span_event_cnt"] + record["sched_event_cnt"]
wrong = [pid for pid, cnt in pids.items() if spans[pid] != cnt * int(sys.argv[3]) or processes[pid] != cnt]
print(f"{sum(pids.values())} children, {sum(spans.values())} spans, labels {dict(labels)}, {lost} events lost, {len(wrong)} children are not whole")
sys.exit(1 if not lost and (wrong or set(labels) - {""} != {"child"} or set(spans) != set(pids)) else 0)
EOF
}

without_f_children_are_left_alone() {
	"$recorder" -q -o "$tmp/only.txtrace" -- "$programs/fork_exec" --repeat 3 --output "$tmp/only.truth" || return
	export_log "$tmp/only.txtrace"
	compare only
}

with_f_children_are_charged_for_themselves() {
	"$recorder" -q -f -o "$tmp/both.txtrace" -- "$programs/fork_exec" --repeat 3 --output "$tmp/both.truth" 2>"$tmp/tracer.err" || return
	export_log "$tmp/both.txtrace"
	compare both && counts "$tmp/both.txtrace" "after the exec" 3 && counts "$tmp/both.txtrace" "in the child" 3
}

has_children() {
	[ "$(pgrep -P "$1" | wc -l)" = "$2" ]
}

with_f_children_are_traced_that_are_there() {
	local parent children
	sh -c "for i in 1 2 3; do \"$programs/probe_loop\" --mode begin-end --rate 200 >/dev/null & done; wait" &
	parent=$!
	wait_for 30 has_children $parent 3 || return
	children=$(pgrep -P $parent | sort | tr '\n' ' ')
	"$recorder" -q -f -d 2 -o "$tmp/there.txtrace" -p $parent || fail "the tracer ended with $?" || return
	# shellcheck disable=SC2086
	kill $children
	export_log "$tmp/there.txtrace"
	set -- "$(jq -rs 'map(select(.type == "span") | .pid) | unique | map(tostring) | sort | map(. + " ") | add' "$tmp/there.txtrace.jsonl")"
	[ "$1" = "$children" ] || fail "spans of $1, not of the children $children"
}

bytes_read_by() { # bytes_read_by PID
	sed -n 's/^rchar: //p' "/proc/$1/io"
}

sleeps_of() { # sleeps_of PID
	sed -n 's/^voluntary_ctxt_switches:\t//p' "/proc/$1/status"
}

# With -f the recorder hears of each program that anybody starts: some fifty times a second at most, whatever it is that they start.
others_programs_are_no_reason_to_look() {
	local target tracer before after maps sleeps begin_ms took_ms
	"$programs/crowd" --threads 2 >"$tmp/crowd.out" &
	target=$!
	wait_for 30 test -s "$tmp/crowd.out" || return
	maps=$(wc -c </proc/$target/maps)
	start_tracer "$tmp/crowd.txtrace" -f -p $target || return
	before=$(bytes_read_by "$tracer")
	sleeps=$(sleeps_of "$tracer") begin_ms=$(date +%s%3N)
	for i in {1..1000}; do
		/bin/true
	done
	took_ms=$(($(date +%s%3N) - begin_ms))
	after=$(bytes_read_by "$tracer") sleeps=$(($(sleeps_of "$tracer") - sleeps))
	kill -INT "$tracer"
	wait "$tracer" || return
	kill $target
	[ $((after - before)) -lt $((20 * maps)) ] ||
		fail "1000 programs of others: the recorder read $((after - before)) bytes; the target's map has $maps" || return
	[ $sleeps -le $((50 + took_ms / 10)) ] || fail "1000 programs of others in $took_ms ms: the recorder woke up $sleeps times"
}

ends_with_the_last_that_was_named() {
	local child
	"$recorder" -q -f -o "$tmp/named.txtrace" -- sh -c "\"$programs/idle\" >/dev/null 2>&1 & echo \$!" >"$tmp/named.pid" || return
	child=$(cat "$tmp/named.pid")
	runs "$child" && kill "$child"
	return 0
}

# uses_memory NAME: if that was asked for, some spans were marked in shared memory
uses_memory() {
	[ -z "${TXTRACE_MARKS:-}" ] || "$reader" report --cost --json "$tmp/$1.txtrace" | jq -e '.cost.classes.span.in_memory > 0' >/dev/null || fail "nothing was marked in shared memory"
}

# ---- rules ----

# present_and_future NAME COPY OPTION...: one process of the program COPY runs already, another comes
present_and_future() {
	local name=$1 program=$2 pid
	shift 2
	"$program" --mode begin-end --steps 2000 --rate 1000 --window-ms 50 >"$tmp/$name.present" &
	pid=$!
	wait_for 20 test -s "$tmp/$name.present"
	start_tracer "$tmp/$name.txtrace" "$@" || return
	wait_for 20 grep -q '"traced":true' "$tmp/$name.present" || fail "the process that runs is not traced" || return
	"$program" --mode begin-end --steps 2000 --rate 1000 --window-ms 50 --seconds 1 >"$tmp/$name.future"
	kill $pid
	wait $pid
	end_tracer || return
	export_log "$tmp/$name.txtrace" || return
	[ "$(grep -c '"traced":true' "$tmp/$name.future")" -gt 0 ] || fail "the process that came is not traced" || return
	[ "$(spans_of "$tmp/$name.txtrace" $pid)" -gt 0 ] || fail "the process that ran has no spans" || return
	[ "$(grep '"type":"process"' "$tmp/$name.txtrace.jsonl" | grep -c '"exit":true')" = 2 ] || fail "not two processes are told" || return
	uses_memory "$name"
}

by_comm() {
	cp "$programs/probe_loop" "$tmp/by_name"
	present_and_future comm "$tmp/by_name" --comm by_name
}

by_exe() {
	cp "$programs/probe_loop" "$tmp/by_exe"
	present_and_future exe "$tmp/by_exe" --exe "$tmp/by_exe"
}

# It is known before anybody runs it: not one span is missed.
first_span_of_an_executable() {
	cp "$programs/family" "$tmp/first"
	start_tracer "$tmp/first.txtrace" --exe "$tmp/first" || return
	"$tmp/first" --wait-traced 0 --children 20 --exec 1 --spans 7 >"$tmp/first.out" || return
	end_tracer && export_log "$tmp/first.txtrace" && counts "$tmp/first.txtrace" child 140
}

# The file is replaced by a new one of that name, as an upgrade does it.
exe_is_replaced() {
	cp "$programs/family" "$tmp/upgraded"
	start_tracer "$tmp/upgrade.txtrace" --exe "$tmp/upgraded" || return
	cp "$programs/family" "$tmp/upgraded.new" && mv "$tmp/upgraded.new" "$tmp/upgraded"
	wait_for 20 upgrade_is_traced || fail "the new file is not traced" || return
	end_tracer
}

upgrade_is_traced() {
	"$tmp/upgraded" --wait-traced 0.3 --children 0 2>/dev/null
}

by_all() {
	cp "$programs/probe_loop" "$tmp/of_all"
	"$tmp/of_all" --mode begin-end --steps 2000 --rate 1000 --window-ms 50 >"$tmp/all.present" &
	local pid=$!
	wait_for 20 test -s "$tmp/all.present"
	start_tracer "$tmp/all.txtrace" -a || return
	wait_for 20 grep -q '"traced":true' "$tmp/all.present" || fail "the process that runs is not traced" || return
	cp "$programs/spin" "$tmp/of_all_too"
	"$tmp/of_all_too" --repeat 5 --output "$tmp/all.truth" || fail "the program that came is not traced" || return
	kill $pid
	wait $pid
	end_tracer && export_log "$tmp/all.txtrace" && uses_memory all || return
	[ "$(spans_of "$tmp/all.txtrace" $pid)" -gt 0 ] || fail "the process that ran has no spans" || return
	grep '"pid":'"$(sed -n 's/.*"pid":\([0-9]*\).*/\1/p' "$tmp/all.truth" | head -n 1)"'[,}]' "$tmp/all.txtrace.jsonl" | grep '"type":"span"' | wc -l | grep -qx 5 ||
		fail "the program that came has not its 5 spans"
}

# ---- cgroups ----

# by_cgroup FOLDER: one process is in it, one is moved into it, one is forked by that, one is outside
by_cgroup() {
	local cgroup=$1/txtrace-test-$$ inner other name
	name=$(basename "$1")
	mkdir "$cgroup" "$cgroup/below" || return
	cgroups=("$cgroup/below" "$cgroup" "${cgroups[@]}")
	"$programs/probe_loop" --mode begin-end --steps 2000 --rate 1000 --window-ms 50 >"$tmp/$name.inner" &
	inner=$!
	echo $inner >"$cgroup/below/cgroup.procs" || return
	"$programs/probe_loop" --mode begin-end --steps 2000 --rate 1000 --window-ms 50 >"$tmp/$name.other" &
	other=$!
	wait_for 20 test -s "$tmp/$name.other"
	start_tracer "$tmp/$name.txtrace" --cgroup "$cgroup" || return
	wait_for 20 grep -q '"traced":true' "$tmp/$name.inner" || fail "who is in it is not traced" || return
	bash -c "echo \$\$ >$cgroup/cgroup.procs; \"$programs/family\" --children 5 --spans 4" >"$tmp/$name.family" || fail "who moves in is not traced" || return
	kill $inner $other
	wait $inner $other
	end_tracer && export_log "$tmp/$name.txtrace" || return
	[ "$(spans_of "$tmp/$name.txtrace" $inner)" -gt 0 ] || fail "who was in it has no spans" || return
	[ "$(spans_of "$tmp/$name.txtrace" $other)" = 0 ] || fail "who was not in it has spans" || return
	counts "$tmp/$name.txtrace" child 20 && uses_memory "$name"
}

# Who moves in and becomes another program at that moment: the recorder looks at it in the midst of its exec.
moves_in_and_execs() { # moves_in_and_execs FOLDER
	local cgroup=$1/txtrace-exec-$$ families=() pid
	mkdir "$cgroup" || return
	cgroups=("$cgroup" "${cgroups[@]}")
	start_tracer "$tmp/moved.txtrace" --cgroup "$cgroup" || return
	for _ in $(seq 20); do
		bash -c "echo \$\$ >$cgroup/cgroup.procs; exec \"$programs/family\" --children 2 --spans 3" >"$tmp/moved.out" &
		families+=($!)
		sleep 0.02
	done
	for pid in "${families[@]}"; do wait "$pid" || fail "who moves in is not traced" || return; done
	end_tracer && export_log "$tmp/moved.txtrace" && counts "$tmp/moved.txtrace" child 120
}

check "a list of pids: each has its spans, and what they measured holds" list_of_pids
check "who runs the same program and is not in the list is left alone" others_are_left_alone
check "without -f children are left alone" without_f_children_are_left_alone
check "with -f each child is charged for itself, before and after its exec" with_f_children_are_charged_for_themselves
check "with -f children are traced that are there already" with_f_children_are_traced_that_are_there
check "with -f programs that others start are no reason to read what the targets have mapped" others_programs_are_no_reason_to_look
check "with -f the capture ends with the command, whoever lives on" ends_with_the_last_that_was_named
check "a key that client and server work for: one ledger over both, as they measured" two_processes_one_key
check "the same for two pids" one_key_by_pids
check "2,000 children, five generations: each has exactly its spans" family_is_whole forked 0 400 5 3
check "1,000 children that exec: each has exactly its spans" family_is_whole exec 1 500 2 3
check "--comm: who runs and who comes" by_comm
check "--exe: who runs and who comes" by_exe
check "--exe: no span of a process to come is missed" first_span_of_an_executable
check "--exe: a file that takes its place" exe_is_replaced
check "-a: who runs and who comes" by_all
for folder in /sys/fs/cgroup/unified /sys/fs/cgroup/pids /sys/fs/cgroup/systemd /sys/fs/cgroup; do
	if [ ! -w "$folder/cgroup.procs" ] || ! mkdir "$folder/txtrace-try-$$" 2>/dev/null; then
		number=$((number + 1))
		echo "ok $number - --cgroup in $folder # SKIP no cgroup can be made there"
		continue
	fi
	rmdir "$folder/txtrace-try-$$"
	check "--cgroup in $folder: who is in it, who comes, nobody else" by_cgroup "$folder"
	[ ${#cgroups[@]} -gt 2 ] || check "who moves in and execs at once has its labels" moves_in_and_execs "$folder"
done
finish
