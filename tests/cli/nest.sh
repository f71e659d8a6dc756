#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --nest thread: logs of recorders that gave spans no parents, where each "outer" has a "middle" in it, and that a "leaf".
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

profile_check=$PWD/tests/cli/export_profile_check.py

# flat NAME LEAF-NS SEED [FLAGS [OUTER-NS]]: 300 of each; 4 ms in outer alone (or so many ns), 4 in middle alone, give or take 5 %; and $tmp/NAME.sums: LABEL SUM
flat() {
	awk -v leaf="$2" -v outer="${5:-4000000}" -v seed="$3" -v flags="${4:+flags=$4}" -v sums="$tmp/$1.sums" '
		function around(ns) { return int(ns * (0.95 + 0.1 * rand())) }
		function span(id, label, begin, length_ns) {
			sum[label] += length_ns
			printf "span begin_ns=%.0f end_ns=%.0f pid=1 tid=1 end_tid=1 id=%d label=\"%s\" work_ns=%.0f on_cpu_ns=%.0f %s\n", begin, begin + length_ns, id, label,
				length_ns, length_ns, flags
		}
		BEGIN {
			srand(seed)
			print "header pid=1 cpus=1 command=\"flat\" start_monotonic_ns=1"
			print "thread time_ns=1 pid=1 tid=1 comm=\"main\" seed=1"
			for (i = 0; i < 300; i++) {
				begin = 1000 + i * 30000000
				in_leaf = around(leaf); in_middle = in_leaf + around(4000000)
				span(3 * i + 3, "leaf", begin + 200, in_leaf)
				span(3 * i + 2, "middle", begin + 100, in_middle)
				span(3 * i + 1, "outer", begin, in_middle + around(outer))
			}
			print "summary time_ns=9100000000"
			for (label in sum)
				printf "%s %.0f\n", label, sum[label] >sums
		}' </dev/null | "$make_log" "$tmp/$1.txtrace"
}

sum_of() { # sum_of NAME LABEL
	awk -v label="$2" '$1 == label { print $2 }' "$tmp/$1.sums"
}

top_level_is() { # top_level_is COUNT NS COMMAND...
	local count=$1 ns=$2
	shift 2
	run 0 "$@" && jq -e ".without_parent.exact | .count == $count and .work_ns == $ns" "$tmp/out" >/dev/null || fail "$(jq -c .without_parent.exact "$tmp/out")"
}

counts_once() {
	local outer middle leaf
	outer=$(sum_of base1 outer) middle=$(sum_of base1 middle) leaf=$(sum_of base1 leaf)
	top_level_is 900 $((outer + middle + leaf)) report --json base1.txtrace && top_level_is 300 "$outer" report --json --nest thread base1.txtrace
}

is_a_tree() {
	local outer middle leaf
	outer=$(sum_of base1 outer) middle=$(sum_of base1 middle) leaf=$(sum_of base1 leaf)
	run 0 tree --json --nest thread base1.txtrace || return
	jq -c '[.rows[] | [.label, .depth, .self.work_ns]]' "$tmp/out" >"$tmp/rows"
	[ "$(cat "$tmp/rows")" = "[[\"outer\",0,$((outer - middle))],[\"middle\",1,$((middle - leaf))],[\"leaf\",2,$leaf]]" ] || fail "$(cat "$tmp/rows")"
}

# Whoever said that its span is a root meant it.
roots_stay() {
	flat roots 2000000 1 root && top_level_is 900 "$(($(sum_of roots outer) + $(sum_of roots middle) + $(sum_of roots leaf)))" report --json --nest thread roots.txtrace
}

# A root within a child of another root: outer 1900..8100, middle in it 2000..8000, and in that apart 3000..5000, which has no parent. The log says of both
# what apart has, too. The thread was in them for 6200 ns.
in_a_child() {
	"$make_log" "$tmp/in_a_child.txtrace" <<-'END'
		header pid=1 cpus=1 command="nested" start_monotonic_ns=1
		thread time_ns=1 pid=1 tid=1 comm="main" seed=1
		span begin_ns=3000 end_ns=5000 pid=1 tid=1 end_tid=1 id=3 label="apart" work_ns=2000 on_cpu_ns=2000 flags=root
		overlap time_ns=8000 pid=1 tid=1 span=2 on_cpu_ns=2000
		span begin_ns=2000 end_ns=8000 pid=1 tid=1 end_tid=1 id=2 parent=1 label="middle" work_ns=6000 on_cpu_ns=6000
		overlap time_ns=8100 pid=1 tid=1 span=1 on_cpu_ns=2000
		span begin_ns=1900 end_ns=8100 pid=1 tid=1 end_tid=1 id=1 label="outer" work_ns=6200 on_cpu_ns=6200 flags=root
		summary time_ns=9000
	END
	printf '%s\n' 'apart 2000' 'outer 200' 'outer;middle 4000' >"$tmp/once"
	run 0 flame --folded in_a_child.txtrace && sort "$tmp/out" | diff "$tmp/once" - || return
	run 0 tree --json in_a_child.txtrace || return
	jq -r '.rows[] | "\(.label) \(.self.work_ns)"' "$tmp/out" | sort | diff <(printf '%s\n' 'apart 2000' 'middle 4000' 'outer 200') - || return
	run 0 export -f pprof -o in_a_child.pb.gz in_a_child.txtrace || return
	python3 "$profile_check" pprof "$tmp/in_a_child.pb.gz" >"$tmp/shown" || return
	[ "$(grep -o 'on_cpu=[0-9]*' "$tmp/shown" | sort)" = "$(printf '%s\n' on_cpu=200 on_cpu=2000 on_cpu=4000)" ] || fail "$(cat "$tmp/shown")" || return
	top_level_is 2 6200 report --json in_a_child.txtrace
}

# Without parents all three are slower "in its own code". One regression is one entry; the labels around it stand below.
diff_finds_the_cause() {
	run 1 diff --nest thread base{1..6}.txtrace -- new{1..6}.txtrace || return
	[ "$(grep -c '^!' "$tmp/out")" = 1 ] && grep -q '^! leaf: .* in its own code$' "$tmp/out" && grep -q '^      middle: .* in its child leaf$' "$tmp/out" &&
		grep -q '^      outer: .* in its child leaf$' "$tmp/out" && [ "$(grep -c '^      \(middle\|outer\): ' "$tmp/out")" = 2 ] &&
		grep -q '^the code: worse in 1 label (leaf) and in 2 labels that contain it; ' "$tmp/out" || fail "$(cat "$tmp/out")"
}

# A label around it that is slower itself as well, by more than the child brings, is an entry of its own.
diff_keeps_what_is_own() {
	local i
	for i in 1 2 3 4 5 6; do
		flat both$i 3000000 2$i "" 6000000
	done
	run 1 diff --nest thread base{1..6}.txtrace -- both{1..6}.txtrace || return
	grep -q '^! leaf: .* in its own code$' "$tmp/out" && grep -q '^! outer: .* in its own code$' "$tmp/out" || fail "$(cat "$tmp/out")"
}

for i in 1 2 3 4 5 6; do
	flat base$i 2000000 $i
	flat new$i 3000000 1$i
done
check "at the top level, time counts once" counts_once
check "the tree is that of the threads" is_a_tree
check "a root within a child of another root counts once" in_a_child
check "a span that its program began as a root stays one" roots_stay
check "diff tells where the time is that three labels have more" diff_finds_the_cause
check "a label that contains a change and has one of its own is told apart" diff_keeps_what_is_own
finish
