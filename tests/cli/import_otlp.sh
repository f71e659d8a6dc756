#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# OpenTelemetry's traces as a log: made files with known answers, what we export ourselves, and files that somebody has changed.
# shellcheck source=tests/cli/import.sh
. tests/cli/import.sh || exit

said() { # said SENTENCE...: all that the import said
	diff <([ $# = 0 ] || printf 'txtrace: %s\n' "$@") "$tmp/said_of_import"
}

# What a collector writes: members in other orders than ours, numbers as numbers and as strings, spans before their resource and in no order.
cat >"$tmp/made.jsonl" <<-'END'
	{"resourceSpans":[{"scopeSpans":[{"spans":[
	{"name":"child \u00fc \ud83d\ude00 \ud800","kind":1,"traceId":"0AF7651916cd43dd8448eb211c80319c","spanId":"00000000000000a2","parentSpanId":"00000000000000a1","startTimeUnixNano":"5000000000200","endTimeUnixNano":5000000000300,"flags":257,"status":{},"unknownMember":{"a":[1,{"b":2}]}},
	{"name":"GET /","kind":2,"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"00000000000000a1","parentSpanId":"b7ad6b7169203331","startTimeUnixNano":"5000000000100","endTimeUnixNano":"5000000000900","flags":769,"traceState":"congo=t61rcWkgMzE",
	 "attributes":[{"key":"s","value":{"stringValue":"text"}},{"key":"b","value":{"boolValue":true}},{"key":"i","value":{"intValue":"-5"}},{"key":"n","value":{"intValue":7}},{"key":"d","value":{"doubleValue":1.5}},{"key":"x","value":{"bytesValue":"AP8x"}},{"key":"l","value":{"arrayValue":{"values":[{"stringValue":"a\"b"},{"intValue":1},{"kvlistValue":{"values":[{"key":"k","value":{"boolValue":false}}]}}]}}},{"key":"e","value":{}}],
	 "events":[{"timeUnixNano":"5000000000400","name":"retry","attributes":[{"key":"k","value":{"intValue":1}}]}],
	 "links":[{"traceId":"11111111111111111111111111111111","spanId":"2222222222222222"}],
	 "droppedEventsCount":3,"status":{"code":2,"message":"no such page"}}],
	"scope":{"name":"http.lib","version":"1"}}],
	"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}},{"key":"process.pid","value":{"intValue":"4711"}},{"key":"host.name","value":{"stringValue":"web1"}},{"key":"container.id","value":{"stringValue":"c0ffee"}}]}}]}
	{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"unknown_service:db"}},{"key":"process.pid","value":{"intValue":"4711"}}]},"scopeSpans":[{"spans":[
	{"name":"query","kind":2,"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"00000000000000b1","parentSpanId":"00000000000000a2","startTimeUnixNano":"5000000000210","endTimeUnixNano":"5000000000250","attributes":[{"key":"thread.id","value":{"intValue":9}},{"key":"thread.name","value":{"stringValue":"worker"}}]},
	{"name":"backward","traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"00000000000000b2","startTimeUnixNano":"5000000000240","endTimeUnixNano":"5000000000220"},
	{"name":"no id","traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"0000000000000000"},
	{"name":"short id","traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"0001"},
	{"name":"no hex","traceId":"0af7651916cd43dd8448eb211c80319z","spanId":"00000000000000b3"},
	{"name":7,"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"00000000000000b4","startTimeUnixNano":"soon"}
	]}]}]}
	{"resourceMetrics":[]}
END

# The first byte of protobuf is that of a newline; behind it is a length, here 123, which is that of a brace.
begins_like_json() {
	python3 - >"$tmp/brace.otlp" <<-'END' || return
		import struct, sys
		def message(number, content):
		    return bytes([number << 3 | 2, len(content)]) + content
		span = message(1, b"t" * 16) + message(2, b"s" * 8) + message(5, b"op") + b"\x39" + struct.pack("<Q", 1000) + b"\x41" + struct.pack("<Q", 2000)
		resource = message(1, message(1, message(1, b"service.name") + message(2, message(1, b"shop"))))
		left = 123 - len(resource) - len(message(2, message(2, span)))
		sys.stdout.buffer.write(message(1, resource + message(2, message(1, message(1, b"n" * (left - 4))) + message(2, span))))
	END
	[ "$(head -c 2 "$tmp/brace.otlp")" = "$(printf '\n{')" ] && import 0 brace.otlp && records span '[.label, .end_ns - .begin_ns]' '["op",1000]'
}

made_file() {
	import 0 made.jsonl && run 0 verify log.txtrace || return
	# by their ends: b4 at 0, which is when the log begins
	records span '[.pid, .tid, .id, .parent, .label, (.begin_ns % 1000), (.end_ns % 1000), .unknown_ns]' '[1073741825,1073741825,"180","0","",0,0,0] [1073741825,1073741825,"178","0","backward",240,240,0] [1073741825,9,"177","0","query",210,250,40] [4711,4711,"162","161","child ü 😀 �",200,300,100] [4711,4711,"161","0","GET /",100,900,800]' &&
		records attribute 'select(.span == "161") | [.name, .value_type, .value_hex // .value]' '["traceparent","string","00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"] ["traceparent.sent","string","00-0af7651916cd43dd8448eb211c80319c-00000000000000a1-01"] ["tracestate","string","congo=t61rcWkgMzE"] ["span.kind","string","server"] ["otel.status_code","string","ERROR"] ["otel.status_description","string","no such page"] ["otel.scope.name","string","http.lib"] ["s","string","text"] ["b","bool",true] ["i","int",-5] ["n","int",7] ["d","double",1.5] ["x","bytes","00ff31"] ["l","string","[\"a\\\"b\",1,{\"k\":false}]"] ["e","string","null"]' &&
		records instant '[.time_ns % 1000, .span, .name]' '[400,"161","retry"]' &&
		records process '[.pid, .comm, .container]' '[4711,"shop","c0ffee"] [1073741825,"db",""]' &&
		records thread 'select(.tid == 9) | [.pid, .comm]' '[1073741825,"worker"]' &&
		said "spans without valid ids, left out: 3" "spans that end before they begin, of no length: 1" "links, left out: 1" "attributes of events, left out: 1" "attributes, events and links that had been dropped before: 3" "values that are not of their member's type, left out: 3" "documents without spans: 1"
}

# Out again: the same ids, parents and traces. A parent in another process stays remote.
back_again() {
	run 0 export -o back.otlp.jsonl log.txtrace || return
	jq -rc '.resourceSpans[].scopeSpans[].spans[] | [.name, .traceId, .spanId, .parentSpanId, .flags, .traceState]' "$tmp/back.otlp.jsonl" | sort >"$tmp/back"
	diff "$tmp/back" - <<-'END'
		["(unknown)","0af7651916cd43dd8448eb211c80319c","00000000000000b4",null,0,null]
		["GET /","0af7651916cd43dd8448eb211c80319c","00000000000000a1","b7ad6b7169203331",769,"congo=t61rcWkgMzE"]
		["backward","0af7651916cd43dd8448eb211c80319c","00000000000000b2",null,0,null]
		["child ü 😀 �","0af7651916cd43dd8448eb211c80319c","00000000000000a2","00000000000000a1",257,"congo=t61rcWkgMzE"]
		["query","0af7651916cd43dd8448eb211c80319c","00000000000000b1","00000000000000a2",768,null]
	END
}

# One trace over two processes, in the commands that know of traces.
commands_work() {
	run 0 report --by trace log.txtrace && grep -q 0af7651916cd43dd8448eb211c80319c "$tmp/out" && run 0 show log.txtrace 0af7651916cd43dd8448eb211c80319c && grep -q "GET /" "$tmp/out" && grep -q "query" "$tmp/out" && run 0 report --by process log.txtrace && grep -q shop "$tmp/out"
}

# What we export comes back: spans, ledgers, attributes and ids. In both forms, and of files in the other order.
round_trip() { # round_trip NAME
	run 0 export -o "$1.jsonl.0" -f jsonl "$1.txtrace" && run 0 export -o first.otlp "$1.txtrace" && run 0 export -o first.otlp.jsonl "$1.txtrace" || return
	for file in first.otlp first.otlp.jsonl; do
		import 0 $file && run 0 verify log.txtrace && run 0 export -o second.otlp.jsonl log.txtrace && same_spans || fail "$file" || return
	done
	tac "$tmp/first.otlp.jsonl" >"$tmp/turned.jsonl"
	import 0 turned.jsonl && run 0 export -o second.otlp.jsonl log.txtrace && same_spans
}

# Attributes of events, and links, are not imported; a circle of parents (g) has no topmost span that names its trace.
same_spans() {
	for name in first second; do
		jq -Sc '.resourceSpans[] | (.resource.attributes | map(select(.key == "service.name" or .key == "process.pid")) | sort_by(.key)) as $r | .scopeSpans[].spans[] | select(.name | startswith("g ") | not) | .flags %= 256 | del(.links, .droppedLinksCount, .droppedEventsCount, .droppedAttributesCount) | .attributes |= (map(select(.key | test("^(traceparent|tracestate|txtrace.key)") | not)) | sort_by(.key)) | . + {r: $r} | .events |= (. // [] | map([.timeUnixNano, .name]) | sort)' "$tmp/$name.otlp.jsonl" | sort >"$tmp/$name.spans"
	done
	[ -s "$tmp/first.spans" ] && diff "$tmp/first.spans" "$tmp/second.spans" >"$tmp/diff" || fail "$(head -c 1500 "$tmp/diff")"
}

# The longest that a log can hold, text and bytes, in protobuf and in JSON, where bytes take a third more.
long_attributes() {
	local file
	python3 -c 'if True:
		print("header pid=1 cpus=1 start_monotonic_ns=1")
		print("attribute time_ns=5 pid=1 tid=1 span=3 name=\"text\" value_type=string value=\"" + "t" * (1 << 20) + "\"")
		print("attribute time_ns=6 pid=1 tid=1 span=3 name=\"bytes\" value_type=bytes value=\"" + "b" * (1 << 20) + "\"")
		print("span begin_ns=5 end_ns=8 pid=1 tid=1 end_tid=1 id=3 label=\"a\" work_ns=3 on_cpu_ns=3")
		print("summary time_ns=9")
	' | "$make_log" "$tmp/long.txtrace" && run 0 export -o long.otlp long.txtrace && run 0 export -o long.otlp.jsonl long.txtrace || return
	for file in long.otlp long.otlp.jsonl; do
		import 0 $file && said && records attribute 'select(.name | startswith("trace") | not) | [.name, (.value | length)]' '["text",1048576] ["bytes",1048576]' || fail "$file: $(cat "$tmp/said_of_import")" || return
	done
}

# What was lost before is not hidden.
lossy() {
	"$make_log" "$tmp/lossy.txtrace" <<-'END'
		header pid=1 cpus=1 start_monotonic_ns=1
		span begin_ns=5 end_ns=8 pid=1 tid=1 end_tid=1 id=3 label="a" work_ns=3 on_cpu_ns=3
		loss first_ns=6 last_ns=7 cpu=0 span_event_cnt=3
		summary time_ns=20
	END
	run 0 export -o lossy.otlp lossy.txtrace && import 0 lossy.otlp && said "parts that say of themselves that events were lost, or that they are incomplete: 1"
}

damaged() {
	head -c 700 "$tmp/made.jsonl" >"$tmp/cut.jsonl"
	import 1 cut.jsonl && grep -q "cut.jsonl.*the JSON is cut off" "$tmp/said_of_import" || return
	echo '{"resourceSpans":[}' >"$tmp/bad.jsonl"
	import 1 bad.jsonl && grep -q "bad.jsonl" "$tmp/said_of_import" || return
	{ echo '{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"a","value":'; printf '{"arrayValue":{"values":[%.0s' {1..40}; } >"$tmp/deep.jsonl"
	import 1 deep.jsonl && grep -q "nested more than 32 deep" "$tmp/said_of_import" || return
	head -c 500 "$tmp/first.otlp" >"$tmp/cut.otlp"
	import 1 cut.otlp && grep -q "the file is cut off" "$tmp/said_of_import" || return
	gzip -k "$tmp/made.jsonl" && import 0 made.jsonl.gz && records span .id "180 178 177 162 161"
}

# Bytes changed at random: an answer, or a sentence; never more.
changed() {
	python3 - "$tmp" <<-'END'
		import random, sys
		folder = sys.argv[1]
		random.seed(5)
		for name in ("made.jsonl", "first.otlp"):
		    data = open(f"{folder}/{name}", "rb").read()[:20000]
		    for number in range(40):
		        changed = bytearray(data)
		        for _ in range(random.choice((1, 3, 30))):
		            changed[random.randrange(len(changed))] = random.randrange(256)
		        open(f"{folder}/changed.{name}.{number}", "wb").write(changed)
	END
	local file status
	for file in "$tmp"/changed.*; do
		(cd "$tmp" && "$txtrace" import -f otlp -o log.txtrace "$file" >"$tmp/out" 2>"$tmp/err")
		status=$?
		[ $status -le 2 ] || fail "$file: status $status" || return
		[ $status = 2 ] || run $status verify log.txtrace || fail "$file" || return
	done
}

make_from traces
make_from stolen
make_from waits
make_from small
check "a file of a collector" made_file
check "... and out again, under the same ids" back_again
check "... and what the commands make of its trace" commands_work
check "what we export comes back" round_trip traces
check "... with stolen time" round_trip stolen
check "... with waits" round_trip waits
check "... with blocks and a tag" round_trip small
check "... with the longest attributes" long_attributes
check "a file in protobuf that begins like JSON" begins_like_json
check "losses that a file reports" lossy
check "files that are cut off, nested too deep, or packed" damaged
check "files that somebody has changed" changed
finish
