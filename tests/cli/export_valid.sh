#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What comes out is valid for readers that have never heard of us: the JSON schema, Python's json, protoc; also when the log holds bytes, not text.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

check_py=$PWD/tests/cli/export_check.py
schema=$PWD/docs/export.schema.json

# Labels, tags, keys and names of any bytes: every byte there is, half a character, a label as long as they get.
make_hostile() {
	local bytes longest
	bytes=$(printf '\\x%02x' {0..255})
	longest=$(printf '%*s' 16383 '' | sed 's/ /\\x01\\xff\\x5c\\x22/g')
	"$make_log" "$tmp/hostile.txtrace" <<-END
		header pid=1 cpus=1 command="\xff\n" host="\e[31m" start_monotonic_ns=5
		thread time_ns=10 pid=1 tid=2 comm="$bytes"
		attribute time_ns=15 pid=1 tid=2 span=1 name="$bytes" value_type=string value="$bytes"
		attribute time_ns=15 pid=1 tid=2 span=1 name="" value_type=double value=inf
		counter time_ns=16 pid=1 tid=2 name="$bytes" value=1
		instant time_ns=17 pid=1 tid=2 name="\xe2\x82"
		link time_ns=18 pid=1 tid=2 from=1 to=1 name="$bytes"
		wake time_ns=19 pid=1 tid=2 waker_pid=1 waker_tid=3 waker_comm="$bytes"
		stack time_ns=19 pid=1 tid=2 what=9 weight_ns=1 stack=1 span=1 span_pid=1 keyed=true repeat=true
		frames time_ns=19 stack=1 names="$bytes"
		span begin_ns=10 end_ns=20 pid=1 tid=2 end_tid=2 id=1 label="$bytes" tag="$bytes" key="$bytes" flags=keyed
		span begin_ns=10 end_ns=25 pid=1 tid=2 end_tid=3 id=2 label="$longest" flags=moved
		run begin_ns=18446744073709551615 end_ns=3 pid=4294967295 tid=4294967295 blocked_ns=18446744073709551615 left_as=blocked reason=other syscall_nr=-2
		span begin_ns=18446744073709551615 end_ns=18446744073709551615 pid=4294967295 tid=4294967295 end_tid=4294967295 id=18446744073709551615 lock_ns=18446744073709551615 disk_ns=18446744073709551615
		stay enter_ns=18446744073709551615 exit_ns=0 pid=1 tid=2 span=18446744073709551615 span_pid=4294967295 keyed=1
		object time_ns=29 pid=1 tid=2 reason=255 object=0xffffffffffffffff name="$bytes"
		process time_ns=29 pid=1 parent_pid=4294967295 start_ns=18446744073709551615 reasons=255 exit=1 comm="$bytes" exe="$bytes" command="$bytes"
		open_span time_ns=30 begin_ns=12 pid=1 tid=2 id=7 label="$bytes" key="$bytes"
		other_run begin_ns=18446744073709551615 end_ns=1 pid=4294967295 tid=1 comm="$bytes" cpu=4294967295 moved_pid=1 moved_tid=4294967295 flags=nobody_known
		trigger time_ns=35 pid=4294967295 tid=1 cause=255 span=18446744073709551615 keyed=1 missed_cnt=18446744073709551615 rule="$bytes" label="$bytes"
		overlap time_ns=36 pid=4294967295 tid=1 span=18446744073709551615 keyed=1 on_cpu_ns=18446744073709551615 lock_ns=1 throttled_ns=18446744073709551615
		cost time_ns=40 event="$bytes" event_cnt=18446744073709551615 entry=255
		loss first_ns=0 last_ns=18446744073709551615 cpu=4294967295 span_event_cnt=18446744073709551615 sched_event_cnt=1
		dropped time_ns=18446744073709551615 first_ns=18446744073709551615 last_ns=0 batch_cnt=18446744073709551615 span_cnt=18446744073709551615 run_cnt=1
		continued time_ns=18446744073709551615 next_part=4294967295
		summary time_ns=18446744073709551615
	END
}

