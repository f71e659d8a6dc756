#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --otel: the contexts that a program publishes for its threads, however it is built, against what the program measures of itself.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
kernel_since 5.13 || {
	"$recorder" --otel -o "$tmp/old.txtrace" -- true 2>"$tmp/said"
	status=$?
	check "an old kernel is refused with a sentence" test "$status" = 2 -a "$(grep -c 'needs Linux 5.13' "$tmp/said")" = 1
	finish
	exit
}

# build NAME COMPILER OPTION...: tests/programs/otel_writer.c
build() {
	"$2" -O2 -D_GNU_SOURCE -Itests/programs tests/programs/otel_writer.c "${@:3}" -o "$tmp/$1" -lpthread -ldl || fail "it cannot be compiled"
}

# library NAME COMPILER OPTION...: the one with the variable
library() {
	"${@:2}" -O2 -D_GNU_SOURCE -fPIC -shared tests/programs/plugins/otel_variable.c -o "$tmp/lib$1.so" || fail "it cannot be compiled"
}

# compare_otel LOG OUTPUT
compare_otel() {
	"$reader" export --format jsonl -o "$1.jsonl" "$1" 2>"$tmp/exported" || fail "$(cat "$tmp/exported")" || return
	python3 "$e2e/check_otel.py" "$1.jsonl" "${@:2}" || fail "see above"
}

# writes NAME [OPTION...]: what that program does is recorded from its begin on
writes() {
	"$recorder" -q --otel -o "$tmp/$1.txtrace" -- "$tmp/$1" "${@:2}" >"$tmp/$1.out" || fail "ended with $?" || return
	compare_otel "$tmp/$1.txtrace" "$tmp/$1.out"
}

# has_seen COUNT PID: so many processes publish contexts, the recorder has said, or it has ended
has_seen() {
	[ "$(grep -c 'publishes the contexts' "$tmp/said")" -ge "$1" ] || has_ended "$2"
}

# records NAME OPTION... -- COMMAND...: the program goes on when $tmp/NAME.1 is there; that is made when the recorder has found its variable, and likewise for
# those that follow
records() {
	local name=$1 pid cnt=0
	rm -f "$tmp/$name".[0-9]
	"$recorder" --otel -o "$tmp/$name.txtrace" "${@:2}" >"$tmp/$name.reported" 2>"$tmp/said" &
	pid=$!
	while [ $((cnt += 1)) -le "${programs_cnt:-1}" ]; do
		wait_for 60 has_seen $cnt $pid
		touch "$tmp/$name.$cnt"
	done
	wait $pid || fail "ended with $?: $(cat "$tmp/said")" || return
	grep -E '^[0-9a-f]{32} ' "$tmp/$name.reported" >"$tmp/$name.out"
}

# writes_once_seen NAME OPTION...
writes_once_seen() {
	records "$1" -- "$tmp/$1" --until "$tmp/$1.1" "${@:2}" && compare_otel "$tmp/$1.txtrace" "$tmp/$1.out"
}

in_program() {
	build "$1" "${@:2}" && writes "$1"
}

# in_library NAME COMPILER OPTION...: of the library; linked with, and loaded
in_library() {
	library "$1" "${@:2}" && build "$1.linked" "$2" -DELSEWHERE "$tmp/lib$1.so" -Wl,-rpath,"$tmp" && writes_once_seen "$1.linked" &&
		build "$1.loaded" "$2" -DLOADED && writes_once_seen "$1.loaded" --library "$tmp/lib$1.so"
}

# Nothing is guessed.
unknown_place() {
	library unknown gcc -ftls-model=local-dynamic && build unknown gcc -DLOADED || return
	"$recorder" --otel -o "$tmp/unknown.txtrace" -- "$tmp/unknown" --transactions 50 --library "$tmp/libunknown.so" >"$tmp/reported" 2>"$tmp/said" || fail "$(cat "$tmp/said")" || return
	said_once 'cannot find where' || return
	! "$reader" export --format jsonl "$tmp/unknown.txtrace" | grep -q '"label":"otel"' || fail "it has contexts"
}

