#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What the commands that write logs do with their files: an input is never touched, an output is there when it is complete, and nothing is left of one
# that is not.
# takes long: 6 s of a CPU
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

tools="repair slice merge recompress anonymize"
make_from sound
cp "$tmp/sound.txtrace" "$tmp/original"
mkdir "$tmp/folder"

# A good log, and behind it so much that is no log that the search for more takes its time. Holes are passed over, so each mebibyte has a byte.
sed 's/^summary.*/abort/' "$logs/sound.txt" | "$make_log" "$tmp/slow.txtrace"
python3 - "$tmp/slow.txtrace.partial" <<-'END'
	import os, sys
	fd = os.open(sys.argv[1], os.O_WRONLY)
	for mebibyte in range(1, 20001):
	    os.pwrite(fd, b"x", mebibyte << 20)
END
slow_bytes=$(stat -c %s "$tmp/slow.txtrace.partial")

each() { # each COMMAND...: with the name of each tool behind it
	local tool
	for tool in $tools; do
		"$@" "$tool" || { echo "$tool" && return 1; }
	done
}

left() { # what there is in $tmp that begins with NAME
	(cd "$tmp" && echo "$1"*)
}

needs_output() {
	complains "where to? give --output, see 'txtrace help $1'" "$1" sound.txtrace && complains "a log has to be a file: give its name with --output" "$1" -o - sound.txtrace
}

refuses_input() {
	ln -sf sound.txtrace "$tmp/link"
	complains "can't write 'sound.txtrace': it is the log that is read" "$1" -o sound.txtrace sound.txtrace &&
		complains "can't write 'link': it is the log that is read" "$1" -o link sound.txtrace && cmp "$tmp/original" "$tmp/sound.txtrace"
}

# cannot_write OUT REASON TOOL
cannot_write() {
	local what="can't write '$1': $2"
	[ "$3" != repair ] || what="can't repair 'sound.txtrace' into '$1': $2"
	complains "$what" "$3" -o "$1" sound.txtrace
}

# A limit on the size of files is a disk that is full in the middle.
full_disk() {
	echo old >"$tmp/full.txtrace"
	awk 'BEGIN { srand(1); for (i = 0; i < 20000; i++) print "instant time_ns=" i " pid=1 tid=1 name=\"" rand() rand() "\"" }' </dev/null | "$make_log" "$tmp/long.txtrace"
	(cd "$tmp" && trap '' XFSZ && ulimit -f 64 && "$txtrace" "$1" -o full.txtrace long.txtrace >out 2>err)
	[ $? = 2 ] && grep -q "'full.txtrace': File too large$" "$tmp/err" || fail "it said: $(cat "$tmp/err")" || return
	[ "$(left full)" = full.txtrace ] && [ "$(cat "$tmp/full.txtrace")" = old ] || fail "$(left full)"
}

replaces() {
	echo old >"$tmp/new.txtrace"
	run 0 "$1" -o new.txtrace sound.txtrace && run 0 dump -n 1 new.txtrace && [ "$(left new)" = new.txtrace ] && [ "$(stat -c %a "$tmp/new.txtrace")" = 600 ] || fail "$(left new)"
}

# A name that the recorder of the input would use: it is not put aside.
beside_a_partial() {
	cp "$tmp/sound.txtrace" "$tmp/app.txtrace.partial"
	rm -f "$tmp/app.txtrace"
	run 0 "$1" -o app.txtrace app.txtrace.partial && [ "$(left app)" = "app.txtrace app.txtrace.partial" ] && cmp "$tmp/original" "$tmp/app.txtrace.partial" || fail "$(left app)"
}

wait_for() { # wait_for COMMAND...: until it succeeds
	local i
	for ((i = 0; i < 2400; i++)); do
		"$@" && return
		sleep 0.05
	done
	fail "nothing came of: $*"
}

has_begun() {
	[ "$(left stopped)" != stopped.txtrace ]
}

# For what is killed: a leak sanitizer that is killed at its work complains.
unchecked=ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

has_gone() {
	[ "$(left stopped)" = stopped.txtrace ]
}

# stopped_by SIGNAL STATUS TOOL: in the middle of it
stopped_by() {
	local pid status
	echo old >"$tmp/stopped.txtrace"
	cd "$tmp" || return
	# A job of a shell without job control ignores SIGINT: env gives it back.
	env --default-signal=INT "$unchecked" "$txtrace" "$3" -o stopped.txtrace slow.txtrace.partial >out 2>err &
	pid=$!
	wait_for has_begun || { kill -KILL $pid; return 1; }
	kill "-$1" $pid
	wait $pid
	status=$?
	cd "$OLDPWD" || return
	[ $status = "$2" ] || fail "the status is $status" || return
	wait_for has_gone || fail "$(left stopped)" || return
	[ "$(cat "$tmp/stopped.txtrace")" = old ] && [ "$(stat -c %s "$tmp/slow.txtrace.partial")" = "$slow_bytes" ]
}

# ---- stopped at any moment ----

