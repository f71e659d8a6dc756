#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Stacks of code: tests/programs/places.c blocks and runs in functions with known names. The program has exited, and its file is deleted, when they are named.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

# A compiler's map is read while its process lives, so the program lives until the recorder has taken its last event. A stack may lead to an address of nowhere,
# for which the map is looked for before there is one; the next look comes 50 ms later.
has_been_everywhere() { # has_been_everywhere NAME PID
	grep -qs 'all places' "$tmp/$1.stream" || has_ended "$2"
}

has_begun() { # has_begun NAME PID
	grep -qs . "$tmp/$1.mapped" || has_ended "$2"
}

# trace NAME OPTIONS -- ARGUMENTS of the program
trace() {
	local name=$1
	shift
	cp "$programs/places" "$tmp/$name.program"
	local options=()
	while [ "$1" != -- ]; do options+=("$1") && shift; done
	shift
	"$recorder" -q -o "$tmp/$name.txtrace" --stream "$tmp/$name.stream" "${options[@]}" -- "$tmp/$name.program" --library "$programs/nap.so" \
		--file "$tmp/$name.mapped" --until "$tmp/$name.go" "$@" >"$tmp/$name.out" &
	local pid=$!
	wait_for 200 has_begun "$name" $pid
	rm -f "$tmp/$name.program"
	wait_for 200 has_been_everywhere "$name" $pid
	sleep 1
	touch "$tmp/$name.go"
	wait $pid || fail "txtrace-bpf ended with $?" || return
	"$reader" flame --folded --stacks off-cpu "$tmp/$name.txtrace" >"$tmp/$name.off" 2>"$tmp/$name.said"
	"$reader" flame --folded --stacks on-cpu "$tmp/$name.txtrace" >"$tmp/$name.on" 2>>"$tmp/$name.said"
	"$reader" blocked --json --limit 1000 "$tmp/$name.txtrace" >"$tmp/$name.blocked" || fail "blocked failed"
}

# had_no_nap NAME LABEL: by the ledgers of its spans. A thread from which the CPU was taken for as long as it wanted to sleep has not slept: the time is
# runnable. If the kernel did not tell of a switch, it is unknown. It is never on-CPU.
had_no_nap() {
	export_log "$tmp/$1.txtrace" && jq -se --arg wanted "$2" '[.[] | select(.type == "span" and .label == $wanted)] |
		length > 0 and all(.[]; .blocked_ns == 0 and .on_cpu_ns < .runnable_ns + .unknown_ns)' "$tmp/$1.txtrace.jsonl" >/dev/null
}