# After a hundred other libraries with such variables: the number of this one's is high, and threads have an old list until they use it.
many_libraries() {
	printf '__thread long some; long *get(void); long *get(void) { return &some; }\n' >"$tmp/some.c"
	gcc -O2 -fPIC -shared "$tmp/some.c" -o "$tmp/some.so" && library many gcc && build many gcc -DLOADED || return
	local cnt libraries=
	for cnt in $(seq 100); do
		cp "$tmp/some.so" "$tmp/some.$cnt.so" && libraries+=$tmp/some.$cnt.so:
	done
	LD_PRELOAD=$libraries writes_once_seen many --library "$tmp/libmany.so"
}

# Those that are too many are not read, which is said; the linker leads all to the variable of the first.
more_libraries() {
	library more gcc && build more gcc -DLOADED || return
	local cnt libraries=
	for cnt in 1 2 3 4 5; do
		cp "$tmp/libmore.so" "$tmp/libmore.$cnt.so" && libraries+=$tmp/libmore.$cnt.so:
	done
	LD_PRELOAD=$libraries records more -- "$tmp/more" --until "$tmp/more.1" --library "$tmp/libmore.so" || return
	said_once "more than 4 libraries of process [0-9]* have the variable of its threads' contexts; the others are not read" && compare_otel "$tmp/more.txtrace" "$tmp/more.out"
}

# A library is unloaded, and another one has its number and its place.
unloaded() {
	local pid
	rm -f "$tmp/unloaded.go"
	library unloaded gcc && library other gcc -Dotel_thread_ctx_v1=other_thread -Dotel_variable=other_variable || return
	"$recorder" --otel -o "$tmp/unloaded.txtrace" -- "$programs/otel_unloaded" "$tmp/libunloaded.so" "$tmp/libother.so" "$tmp/unloaded.go" >"$tmp/reported" 2>"$tmp/said" &
	pid=$!
	wait_for 60 has_seen 1 $pid
	touch "$tmp/unloaded.go"
	wait $pid && grep -q '^done$' "$tmp/reported" || fail "ended with $?: $(cat "$tmp/said")" || return
	diff - <("$reader" export --format jsonl "$tmp/unloaded.txtrace" | jq -r 'select(.name == "traceparent") | .value[36:52]' | sort -u) <<-'END'
		0000000000000008
		000000000000000b
	END
}

many_threads() {
	writes program --threads 200 --transactions 3
}

# The recorder comes when it runs, and its threads are in transactions.
attached() {
	local pid recorder_pid
	rm -f "$tmp/attached.go"
	"$tmp/program" --threads 8 --transactions 40 --before "$tmp/attached.go" >"$tmp/attached.out" &
	pid=$!
	"$recorder" --otel -o "$tmp/attached.txtrace" -p $pid >"$tmp/reported" 2>"$tmp/said" &
	recorder_pid=$!
	wait_for 60 is_recording $recorder_pid || return
	touch "$tmp/attached.go"
	wait $pid && wait $recorder_pid || fail "ended with $?: $(cat "$tmp/said")" || return
	[ "$(grep -c ^before "$tmp/attached.out")" -gt 0 ] || fail "it was not there before" || return
	compare_otel "$tmp/attached.txtrace" "$tmp/attached.out"
}

said_once() {
	[ "$(grep -c "$1" "$tmp/said")" = 1 ] || fail "not once: $(cat "$tmp/said")"
}

# announces NAME OPTION...: a program that is not named by its number
announces() {
	local name=$1 program=${program:-program} recorder_pid
	rm -f "$tmp/go"
	"$recorder" --otel -o "$tmp/$name.txtrace" --exe "$tmp/$program" >"$tmp/reported" 2>"$tmp/said" &
	recorder_pid=$!
	wait_for 60 is_recording $recorder_pid || return
	"$tmp/$program" --until "$tmp/go" "${@:2}" >"$tmp/$name.out" &
	wait_for 60 grep -q "txtrace-bpf: process" "$tmp/said"
	touch "$tmp/go"
	wait $! || fail "the program ended with $?"
	sleep 0.5
	kill -INT $recorder_pid && wait $recorder_pid
}