make_work() { # make_work RECORDS: a log that keeps each tool busy for a moment
	awk -v cnt="$1" 'BEGIN { srand(1); for (i = 0; i < cnt; i++) print "instant time_ns=" i " pid=1 tid=1 name=\"" rand() rand() "\"" }' </dev/null >"$tmp/work.txt"
	grep '^summary' "$logs/sound.txt" | sed "s/time_ns=[0-9]*/time_ns=$1/" >>"$tmp/work.txt"
	"$make_log" "$tmp/work.txtrace" <"$tmp/work.txt" && cp "$tmp/work.txtrace" "$tmp/work.copy"
}

# What the tool writes when it is left alone, and how many microseconds it takes for it.
whole() { # whole TOOL
	local begin=${EPOCHREALTIME/./}
	run 0 "$1" -o "whole.$1" work.txtrace || return
	took=$((${EPOCHREALTIME/./} - begin))
}

is_whole() { # is_whole TOOL FILE
	# The pseudonyms are others each time.
	if [ "$1" = anonymize ]; then
		run 0 verify "$2" && run 0 export --format jsonl "$2" && [ "$(wc -l <"$tmp/out")" = "$(wc -l <"$tmp/work.lines")" ]
	else
		cmp "$tmp/whole.$1" "$tmp/$2"
	fi
}

nothing_beside() {
	[ "$(left any)" = any.txtrace ] || [ "$(left any)" = "any*" ]
}

# stopped_after MICROSECONDS SIGNAL TOOL: if it came to its end before, `took` is at most the time that this took.
stopped_after() {
	local status begin=${EPOCHREALTIME/./} spent
	(cd "$tmp" && exec env --default-signal=INT "$unchecked" timeout --foreground -s "$2" "$(printf '%d.%06d' $(($1 / 1000000)) $(($1 % 1000000)))" \
		"$txtrace" "$3" -o any.txtrace work.txtrace) >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
	spent=$((${EPOCHREALTIME/./} - begin))
	[ $status != 0 ] || [ $spent -ge $took ] || took=$spent
	case $status in 0 | 124 | 137) ;; *) fail "the status is $status: $(cat "$tmp/err")" || return ;; esac
	wait_for nothing_beside || fail "$(left any)" || return
	cmp "$tmp/work.copy" "$tmp/work.txtrace" || return
	if [ $status = 0 ] || { [ -e "$tmp/any.txtrace" ] && [ "$(head -c 4 "$tmp/any.txtrace")" != old ]; }; then
		whole_cnt=$((whole_cnt + 1))
		is_whole "$3" any.txtrace
	else
		[ ! -e "$tmp/before" ] || cmp "$tmp/before" "$tmp/any.txtrace"
	fi
}

stopped_at_any_moment() { # stopped_at_any_moment TOOL
	local signal i us took whole_cnt=0
	whole "$1" || return
	# Until one was stopped at least: the machine may have been slow only while the time was taken.
	for ((i = 0; i < 16 || (whole_cnt == i && i < 200); i++)); do
		rm -f "$tmp/any.txtrace" "$tmp/before"
		[ $((i / 2 % 2)) = 0 ] || echo old | tee "$tmp/before" >"$tmp/any.txtrace"
		signal=$([ $((i % 2)) = 0 ] && echo KILL || echo INT)
		us=$((took / 100 + took * (RANDOM % 1000) / 900))
		stopped_after $us "$signal" "$1" || fail "$signal after $us of $took us, seed $seed" || return
	done
	echo "$whole_cnt of $i were complete"
	[ $whole_cnt -lt $i ] || fail "none was stopped"
}

to_a_pipe() {
	mkfifo "$tmp/pipe.$1"
	cat "$tmp/pipe.$1" >"$tmp/piped.txtrace" &
	run 0 "$1" -o "pipe.$1" sound.txtrace && wait $! && [ "$(left "pipe.$1")" = "pipe.$1" ] || return
	run 0 dump sound.txtrace && cp "$tmp/out" "$tmp/before"
	# Nothing of a pipe can be taken back or renamed; what came out of it is a log all the same.
	run 0 verify piped.txtrace
}

check "no output is named" each needs_output
check "the input is not written over" each refuses_input
check "a folder that is not there" each cannot_write absent/x "No such file or directory"
check "a folder" each cannot_write folder "Is a directory"
check "a device that is full" each cannot_write /dev/full "No space left on device"
check "a disk that becomes full" each full_disk
check "an older file is replaced, by one that only its owner may read" each replaces
check "an input that has the name of an unfinished output" each beside_a_partial
check "a pipe" each to_a_pipe
for tool in $tools; do
	check "$tool: Ctrl-C leaves nothing" stopped_by INT 130 "$tool"
	check "$tool: SIGTERM leaves nothing" stopped_by TERM 143 "$tool"
	check "$tool: SIGKILL leaves nothing" stopped_by KILL 137 "$tool"
done
seed=${SEED:-$((RANDOM))}
RANDOM=$seed
make_work 60000
run 0 export --format jsonl work.txtrace && mv "$tmp/out" "$tmp/work.lines"
for tool in $tools; do
	check "$tool: SIGKILL or Ctrl-C at any moment costs neither the log nor an older file, and leaves no half" stopped_at_any_moment "$tool"
done
finish
