#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Where the time went, added to traces of OpenTelemetry: from a log with contexts whose numbers are known.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

trace=0af7651916cd43dd8448eb211c80319c
other=4bf92f3577b34da6a3ce929d0e0e4736

# stay ID TID BEGIN END SPAN BEFORE AFTER LEDGER...: of the context of that span
stay() {
	echo "attribute time_ns=$3 pid=7 tid=$2 span=$1 name=\"traceparent\" value_type=string value=\"00-${of:-$trace}-$5-01\""
	echo "attribute time_ns=$3 pid=7 tid=$2 span=$1 name=\"otel.before_ns\" value_type=uint value=$6"
	echo "attribute time_ns=$4 pid=7 tid=$2 span=$1 name=\"otel.after_ns\" value_type=uint value=$7"
	echo "span begin_ns=$3 end_ns=$4 pid=7 tid=$2 end_tid=$2 id=$1 label=\"otel\" work_ns=$(($4 - $3)) ${*:8}"
}

# Unix time is the log's and 1000. Thread 1 is in a1, in its child a2, in a1 again; thread 2 in a3, a child of a1, too. c1 is of another process, below a1. d1 is
# nobody's. A span with the label and a traceparent is no context; nor is one of another label.
{
	echo 'header pid=7 cpus=1 command="shop" capture_id="joined" start_monotonic_ns=1000 start_realtime_ns=2000'
	stay 1 1 1100 1200 00000000000000a1 30 10 on_cpu_ns=40 sleep_ns=60
	stay 2 1 1200 1300 00000000000000a2 10 5 on_cpu_ns=20 runnable_ns=80
	stay 3 1 1300 1350 00000000000000a1 5 7 on_cpu_ns=17 lock_ns=33
	stay 4 2 1320 1420 00000000000000a3 9 2 on_cpu_ns=50 disk_ns=50
	stay 5 3 1500 1510 00000000000000c1 1 1 on_cpu_ns=3 unknown_ns=7
	of=$other stay 6 4 1600 1610 00000000000000d1 1 1 on_cpu_ns=10
	echo "attribute time_ns=1700 pid=7 tid=5 span=7 name=\"traceparent\" value_type=string value=\"00-$trace-00000000000000a1-01\""
	echo 'span begin_ns=1700 end_ns=1800 pid=7 tid=5 end_tid=5 id=7 label="otel" work_ns=100 on_cpu_ns=100'
	stay 8 5 1800 1900 00000000000000a1 0 0 on_cpu_ns=100 | sed 's/"otel"/"other"/'
	echo 'summary time_ns=2000'
} >"$tmp/log.txt"
"$make_log" "$tmp/log.txtrace" <"$tmp/log.txt" || exit

cat >"$tmp/traces.jsonl" <<END
{"resourceSpans":[{"scopeSpans":[{"scope":{"name":"s"},"spans":[
{"name":"a1","traceId":"${trace^^}","spanId":"00000000000000A1","startTimeUnixNano":"2050","endTimeUnixNano":2450,"attributes":[ {"key":"k","value":{"stringValue":"\"}],"}} ],"unknown":[{"spans":[{"traceId":1}]}]},
{"traceId":"$trace","spanId":"00000000000000a2","parentSpanId":"00000000000000a1","startTimeUnixNano":"2190","endTimeUnixNano":"2310","attributes":[]},
{"traceId":"$trace","spanId":"00000000000000a3","parentSpanId":"00000000000000a1","startTimeUnixNano":"2320","endTimeUnixNano":"2420"},
{"traceId":"$trace","spanId":"00000000000000a4","parentSpanId":"00000000000000a3","startTimeUnixNano":"2330","endTimeUnixNano":"2340"},{}]}],
"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]}}]}
{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"db"}}]},"scopeSpans":[{"spans":[
{"traceId":"$trace","spanId":"00000000000000c1","parentSpanId":"00000000000000a1","startTimeUnixNano":"2500","endTimeUnixNano":"2510"}]}]}]}
{"resourceMetrics":[{"a":1e5}]}
END

