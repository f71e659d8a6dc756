#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# OTLP: spans with their ledgers, traces and ids as docs/formats.md says, and what readers of this format make of it.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

check_py=$PWD/tests/cli/export_otlp_check.py
readers=${PROFILE_READERS:-build/setup/profile_readers}
unset OTEL_SERVICE_NAME

compare() {
	python3 "$check_py" "$@"
}

export_all() { # export_all NAME
	run 0 export -o "$1.jsonl" "$1.txtrace" && run 0 export -o "$1.otlp" "$1.txtrace" && run 0 export -o "$1.otlp.jsonl" "$1.txtrace" && cp "$tmp/err" "$tmp/$1.said"
}

every_span() {
	compare spans "$tmp/$1.otlp.jsonl" "$tmp/$1.jsonl"
}

# One process is in a container, and in a pod; of the others nothing is known.
containers_are_told() {
	jq -s -e '[.[].resourceSpans[].resource.attributes | map({ (.key): .value.stringValue }) | add | [.["container.id"], .["k8s.pod.uid"]]] | unique ==
		[[null, null], ["0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "12345678-9abc-def0-1234-56789abcdef0"]]' "$tmp/traces.otlp.jsonl" >/dev/null || fail "$(head -c 1000 "$tmp/traces.otlp.jsonl")"
}

# Which spans share a trace, and with whose id: the hashes themselves are worked out in `spans`.
traces_are_known() {
	compare traces "$tmp/traces.otlp.jsonl" >"$tmp/traces.got" || return
	diff - "$tmp/traces.got" <<-'END'
		a root | 1 | - 1 -
		a root, child | 1 | a root 257 -
		a root, grandchild | 1 | a root, child 257 -
		b missing, first | 2 | MISSING 257 -
		b missing, second | 2 | MISSING 257 -
		c remote | 0af7651916cd43dd8448eb211c80319c | b7ad6b7169203331 769 congo=t61rcWkgMzE,rojo=00f067aa0ba902b7
		c remote, child | 0af7651916cd43dd8448eb211c80319c | c remote 257 congo=t61rcWkgMzE,rojo=00f067aa0ba902b7
		d newer | 11111111111111111111111111111111 | 2222222222222222 768 -
		e capitals | 3 | - 1 -
		e cut off | 4 | - 1 -
		e long | 5 | - 1 -
		e version | 6 | - 1 -
		e zeros | 7 | - 1 -
		f key | 8 | - 1 -
		f key 16 | 30313233343536373839616263646566 | - 1 -
		f key 16, child elsewhere | 30313233343536373839616263646566 | f key 16 257 -
		g circle 1 | 9 | g circle 2 257 -
		g circle 2 | 9 | g circle 3 257 -
		g circle 3 | 9 | g circle 1 257 -
		g its own parent | 10 | g its own parent 257 -
	END
}

# Long waits are events of the span that the thread had entered last; the span that ended one is linked.
marks_are_told() {
	"$make_log" "$tmp/marks.txtrace" <<-'END' || return
		header pid=1 cpus=1 start_monotonic_ns=1
		object time_ns=5 pid=1 tid=2 reason=network object=7 name="tcp 1 > 2"
		run begin_ns=10 end_ns=1000010 pid=1 tid=2 cpu=0 left_as=blocked reason=network object=7
		wake time_ns=4000010 pid=1 tid=2 waker_pid=1 waker_tid=3 waker_comm="peer" span=20 waker_span=30
		wake time_ns=4000020 pid=1 tid=2 waker_pid=1 waker_tid=3 waker_comm="peer" span=20 waker_span=30
		run begin_ns=4000030 end_ns=4000040 pid=1 tid=2 cpu=0 left_as=blocked reason=lock object=0x10
		wake time_ns=5000040 pid=1 tid=2 flags=interrupt,timer span=20
		run begin_ns=5000050 end_ns=5000060 pid=1 tid=2 cpu=0 left_as=blocked reason=lock object=0x10
		wake time_ns=6000059 pid=1 tid=2 flags=interrupt,timer span=20
		link time_ns=6000060 pid=1 tid=2 from=20 to=30 name="follows"
		instant time_ns=6000061 pid=1 tid=2 span=20 name="retry"
		instant time_ns=6000062 pid=1 tid=2 span=0 name="outside"
		span begin_ns=10 end_ns=7000000 pid=1 tid=3 end_tid=3 id=30 label="holder" work_ns=6999990 on_cpu_ns=6999990
		span begin_ns=10 end_ns=7000010 pid=1 tid=2 end_tid=2 id=20 label="waiter" work_ns=7000000 on_cpu_ns=7000000
		summary time_ns=7000020
	END
	run 0 export -o marks.otlp.jsonl marks.txtrace && diff <(compare marks "$tmp/marks.otlp.jsonl") - <<-'END' && same_lines "$tmp/err" <<-'END2'
		waiter 1000000 txtrace.block txtrace.duration_ns=3000000 txtrace.reason=network txtrace.object=tcp 1 > 2 txtrace.waker=peer 3
		waiter 4000030 txtrace.block txtrace.duration_ns=1000000 txtrace.reason=lock txtrace.object=futex 0x10 txtrace.waker=timer
		waiter 6000051 retry
		waiter -> holder waker
		waiter -> holder follows
	END
		txtrace: events outside of spans, left out: 1
		txtrace: runs of threads, left out: the sums are in the spans: 3
	END2
}

same_lines() {
	diff "$1" -
}

# 128 of each kind, and never a name twice: the last value of a program counts, and none takes a name of ours.
limits_are_kept() {
	{
		echo 'header pid=1 cpus=1 start_monotonic_ns=1'
		for ((i = 0; i < 130; i++)); do
			echo "attribute time_ns=10 pid=1 tid=1 span=1 name=\"n$i\" value_type=uint value=$i"
			echo "attribute time_ns=10 pid=1 tid=1 span=1 name=\"n0\" value_type=int value=-$i"
			echo "instant time_ns=10 pid=1 tid=1 span=1 name=\"event\""
			echo "link time_ns=10 pid=1 tid=1 from=1 to=2 name=\"to\""
		done
		echo 'attribute time_ns=11 pid=1 tid=1 span=1 name="txtrace.work_ns" value_type=uint value=0'
		echo 'attribute time_ns=11 pid=1 tid=1 span=1 name="n1" value_type=uint value=18446744073709551615'
		echo 'attribute time_ns=11 pid=1 tid=1 span=1 name="n2" value_type=pointer value=0xff00'
		echo 'attribute time_ns=11 pid=1 tid=1 span=1 name="n3" value_type=bytes value="\x00\xff1"'
		echo 'attribute time_ns=11 pid=1 tid=1 span=1 name="n4" value_type=bytes value="\x00\xff"'
		echo 'attribute time_ns=11 pid=1 tid=1 span=1 name="n5" value_type=bytes value="\xfe"'
		echo 'attribute time_ns=11 pid=1 tid=1 span=1 name="n6" value_type=bytes value=""'
		echo 'span begin_ns=5 end_ns=15 pid=1 tid=1 end_tid=1 id=1 label="a" work_ns=10 on_cpu_ns=10'
		echo 'attribute time_ns=19 pid=1 tid=1 span=9 name="late" value_type=uint value=1'
		echo 'open_span time_ns=19 begin_ns=18 pid=1 tid=1 id=8 label="open"'
		echo 'summary time_ns=20'
	} | "$make_log" "$tmp/limits.txtrace" && run 0 export -o limits.otlp limits.txtrace && run 0 export -o limits.otlp.jsonl limits.txtrace || return
	same_lines "$tmp/err" <<-'END' || return
		txtrace: attributes beyond 128 of a span, or under a name of txtrace's own, left out: 3
		txtrace: events and links beyond 128 of a span, left out: 4
		txtrace: spans that have not ended, or whose record is missing or late: left out, or their marks are: 2
	END
	python3 - "$tmp/limits.otlp.jsonl" <<-'END'
		import json, sys
		span = json.loads(open(sys.argv[1]).read())["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
		values = {pair["key"]: next(iter(pair["value"].items())) for pair in span["attributes"]}
		program = {name: value for name, value in values.items() if name[0] == "n"}
		assert len(values) == len(span["attributes"]) and len(program) == 128, len(program)
		assert values["txtrace.work_ns"] == ("intValue", "10") and values["n0"] == ("intValue", "-129"), values
		assert values["n1"] == ("stringValue", "18446744073709551615") and values["n2"] == ("stringValue", "0xff00"), values
		assert [values[f"n{i}"] for i in (3, 4, 5, 6)] == [("bytesValue", text) for text in ("AP8x", "AP8=", "/g==", "")], values
		assert [span[f"dropped{kind}Count"] for kind in ("Attributes", "Events", "Links")] == [3, 2, 2]
		assert len(span["events"]) == len(span["links"]) == 128
	END
}

# 512 spans a message, and each process once in it.
messages_are_bounded() {
	awk 'BEGIN {
		print "header pid=1 cpus=1 start_monotonic_ns=1"
		for (i = 1; i <= 1300; i++)
			print "span begin_ns=" i " end_ns=" i + 1 " pid=" i % 3 + 1 " tid=1 end_tid=1 id=" i " label=\"l\" work_ns=1 on_cpu_ns=1"
		print "summary time_ns=2000" }' | "$make_log" "$tmp/many.txtrace" && run 0 export -o many.otlp.jsonl many.txtrace && run 0 export -o many.jsonl many.txtrace || return
	python3 - "$tmp/many.otlp.jsonl" <<-'END' && every_span many
		import json, sys
		lines = [json.loads(line)["resourceSpans"] for line in open(sys.argv[1])]
		sizes = [[len(resource["scopeSpans"][0]["spans"]) for resource in resources] for resources in lines]
		assert [sum(size) for size in sizes] == [512, 512, 276] and all(len(size) == 3 for size in sizes), sizes
	END
}

# Two captures of one boot in which a span has the same id: two traces.
captures_differ() {
	local name
	for name in 1 2; do
		"$make_log" "$tmp/capture$name.txtrace" <<-END || return
			header pid=1 cpus=1 start_monotonic_ns=${name}000 capture_id="$name"
			span begin_ns=${name}000 end_ns=${name}100 pid=1 tid=1 end_tid=1 id=8 parent=7 label="c$name" work_ns=100 on_cpu_ns=100
			span begin_ns=${name}000 end_ns=${name}100 pid=1 tid=1 end_tid=1 id=7 label="p$name" work_ns=100 on_cpu_ns=100
			summary time_ns=${name}200
		END
	done
	run 0 export -f otlp-json capture1.txtrace capture2.txtrace && diff <(compare traces "$tmp/out") - <<-'END'
		c1 | 1 | p1 257 -
		c2 | 2 | p2 257 -
		p1 | 1 | - 1 -
		p2 | 2 | - 1 -
	END
}

service_has_a_name() {
	(export OTEL_SERVICE_NAME=till && run 0 export -f otlp-json traces.txtrace && grep -q '"service.name","value":{"stringValue":"till"}' "$tmp/out") &&
		run 0 export -f otlp-json traces.txtrace && grep -q '"stringValue":"unknown_service:shop"' "$tmp/out"
}

# A damaged log says so in its last message.
damage_is_told() {
	head -c $(($(stat -c %s "$tmp/many.txtrace") - 60)) "$tmp/many.txtrace" >"$tmp/cut.txtrace"
	run 1 export -f otlp-json cut.txtrace && tail -n 1 "$tmp/out" | grep -q '"txtrace.incomplete","value":{"boolValue":true}'
}

decoder_agrees() { # decoder_agrees NAME
	node tests/cli/export_otlp.cjs "$readers" "$tmp/$1.otlp" >"$tmp/decoded" && compare same "$tmp/$1.otlp.jsonl" "$tmp/decoded"
}

names="traces export tree stacks waits stolen"
for name in $names; do
	"$make_log" "$tmp/$name.txtrace" <"tests/cli/logs/$name.txt"
	check "$name: every span with its ids, ledger and attributes" eval "export_all $name && every_span $name"
done
check "which spans share a trace" traces_are_known
check "in which container and pod a process is" containers_are_told
check "long waits, links and events" marks_are_told
check "limits are kept, and told" limits_are_kept
check "messages are bounded" messages_are_bounded
check "captures differ" captures_differ
check "the service has a name" service_has_a_name
check "damage is told" damage_is_told
for name in $names limits; do
	if command -v node >/dev/null && [ -e "$readers/otlp_root.js" ]; then
		check "$name: OpenTelemetry's decoder reads the same" decoder_agrees $name
	else
		skip "$name: OpenTelemetry's decoder reads the same" "there is no node, or nothing in $readers; tests/setup/profile_readers.sh fetches it"
	fi
done
finish