damage() { # damage NAME: half of the log
	head -c $(($(stat -c %s "$tmp/$1.txtrace") / 2)) "$tmp/$1.txtrace" >"$tmp/cut.txtrace"
}

export_all() { # export_all NAME STATUS
	local format
	for format in jsonl perfetto chrome; do
		run "$2" export -f $format "$1.txtrace" && mv "$tmp/out" "$tmp/$1.$format" || return
	done
}

follows_schema() { # follows_schema NAME
	python3 "$check_py" schema "$schema" <"$tmp/$1.jsonl"
}

is_strict_json() {
	python3 "$check_py" strict <"$tmp/$1.chrome"
}

# protoc knows our .proto alone: a field number that was wrong there is test_export_perfetto's to find.
decodes() {
	protoc --decode=perfetto.Trace --proto_path=userspace/export perfetto.proto <"$tmp/$1.perfetto" >"$tmp/decoded" || return
	if grep -nE '^ *[0-9]+[ :]' "$tmp/decoded"; then fail "there are fields that the .proto does not have"; fi
}

packets() { # packets COUNT PATTERN: how many lines of the decoded trace match
	[ "$(grep -cE "$2" "$tmp/decoded")" = "$1" ] || fail "$(grep -cE "$2" "$tmp/decoded") times $2, not $1"
}

every_record_is_a_packet() {
	decodes export && packets 22 'type: TYPE_SLICE_BEGIN' && packets 22 'type: TYPE_SLICE_END' && packets 2 'type: TYPE_COUNTER' &&
		packets 1 'thread_name: "worker-1"' && packets 1 'counter_value: -1'
}

# A client's "BEGIN" opens a transaction, which begins within that query, and its "COMMIT" ends it. The picture has the transaction on its
# thread's row, above the query between the two; those that cross it are elsewhere.
transaction_is_above_its_queries() {
	"$make_log" "$tmp/crossing.txtrace" <<-'END' || return
		header pid=1 cpus=1 command="server" start_monotonic_ns=1
		thread time_ns=1 pid=1 tid=1 comm="server" seed=1
		span begin_ns=100 end_ns=200 pid=1 tid=1 end_tid=1 id=2 label="BEGIN" work_ns=100 on_cpu_ns=100
		span begin_ns=300 end_ns=500 pid=1 tid=1 end_tid=1 id=3 label="UPDATE" work_ns=200 on_cpu_ns=200
		span begin_ns=150 end_ns=650 pid=1 tid=1 end_tid=1 id=1 label="transaction" work_ns=500 on_cpu_ns=500
		span begin_ns=600 end_ns=700 pid=1 tid=1 end_tid=1 id=4 label="COMMIT" work_ns=100 on_cpu_ns=100
		summary time_ns=1000
	END
	run 0 export -f chrome -o crossing.chrome crossing.txtrace && jq -r '[.traceEvents[] | select(.cat == "span" and .ph == "X") | .name] | sort | join(" ")' \
		"$tmp/crossing.chrome" >"$tmp/on_row" || return
	[ "$(cat "$tmp/on_row")" = "UPDATE transaction" ] || fail "on the thread's row: $(cat "$tmp/on_row")"
}

make_from export
check "a log of everything is exported" export_all export 0
check "hostile strings get into a log" make_hostile
check "and out of it" export_all hostile 0
damage hostile
check "half of that log is exported too" export_all cut 1
check "a transaction is drawn above its queries" transaction_is_above_its_queries
check "docs/export.md describes every field of the schema" python3 "$check_py" fields "$schema" docs/export.md
if python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2>"$tmp/no"; then
	check "every line follows the JSON schema" follows_schema export
	check "also with hostile strings" follows_schema hostile
else
	skip "every line follows the JSON schema" "there is no python3-jsonschema here"
fi
for name in export hostile cut; do check "chrome's JSON of $name is valid for a strict reader" is_strict_json $name; done
if command -v protoc >/dev/null; then
	check "protoc decodes perfetto's packets: one for each record" every_record_is_a_packet
	for name in hostile cut; do check "protoc decodes $name" decodes $name; done
else
	skip "protoc decodes perfetto's packets" "there is no protoc here (protobuf-compiler)"
fi
finish