# Who is not named by its number is read if it says so.
announced() {
	announces announced --announce tlsdesc_v1_dev && said_once "publishes the contexts of its threads, as service 'the writer'" && compare_otel "$tmp/announced.txtrace" "$tmp/announced.out"
}

announced_nodejs() {
	program=nodejs announces announced.nodejs --announce nodejs_v1_dev && said_once "publishes the contexts of its threads, as service 'the writer'" && compare_otel "$tmp/announced.nodejs.txtrace" "$tmp/announced.nodejs.out"
}

announced_late() {
	announces late --announce - --again tls_v1 && said_once "as service 'the writer'" && compare_otel "$tmp/late.txtrace" "$tmp/late.out"
}

unannounced() {
	"$recorder" --otel -o "$tmp/silent.txtrace" --exe "$tmp/program" >"$tmp/reported" 2>"$tmp/said" &
	wait_for 60 is_recording $! || return
	"$tmp/program" --announce - --transactions 100 >"$tmp/silent.out" || fail "the program ended with $?"
	kill -INT $! && wait $!
	! grep -q publishes "$tmp/said" || fail "$(cat "$tmp/said")" || return
	! "$reader" export --format jsonl "$tmp/silent.txtrace" | grep -q '"label":"otel"' || fail "it has contexts"
}

of_another_form() {
	announces other --announce go_pprof_labels_v1 && said_once "as 'go_pprof_labels_v1', which txtrace does not read"
}

# A child has its parent's variable, and no word of its own.
child() {
	"$recorder" -q --otel -f -o "$tmp/child.txtrace" -- "$tmp/program" --fork >"$tmp/child.out" || fail "ended with $?" || return
	compare_otel "$tmp/child.txtrace" "$tmp/child.out"
}

# With marks of txtrace.h in the same program the reports have both; a trace is found by its id.
in_reports() {
	local id
	id=$(head -n 1 "$tmp/program.out" | cut -d ' ' -f 1)
	"$reader" show --trace "$id" "$tmp/program.txtrace" >"$tmp/shown" 2>&1 || "$reader" show "$tmp/program.txtrace" "$id" >"$tmp/shown" 2>&1 || fail "$(cat "$tmp/shown")" || return
	grep -q "$id" "$tmp/shown" && grep -q otel "$tmp/shown" || fail "$(cat "$tmp/shown")" || return
	"$reader" export --format otlp-json -o "$tmp/program.json" "$tmp/program.txtrace" || return
	diff <(cut -d ' ' -f 1,2 "$tmp/program.out" | sort) <(jq -r '.resourceSpans[].scopeSpans[].spans[] | select(.name == "otel") | .traceId + " " + .parentSpanId' "$tmp/program.json" | sort -u) >&2 || fail "an export has other traces or parents" || return
	"$reader" verify "$tmp/program.txtrace" >"$tmp/verified" || fail "$(cat "$tmp/verified")"
}