# a1: of the stays 1 to 3 the CPU time at their ends is known to be below it, but for the first's begin (30) and the last's end (7), and the begin and end of a3
# (9 and 2). Nobody worked for it in 2050 to 2100 and 2420 to 2450, less the 48 that may have been its own. a2: 10 and 5 are between it and a1. c1 is of another
# process. a4 has nothing, and nothing is added to it, nor to a span without ids.
answers() {
	diff - <(jq -c '.resourceSpans[]?.scopeSpans[].spans[] | select(.attributes | length > 0) | [.spanId, ([.attributes[] | select(.key | startswith("txtrace.")) | select(.key != "txtrace.capture_id") | (.key | ltrimstr("txtrace.")) + "=" + (.value.intValue // "true")] | join(" "))]' "$tmp/$1") <<-'END'
		["00000000000000A1","work_ns=350 on_cpu_ns=118 on_cpu_between_ns=48 runnable_ns=80 blocked_ns=143 blocked.lock_ns=33 blocked.disk_ns=50 blocked.sleep_ns=60 detached_ns=32 unknown_ns=0"]
		["00000000000000a2","work_ns=100 on_cpu_ns=15 on_cpu_between_ns=15 runnable_ns=80 blocked_ns=0 detached_ns=5 unknown_ns=0"]
		["00000000000000a3","work_ns=100 on_cpu_ns=48 on_cpu_between_ns=11 blocked_ns=50 blocked.disk_ns=50 unknown_ns=0"]
		["00000000000000c1","work_ns=10 on_cpu_ns=2 on_cpu_between_ns=2 blocked_ns=0 unknown_ns=7"]
	END
}

in_json() {
	run 0 join -o joined.jsonl log.txtrace traces.jsonl && answers joined.jsonl || return
	diff "$tmp/err" - <<-'END'
		txtrace: added the ledger to 4 of 6 spans
		txtrace: spans in the log that are not in the traces: 1 (not sampled, not exported yet, or in another file)
	END
}

# Without what was added it is what it was, byte by byte.
untouched() {
	run 0 join log.txtrace traces.jsonl && cmp "$tmp/out" "$tmp/joined.jsonl" && python3 - "$tmp" <<-'END'
		import re, sys
		joined = open(sys.argv[1] + "/joined.jsonl").read()
		own = r'\{"key":"txtrace\.[^{}]*"value":\{[^{}]*\}\}'
		text = re.sub(rf'"attributes":\[{own}(,{own})*\],(?="traceId")', "", joined)
		text = re.sub(rf'{own}(,{own})*,?', "", text)
		assert text == open(sys.argv[1] + "/traces.jsonl").read()
	END
}

# The same in protobuf, from a member that is in no version of the format to the last byte.
in_protobuf() {
	python3 tests/cli/join_protobuf.py pack "$tmp/traces.jsonl" "$tmp/traces.otlp" && run 0 join -o joined.otlp log.txtrace traces.otlp &&
		python3 tests/cli/join_protobuf.py unpack "$tmp/traces.otlp" "$tmp/joined.otlp" >"$tmp/unpacked.jsonl" && answers unpacked.jsonl
}

# What has attributes of ours already gets no second ones.
twice() {
	run 0 join -o twice.jsonl log.txtrace joined.jsonl && cmp "$tmp/joined.jsonl" "$tmp/twice.jsonl" && grep -q '^txtrace: spans that have attributes of txtrace already, left as they are: 4$' "$tmp/err"
}

packed() {
	gzip -k "$tmp/traces.jsonl" && run 0 join log.txtrace traces.jsonl.gz && cmp "$tmp/out" "$tmp/joined.jsonl" && (cd "$tmp" && "$txtrace" join log.txtrace - <traces.jsonl >out 2>err) && cmp "$tmp/out" "$tmp/joined.jsonl"
}

