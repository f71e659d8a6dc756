#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Debian's OpenJDK 17 as it is, by --preset hotspot: as many collections, sleeps, parks, waits and compiled methods as the program makes. Its probes are in
# libjvm.so, which `java` opens by dlopen.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
# shellcheck source=tests/e2e/recording.sh
. tests/e2e/recording.sh || exit
need_bpf
need_program javac openjdk-17-jdk-headless

library=$(dirname "$(readlink -f "$(command -v javac)")")/../lib/server/libjvm.so
if ! "$recorder" --list "$library" 2>/dev/null | grep -q '  hotspot:gc__begin('; then
	echo "ok 1 - unmodified_java # SKIP the java that is installed has no probes; Debian's openjdk-17-jdk-headless has"
	echo "1..1"
	exit 0
fi

rounds=5
# Compiled is one method, at once, and said to be.
java=(java -XX:+DTraceMonitorProbes -Xbatch -XX:+PrintCompilation '-XX:CompileCommand=quiet'
	'-XX:CompileCommand=compileonly,Answer::hot' -cp "$tmp/classes")

compiles() {
	javac -d "$tmp/classes" $e2e/unmodified/answer.java
}

as_many_as_made() { # as_many_as_made NAME
	grep -qx 'sum=6124938750000' "$tmp/$1.said" || fail "its result is another one: $(cat "$tmp/$1.said")" || return
	same collections "$(spans_of "$1" gc '.tag == "full=1"')" $rounds &&
		same "sleeps of the second thread" "$(jq -s 'map(select(.type == "span")) | (map(select(.label == "park")) | .[0].tid) as $second |
			map(select(.label == "sleep" and .tid == $second)) | length' "$tmp/$1.txtrace.jsonl")" $((2 * rounds)) &&
		same parks "$(spans_of "$1" park)" $((3 * rounds)) &&
		same waits "$(spans_of "$1" monitor-wait '.tag == "class=Answer$Turn" and (.unfinished | not)')" $((4 * rounds)) &&
		same "waits for a lock" "$(spans_of "$1" monitor-enter '.tag == "class=Answer$Held" and (.unfinished | not)')" $rounds &&
		same "methods that are compiled" "$(spans_of "$1" compile '.tag | test("^compiler=C[12],class=Answer,method=hot$")')" \
			"$(grep 'Answer::hot (' "$tmp/$1.said" | grep -vc 'made not entrant')" &&
		same "other methods" "$(spans_of "$1" compile '.tag | test("method=hot$") | not')" 0 && is_whole "$1"
}

attached() {
	local program
	mkdir "$tmp/attached"
	"${java[@]}" Answer "$tmp/attached" $rounds >"$tmp/attached.said" &
	program=$!
	wait_for 60 grep -q ready "$tmp/attached.said" || fail "the program does not run" || return
	begin_recording attached --preset hotspot -p $program || return
	touch "$tmp/attached/go"
	wait $program || fail "the program ended with $?" || return
	wait "$tracer" || fail "ended with $?: $(cat "$tmp/attached.err")" || return
	export_log "$tmp/attached.txtrace"
	as_many_as_made attached
}

launched() {
	mkdir "$tmp/launched"
	begin_recording launched --preset hotspot -- "${java[@]}" -XX:+UseSerialGC Answer "$tmp/launched" $rounds || return
	wait_for 60 has_span launched sleep || fail "nothing is traced: $(cat "$tmp/launched.err")" || return
	touch "$tmp/launched/go"
	wait "$tracer" || fail "ended with $?: $(cat "$tmp/launched.err")" || return
	mv "$tmp/launched.err" "$tmp/launched.said"
	export_log "$tmp/launched.txtrace"
	as_many_as_made launched
}

check "the program compiles" compiles
check "-p PID: what the program makes" attached
check "-- COMMAND: what the program makes, by a library that is opened later" launched
finish