# What the tracer has exported gets a ledger, each span of it.
joined() {
	python3 - "$tmp/program.out" >"$tmp/traces.jsonl" <<-'END' || return
		import json, sys
		for line in open(sys.argv[1]):
		    trace, span = line.split()[:2]
		    parent = span[:-2] + "01" if span.endswith("02") else ""
		    print(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": trace, "spanId": span, "parentSpanId": parent, "name": "n"}]}]}]}))
	END
	"$reader" join -o "$tmp/joined.jsonl" "$tmp/program.txtrace" "$tmp/traces.jsonl" 2>"$tmp/said" || fail "ended with $?: $(cat "$tmp/said")" || return
	python3 - "$tmp/program.out" "$tmp/joined.jsonl" <<-'END'
		import json, os, sys
		slack = 25_000_000 if os.environ.get("TXTRACE_EMULATED") else 250_000
		off = {line.split()[1]: list(map(int, line.split()[2:4])) for line in open(sys.argv[1])}
		for line in open(sys.argv[2]):
		    span = json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
		    told = {pair["key"]: int(pair["value"].get("intValue", 0)) for pair in span["attributes"]}
		    below = off[span["spanId"][:-2] + "02"] if span["spanId"].endswith("01") else [0, 0]
		    least = off[span["spanId"]][0] + below[0]
		    got = told["txtrace.blocked_ns"] + told.get("txtrace.runnable_ns", 0) + told.get("txtrace.stolen_ns", 0)
		    assert got + told["txtrace.unknown_ns"] >= least - slack - least // 50, (span, off[span["spanId"]], below)
	END
}

refused() { # refused WORDS OPTION...
	"$recorder" --otel "${@:2}" -o "$tmp/refused.txtrace" -- true 2>"$tmp/said"
	[ $? = 2 ] && grep -q -e "$1" "$tmp/said" || fail "$(cat "$tmp/said")"
}

wrong_usage() {
	refused 'looks when a thread leaves' --sched off && refused 'cannot be used with --sample' --sample 1/2 && refused 'cannot be used with' --min-duration 1ms && refused 'cannot be used with' --label a && refused 'records no spans' --threads
}

# What it runs next has another variable.
execs() {
	programs_cnt=2 records exec -f -- sh -c "\"$tmp/program\" --until \"$tmp/exec.1\"; exec \"$tmp/static\" --until \"$tmp/exec.2\"" || return
	[ "$(wc -l <"$tmp/exec.out")" = 160 ] && awk '{ for (i = 3; i <= 7; i++) sum[$1 " " $2, i] += $i; name[$1 " " $2] } END { for (n in name) print n, sum[n, 3], sum[n, 4], sum[n, 5], sum[n, 6], sum[n, 7] }' "$tmp/exec.out" >"$tmp/exec.sums" &&
		compare_otel "$tmp/exec.txtrace" "$tmp/exec.sums"
}

# Without a compiler: the one that was built with the others, which is in a program.
if ! command -v gcc >/dev/null; then
	cp "$programs/otel_writer" "$tmp/program"
	check "in a program" writes program
else
	check "in a program" in_program program gcc -rdynamic
fi
compiled() {
	check "in a program that says nothing of its variables to others" in_program quiet gcc
	check "in a program that is not moved" in_program fixed gcc -no-pie -rdynamic
	check "in a static program" in_program static gcc -static
	check "in a static program that is moved" in_program static-pie gcc -static-pie
	check "in libraries: by module" in_library module gcc
	check "in libraries: protected" in_library protected gcc -DPROTECTED
	check "in libraries: where no relocation names it" unknown_place
	check "in libraries: by descriptors" in_library descriptor gcc -mtls-dialect=gnu2
	check "in libraries: at a fixed distance" in_library initial gcc -ftls-model=initial-exec
	if command -v musl-gcc >/dev/null; then
		check "musl: in a program" in_program musl musl-gcc -rdynamic
		check "musl: in a static program" in_program musl-static musl-gcc -static
		check "musl: in libraries: by module" in_library musl-module musl-gcc
		check "musl: in libraries: by descriptors" in_library musl-descriptor musl-gcc -mtls-dialect=gnu2
	fi
	check "after a hundred other libraries" many_libraries
	check "in more libraries than are read" more_libraries
	check "after the library was unloaded" unloaded
	check "in programs that follow each other" execs
	check "in fibres that take turns on their threads" in_program fibres gcc -rdynamic -DFIBRES
	check "as Node.js has it" in_program nodejs gcc -rdynamic -DNODEJS
	check "as Node.js has it, in a program that says so" announced_nodejs
}
! command -v gcc >/dev/null || compiled
check "200 threads" many_threads
check "a program that runs already" attached
check "a program that says that it publishes" announced
check "one that says so later, in other words" announced_late
check "one that says nothing is not read unless it is named" unannounced
check "another form is refused with a sentence" of_another_form
check "in a child" child
check "in reports" in_reports
check "joined with traces" joined
check "wrong usage" wrong_usage
finish