# What was before the log began, and after it ended, is not known.
beyond_the_log() {
	printf '{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"%s","spanId":"00000000000000a3","startTimeUnixNano":"1400","endTimeUnixNano":"3700"}]}]}]}' $trace >"$tmp/long.json"
	run 0 join log.txtrace long.json && diff - <(jq -r '.resourceSpans[].scopeSpans[].spans[].attributes[] | .key + " " + (.value | tostring)' "$tmp/out" | grep -v capture_id) <<-'END'
		txtrace.work_ns {"intValue":"100"}
		txtrace.on_cpu_ns {"intValue":"48"}
		txtrace.on_cpu_between_ns {"intValue":"11"}
		txtrace.blocked_ns {"intValue":"50"}
		txtrace.blocked.disk_ns {"intValue":"50"}
		txtrace.detached_ns {"intValue":"889"}
		txtrace.unknown_ns {"intValue":"1300"}
		txtrace.lower_bound {"boolValue":true}
	END
}

# Parents in a circle, and a span that is its own: each stay counts once.
circles() {
	{
		printf '{"resourceSpans":[{"scopeSpans":[{"spans":['
		printf '{"traceId":"%s","spanId":"00000000000000a1","parentSpanId":"00000000000000a2"},{"traceId":"%s","spanId":"00000000000000a2","parentSpanId":"00000000000000a1"},' $trace $trace
		printf '{"traceId":"%s","spanId":"00000000000000a3","parentSpanId":"00000000000000a3"}]}]}]}\n' $trace
	} >"$tmp/circles.jsonl"
	run 0 join log.txtrace circles.jsonl && diff - <(jq -r '.resourceSpans[].scopeSpans[].spans[] | .spanId + " " + (.attributes[] | select(.key == "txtrace.work_ns") | .value.intValue)' "$tmp/out") <<-'END'
		00000000000000a1 250
		00000000000000a2 250
		00000000000000a3 100
	END
}

# Cut off anywhere, or with a byte that is another one: a sentence or a result, never a crash.
damaged() {
	local file length at
	for file in traces.jsonl traces.otlp; do
		length=$(stat -c %s "$tmp/$file")
		for at in $(seq 0 $((length / 40 + 1)) "$length"); do
			head -c "$at" "$tmp/$file" >"$tmp/cut"
			run_any join log.txtrace cut || return
			{ head -c "$at" "$tmp/$file" && printf '\377' && tail -c +$((at + 2)) "$tmp/$file"; } >"$tmp/cut"
			run_any join log.txtrace cut || return
		done
	done
	python3 -c 'print("{\"a\":" + "[" * 100000)' >"$tmp/deep"
	run 2 join log.txtrace deep && grep -q "is damaged, at offset" "$tmp/err"
}

run_any() {
	(cd "$tmp" && "$txtrace" "$@" >out 2>err)
	[ $? -le 2 ] || fail "$* ended with $?: $(cat "$tmp/err")"
}

nothing_there() {
	make_from traces && run 1 join traces.txtrace traces.jsonl && grep -q "the log has no contexts" "$tmp/err" && cmp "$tmp/out" "$tmp/traces.jsonl"
}

wrong() {
	complains "the log and the traces can't both be standard input" join - - && refuses "can't read 'nowhere'" join log.txtrace nowhere && refuses "it is what is read" join -o traces.jsonl log.txtrace traces.jsonl &&
		refuses "it is what is read" join -o log.txtrace log.txtrace traces.jsonl && refuses "traces.jsonl" join traces.jsonl traces.jsonl
}

refuses() { # refuses WORDS ARGUMENT...
	run 2 "${@:2}" && grep -q "$1" "$tmp/err" || fail "$(cat "$tmp/err")"
}

check "in JSON" in_json
check "all else stays as it is" untouched
check "in protobuf" in_protobuf
check "a second time" twice
check "compressed, and from standard input" packed
check "beyond the log" beyond_the_log
check "parents in a circle" circles
check "damaged traces" damaged
check "a log without contexts" nothing_there
check "wrong usage" wrong
finish