# passes_through NAME.on|off PATTERN: a stack does, in that order; its first part is the label.
passes_through() {
	local label=${2#^}
	grep -qE "$2" "$tmp/$1" && return
	[ "${1##*.}" = off ] && had_no_nap "${1%.*}" "${label%%;*}" && return
	fail "no stack is $2:" "$(cut -c 1-300 "$tmp/$1")"
}

# label;… N -> label N, added up
by_label() {
	awk '{ ns = $NF; sub(/(;.*)? [0-9]+$/, ""); sum[$0] += ns } END { for (label in sum) print label, sum[label] }' | sort
}

sums_are_those_of_the_spans() {
	by_label <"$tmp/$1.off" >"$tmp/by_code"
	"$reader" flame --folded --weight blocked "$tmp/$1.txtrace" | by_label >"$tmp/by_span"
	[ -s "$tmp/by_span" ] && diff "$tmp/by_span" "$tmp/by_code"
}

stacks_are_complete() {
	! grep -q '(no stack)' "$tmp/$1.off" || fail "$(grep -F '(no stack)' "$tmp/$1.off")"
}

# Of the time on a CPU, most was in that function.
spun_in() {
	awk -v name="$2" '/^spin;/ { all += $NF; if (index($0, name)) part += $NF } END { print part, "of", all; exit !(all > 0 && part > all / 2) }' "$tmp/$1.on"
}

# object NAME JQ-FILTER
has_object() {
	jq -e "[.objects[] | select($2)] | length > 0" "$tmp/$1.blocked" >/dev/null || fail "none is $2:" "$(jq -c '.objects[] | del(.waiters, .wakers)' "$tmp/$1.blocked")"
}

# Pages may be there before the thread sleeps, on a busy machine all of them. A sleep that the kernel hid is one for an unknown reason.
faults_wait_for_the_file() {
	local waits unknown
	waits=$(sed -n 's/^file waits //p' "$tmp/dwarf.out")
	unknown=$(jq '[.objects[] | select(.reason == "unknown").count] | add // 0' "$tmp/dwarf.blocked")
	[ "$waits" -le "$unknown" ] || has_object dwarf '.kind == "memory" and .fault == "file"'
}

# faults_wait_for_the_address_space [OPTION]: as many waits as the thread counted itself, in faults and in marks; those of the first and the last mark may be
# outside of the span. Those in which it did not sleep, since it was woken while it left its CPU, need not be there. Where the kernel did not tell of a switch, the log says of one wait that it does not know the reason; where it did not tell of a wakeup,
# that it does not know the span. Where it told of neither, the wait is not there, and the ledger of the span has unknown time.
faults_wait_for_the_address_space() {
	local slept waited at_edges waits unknown unseen other missing
	"$recorder" -q "$@" -o "$tmp/faults.txtrace" -- "$programs/faults" >"$tmp/faults.out" || return
	slept=$(jq '.waited[0]' "$tmp/faults.out") waited=$(jq '.waited[1]' "$tmp/faults.out") at_edges=$(jq .edges "$tmp/faults.out")
	"$reader" blocked --json --limit 1000 "$tmp/faults.txtrace" >"$tmp/faults.blocked" || return
	waits=$(jq '[.objects[] | select(.fault == "mmap_lock").waiters[] | select(.name == "faults").count] | add // 0' "$tmp/faults.blocked")
	unknown=$(jq '[.objects[] | select(.reason == "unknown").waiters[] | select(.name == "faults").count] | add // 0' "$tmp/faults.blocked")
	other=$(jq '[.objects[] | select(.reason == "other").waiters[] | select(.name == "faults").count] | add // 0' "$tmp/faults.blocked")
	unseen=$(jq '[.objects[] | select(.fault == "mmap_lock").waiters[] | select(.kind == "unseen").count] | add // 0' "$tmp/faults.blocked")
	[ "$slept" -gt 0 ] && [ "$waits" -gt $((unknown + unseen)) ] || fail "no fault waited" || return
	missing=$((slept - waits - unknown - unseen))
	[ $missing -le 0 ] || [ "$("$reader" sql --csv "$tmp/faults.txtrace" "SELECT unknown_ns > 0 FROM spans WHERE label = 'faults'" | tail -n 1)" = 1 ] || fail "$missing waits are not there, and no time is unknown" || return
	[ $missing -le 3 ] && [ "$waits" -le $((waited + at_edges)) ] && [ "$other" = 0 ] ||
		fail "$waits waits for the address space, $unknown of unknown reason, $unseen of an unknown span, $other for something else; the program" \
			"counted $slept to $waited, and $at_edges at the edges: $(jq -c '[.objects[] | [.kind, .reason, .fault, .count, .waiters]]' "$tmp/faults.blocked")"
}

# polled NAME LABEL SYSCALL: (aarch64 has no poll, but ppoll) nothing came, so it is a sleep (what ends a poll: polls.sh)
polled() {
	had_no_nap "$1" "$2" || has_object "$1" ".reason == \"sleep\" and .kind == \"syscall\" and (.syscall == \"$3\" or .syscall == \"p$3\") and ([.waited[]?.name, .waiters[]?.name] | index(\"$2\") != null)"
}

check "the program is traced" trace dwarf --stacks off-cpu,on-cpu --
if kernel_since 5.15; then # before, it does not tell a thread's registers
	check "off-CPU: through the functions that called, without frame pointers" passes_through dwarf.off '^parent;.*;main;nap_outer;nap_inner;.*nanosleep.*_\[k\]'
	check "an inlined function is one" passes_through dwarf.off '^parent;inlined;.*;main;nap_around;nap_in_line_\[i\];'
	check "a library that was loaded late" passes_through dwarf.off '^library;.*;nap_in_library;.*nanosleep'
	check "code that the program made itself" passes_through dwarf.off '^made;.*;made_code_\[j\];'
	check "the lock that was waited for" passes_through dwarf.off '^lock;.*;take_the_lock;.*pthread_mutex_lock'
	check "on-CPU: sampled" passes_through dwarf.on '^spin;.*;main;spin_outer;spin_inner'
	check "most of the time was where the program says" spun_in dwarf spin_inner
	check "a futex has the name of the code that waited for it first" has_object dwarf '.kind == "futex" and (.name // "" | startswith("take_the_lock places.c:"))'
fi
check "blocked time by code adds up to that of the spans" sums_are_those_of_the_spans dwarf
check "every block has a stack" stacks_are_complete dwarf
is_in_memory "$tmp" || check "a page fault waits for a page of a file" faults_wait_for_the_file
check "a page fault waits for the address space" faults_wait_for_the_address_space
check "and a mark that is a call of the kernel, where there are such" faults_wait_for_the_address_space --fast-probes
check "a poll of one descriptor that expires" polled dwarf "poll one" poll
check "of several" polled dwarf "poll many" poll
check "a select of several" polled dwarf "select many" pselect6

check "by frame pointers, too" trace pointers --unwind frame-pointers --stacks off-cpu,on-cpu --
check "the sums are the same" sums_are_those_of_the_spans pointers
check "the innermost function is right" spun_in pointers spin_inner

# What a program says of its own code may be anything.
check "a map of rubbish" trace rubbish --stacks off-cpu -- --map-line "$(printf 'ffffffffffffffff ffffffffffffffff x\nzz\n0 0\n%0999d\n1 \x1b[2J;;;\n' 0)
"
check "does no harm to what is right" passes_through rubbish.off '^made;.*;made_code_\[j\];'

# The recorder gives up what it does not need once it records; the first stack comes after that.
starts_late() {
	"$programs/places" --repeat 3 >"$tmp/late.out" &
	local program=$! tracer
	wait_for 200 grep -qx places /proc/$program/comm && kill -STOP $program || return
	"$recorder" --messages json --stacks off-cpu -o "$tmp/late.txtrace" -p $program 2>"$tmp/late.said" &
	tracer=$!
	wait_for 200 grep -q '"event":"start","message":"recording"' "$tmp/late.said" || fail "the tracer does not begin: $(cat "$tmp/late.said")" || return
	kill -CONT $program
	wait $program
	wait $tracer || fail "txtrace-bpf ended with $?" || return
	"$reader" flame --folded --stacks off-cpu "$tmp/late.txtrace" >"$tmp/late.off"
}
check "a program that did nothing before" starts_late
check "the kernel's functions have names" passes_through late.off '^parent;.*;hrtimer_nanosleep_\[k\]'

check "files stand alone" trace parts --rotate-time 300ms --stacks off-cpu,on-cpu -- --repeat 100
each_part_has_its_frames() {
	local part missing
	[ "$(find "$tmp" -name 'parts*.txtrace' | wc -l)" -gt 1 ] || fail "it was not rotated" || return
	for part in "$tmp"/parts*.txtrace; do
		missing=$(comm -23 <("$reader" dump -k stack "$part" | sed 's/.* stack=\([0-9]*\).*/\1/' | sort -u) \
			<("$reader" dump -k frames "$part" | sed 's/.* stack=\([0-9]*\).*/\1/' | sort -u))
		[ -z "$missing" ] || fail "$part lacks the frames of $missing" || return
	done
}
check "each file has the frames of its stacks" each_part_has_its_frames

no_names() {
	"$recorder" -q --no-futex-names -o "$tmp/plain.txtrace" -- "$programs/places" --repeat 1 --spin-ms 1 >"$tmp/plain.out" &&
		[ -z "$("$reader" dump -k stack "$tmp/plain.txtrace" && "$reader" dump -k frames "$tmp/plain.txtrace")" ] &&
		"$reader" dump -k object "$tmp/plain.txtrace" >"$tmp/objects" && ! grep reason=lock "$tmp/objects"
}
check "nothing of it when nobody asks" no_names
finish
