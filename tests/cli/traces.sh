#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Traces by W3C's trace context: report --by trace, spans --trace, show TRACEID.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

make_from traces
make_from hostile
remote=0af7651916cd43dd8448eb211c80319c # of tests/cli/logs/traces.txt: the context from outside, and a child

every_trace() { # every_trace NAME COUNT
	[ "$(python3 tests/cli/traces_check.py log "$txtrace" "$tmp/$1.txtrace")" = "$2 traces" ]
}

random_tree() { # random_tree SEED
	python3 tests/cli/traces_check.py random "$1" | "$make_log" "$tmp/random.txtrace" && python3 tests/cli/traces_check.py tree "$txtrace" "$tmp/random.txtrace" "$1"
}

# A trace of which one span sent on what it began itself: the whole tree has it, and the span its id.
sent_on() {
	"$make_log" "$tmp/sent.txtrace" <<-'END' || return
		header pid=10 cpus=1 command="shop" start_monotonic_ns=1
		attribute time_ns=12 pid=10 tid=10 span=2 name="traceparent.sent" value_type=string value="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
		span begin_ns=12 end_ns=15 pid=10 tid=10 end_tid=10 id=2 parent=1 label="call" work_ns=3 on_cpu_ns=3
		span begin_ns=10 end_ns=20 pid=10 tid=10 end_tid=10 id=1 label="front" work_ns=10 on_cpu_ns=10
		span begin_ns=30 end_ns=31 pid=10 tid=10 end_tid=10 id=3 label="elsewhere" work_ns=1 on_cpu_ns=1
		summary time_ns=50
	END
	run 0 show --json sent.txtrace 4BF92F3577B34DA6A3CE929D0E0E4736 || return
	[ "$(jq -c '[.spans[] | [.span.label, .depth]]' "$tmp/out")" = '[["front",0],["call",1]]' ] && [ "$(jq -r '.spans[1].span_id' "$tmp/out")" = 00f067aa0ba902b7 ]
}

# 16 bytes of a key are the trace; logs of two captures: what came from outside is one trace, what is named by the capture is not.
of_two_captures() {
	local name
	for name in first second; do
		"$make_log" "$tmp/$name.txtrace" <<-END || return
			header pid=10 cpus=1 command="shop" capture_id="$name" start_monotonic_ns=1
			attribute time_ns=2 pid=10 tid=10 span=1 name="traceparent" value_type=string value="00-$remote-b7ad6b7169203331-01"
			span begin_ns=2 end_ns=4 pid=10 tid=10 end_tid=10 id=1 label="$name" work_ns=2 on_cpu_ns=2
			span begin_ns=5 end_ns=6 pid=10 tid=10 end_tid=10 id=2 label="own" work_ns=1 on_cpu_ns=1
			summary time_ns=50
		END
	done
	run 0 report --by trace --json first.txtrace second.txtrace || return
	[ "$(jq -c '[.rows[] | .count]' "$tmp/out")" = '[2,1,1]' ] && [ "$(jq -r '.rows[0].name' "$tmp/out")" = "$remote" ] || fail "$(cat "$tmp/out")" || return
	run 0 spans --trace $remote --json first.txtrace second.txtrace && [ "$(jq -c '[.spans[].label] | sort' "$tmp/out")" = '["first","second"]' ] || return
	run 0 spans --trace $remote --label 's*' --json first.txtrace second.txtrace && [ "$(jq -c '[.spans[].label]' "$tmp/out")" = '["second"]' ] || return
	complains "'first.txtrace and 1 more' is of 2 captures: this works on one capture, and 'txtrace merge' makes one log of those that are each given by a file or a directory of its own" \
		show first.txtrace second.txtrace $remote
}

# A child that ended in a part of the log: its trace is told by its parent's attribute, which is outside of it.
in_a_part() {
	run 0 spans --trace $remote --to 6150abs --json traces.txtrace && [ "$(jq -c '[.spans[].label]' "$tmp/out")" = '["c remote, child"]' ] || fail "$(cat "$tmp/out")" || return
	run 0 report --by trace --where 'label="c remote, child"' --json traces.txtrace && [ "$(jq -c '[.rows[] | [.name, .count]]' "$tmp/out")" = "[[\"$remote\",1]]" ] ||
		fail "$(cat "$tmp/out")"
}

many() {
	awk -v trace=$remote 'BEGIN {
		print "header pid=1 cpus=1 command=\"many\" start_monotonic_ns=1"
		print "attribute time_ns=2 pid=1 tid=1 span=1 name=\"traceparent\" value_type=string value=\"00-" trace "-b7ad6b7169203331-01\""
		for (i = 2; i <= 200; i++)
			print "span begin_ns=" 10 * i " end_ns=" 10 * i + 5 " pid=1 tid=1 end_tid=1 id=" i " parent=1 label=\"part\" work_ns=5 on_cpu_ns=5"
		print "span begin_ns=2 end_ns=5000 pid=1 tid=1 end_tid=1 id=1 label=\"whole\" work_ns=4998 on_cpu_ns=4998"
		print "summary time_ns=6000"
	}' </dev/null | "$make_log" "$tmp/many.txtrace" || return
	run 0 show many.txtrace $remote && grep -q '^trace .*: 200 spans of 1 process, ' "$tmp/out" && [ "$(grep -c ' part ' "$tmp/out")" = 99 ] &&
		grep -q '^100 more: --all shows them$' "$tmp/out" || fail "$(tail -n 4 "$tmp/out")" || return
	run 0 show --all many.txtrace $remote && [ "$(grep -c ' part ' "$tmp/out")" = 199 ] && ! grep -q more "$tmp/out"
}

hostile() {
	local trace
	run 0 report --by trace --json hostile.txtrace && jq -r '.rows[].name' "$tmp/out" >"$tmp/traces" && [ -s "$tmp/traces" ] || return
	while read -r trace; do
		run 0 show hostile.txtrace "$trace" && ! grep -q $'[\e\a]' "$tmp/out" || fail "show $trace: $(cat -v "$tmp/out")" || return
		run 0 show --json hostile.txtrace "$trace" && jq -e . "$tmp/out" >/dev/null || return
	done <"$tmp/traces"
}

check "every trace, as OpenTelemetry's export has it" every_trace traces 13
check "show: a tree, as text" expects trace 0 show traces.txtrace $remote
check "show: parents in a circle" expects trace_circle 0 show traces.txtrace 8258784291674912f26be87c43d17fa6
check "what a span sent on is its id, and the trace that of the tree" sent_on
check "captures of several programs" of_two_captures
for seed in 1 2 3 4; do
	check "show: the order of a random tree, seed $seed" random_tree $seed
done
check "a part of a log has the traces of all of it" in_a_part
check "show: a trace of many spans" many
check "hostile logs" hostile
check "no such trace" complains "'traces.txtrace' has no span of the trace 22222222222222222222222222222222, see 'txtrace report --by trace'" \
	show traces.txtrace 22222222222222222222222222222222
check "no trace id" complains "option '--trace' takes an id of 32 hexadecimal digits, not '4711'" spans --trace 4711 traces.txtrace
check "what tracing cost is not told by trace" complains "--cost is about spans; give it another --by than trace" report --cost --by trace traces.txtrace
finish
