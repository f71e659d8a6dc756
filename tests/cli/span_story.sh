#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# show and critical-path: one span, on a log whose every step can be followed by hand, and on random ones against a second computation.
# takes long: 9 s of a CPU
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

make_from waits
make_from hostile

# expects_warned SENTENCE NAME COMMAND...: as expects, and exactly this on stderr
expects_warned() {
	local sentence=$1 name=$2
	shift 2
	run "$@" && same "$tmp/out" "$expected/$name.txt" && [ "$(cat "$tmp/err")" = "txtrace: $sentence" ] || fail "it said: $(cat "$tmp/err")"
}

# agrees SEED: 8 spans of a random log
agrees() {
	local arguments
	python3 tests/cli/waits_check.py random "$1" | "$make_log" "$tmp/random.txtrace" && run 0 export -f jsonl random.txtrace &&
		cp "$tmp/out" "$tmp/random.jsonl" && python3 tests/cli/path_check.py pick "$tmp/random.jsonl" 8 >"$tmp/picked" || return
	while read -r arguments; do
		# shellcheck disable=SC2086 # several arguments
		run 0 critical-path --json random.txtrace $arguments && python3 tests/cli/path_check.py path "$tmp/random.jsonl" "$tmp/out" &&
			run 0 show --json random.txtrace $arguments && python3 tests/cli/path_check.py show "$tmp/random.jsonl" "$tmp/out" || fail "span $arguments" || return
	done <"$tmp/picked"
}

# A span of a thread that is switched 5,000 times.
long() {
	awk 'BEGIN {
		print "header pid=1 cpus=1 command=\"long\" start_monotonic_ns=1"
		for (i = 0; i < 5000; i++)
			print "run begin_ns=" 1000 * i + 100 + i % 50 " end_ns=" 1000 * i + 1000 " pid=1 tid=1 runnable_ns=" 100 + i % 50 " left_as=preempted"
		print "span begin_ns=100 end_ns=5000000 pid=1 tid=1 end_tid=1 id=1 label=\"long\" work_ns=4999900 unknown_ns=4999900"
		print "summary time_ns=300000000"
	}' </dev/null | "$make_log" "$tmp/long.txtrace"
}

is_summarised() { # is_summarised COMMAND
	run 0 "$1" long.txtrace 1 || return
	[ "$(wc -l <"$tmp/out")" -lt 130 ] && grep -q ' shorter .* are not shown.*: --all shows them$' "$tmp/out" || fail "$(tail -n 3 "$tmp/out")" || return
	run 0 "$1" --all long.txtrace 1 && [ "$(wc -l <"$tmp/out")" -gt 9000 ] && ! grep -q 'not shown' "$tmp/out"
}

small_memory() { # small_memory COMMAND
	run 0 "$1" --max-memory 1M long.txtrace 1 && grep -q '^memory used up: ' "$tmp/out" || fail "it is not said" || return
	run 0 "$1" --json --max-memory 1M long.txtrace 1 && jq -e .memory_used_up "$tmp/out" >/dev/null
}

# Whatever a log says, nobody crashes, hangs, or lets it speak to the terminal; the path has the span's length.
hostile() {
	local id
	for id in 1 2 3 4 5 6 7 8; do
		run 0 show hostile.txtrace $id && ! grep -q $'[\e\a]' "$tmp/out" || fail "show $id: $(cat -v "$tmp/out")" || return
		run 0 show --json hostile.txtrace $id && jq -e . "$tmp/out" >/dev/null || return
		run 0 critical-path hostile.txtrace $id && ! grep -q $'[\e\a]' "$tmp/out" || fail "critical-path $id" || return
		run 0 critical-path --json hostile.txtrace $id || return
		jq -e '([.steps[] | .to_ns - .from_ns] | add // 0) == ([0, .span.end_ns - .span.begin_ns] | max)' "$tmp/out" >/dev/null ||
			fail "critical-path $id: $(jq -c .span "$tmp/out")" || return
	done
	run 0 blame hostile.txtrace && ! grep -q $'[\e\a]' "$tmp/out" && run 0 blocked hostile.txtrace && ! grep -q $'[\e\a]' "$tmp/out"
}

check "show: threads, blocks, children and marks of a span" expects show 0 show waits.txtrace 1 --pid 10
check "show: JSON" expects show_json 0 show --json waits.txtrace 1 --pid 10
check "show: one that other spans have the id of" expects_warned "'waits.txtrace' has 2 spans with the id 5; this is number 2: --pid and --nth choose another" show_second 0 show --nth 2 waits.txtrace 5
check "show: a keyed span" expects show_keyed 0 show --keyed waits.txtrace 1
check "show: one that never ended" expects show_open 0 show waits.txtrace 6
check "critical-path: through the one that held the lock" expects path 0 critical-path waits.txtrace 1 --pid 10
check "critical-path: JSON" expects path_json 0 critical-path --json waits.txtrace 2 --pid 10
check "no such span" complains "'waits.txtrace' has no span with the id 77, see 'txtrace spans --json' for ids" show waits.txtrace 77
check "no such keyed span in a process" complains "'waits.txtrace' has no keyed span with the id 2 in this process, see 'txtrace spans --json' for ids" critical-path -k -p 20 waits.txtrace 2
check "not so many" complains "'waits.txtrace' has only 2 spans with the id 5" show --nth 3 waits.txtrace 5
check "no id" complains "'checkout' is no id of a span: a number, see 'txtrace spans --json'" show waits.txtrace checkout
check "nothing but a log" complains "FILE or ID is missing, see 'txtrace show --help'" show waits.txtrace
for seed in 1 2 3; do
	check "random spans, seed $seed" agrees $seed
done
check "a span of thousands of switches" long
check "show: a long span is summed up" is_summarised show
check "critical-path: so is a long path" is_summarised critical-path
check "show: a small memory says so" small_memory show
check "critical-path: a small memory says so" small_memory critical-path
check "hostile logs" hostile
finish
