#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The call tree: on a log that can be added up in the head, on random ones whose truth is known, and on hostile ones.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

# tests/cli/logs/tree.txt, in ns:
#   tx      two spans, 10,000 + 2,000. Taken off: parse 2,000 (on-CPU), commit 5,000 (1,000 on-CPU, 4,000 disk); not the lower bound. So self is
#           5,000: on-CPU 7,000 - 3,000, runnable 1,000, blocked 4,000 - 4,000; and at most that, for the lower bound may be in it.
#   commit  5,000 - fsync's 3,500: on-CPU 1,000 - 500, blocked 4,000 - 3,000
#   queued  18,000, of them detached 9,000; parse took 2,000: on-CPU 4,000 - 1,500, runnable 1,000 - 500, lock 4,000
#   batch   5,500 - first's 3,000. Of the others: audit and mail are on another thread, both is on two, second overlaps first, one log outlives the
#           batch, and the other begins when it has ended.
#   cut     a lower bound: 1,500 - parse's 600
#   below the unknown parent: 100 + 300
make_from tree
make_from small
make_from empty

random_trees() {
	local seed
	for seed in 1 2 3 4 5 6; do
		python3 tests/cli/analyses_check.py random $seed "$tmp/truth.json" >"$tmp/random.txt" || return
		"$make_log" "$tmp/random.txtrace" <"$tmp/random.txt" && run 0 export -f jsonl random.txtrace && mv "$tmp/out" "$tmp/random.jsonl" || return
		run 0 tree --json random.txtrace || return
		python3 tests/cli/analyses_check.py tree "$tmp/random.jsonl" "$tmp/out" "$tmp/truth.json" || fail "seed $seed" || return
	done
}

# from_awk NAME PROGRAM: $tmp/NAME.txtrace of the lines that an awk program prints
from_awk() {
	awk "BEGIN { $2 }" </dev/null | "$make_log" "$tmp/$1.txtrace"
}

counted() { # counted SPANS: in rows of any kind
	local sum
	sum=$(jq '[.rows[] | .count + (.lower_bounds.count // 0)] | add' "$tmp/out")
	[ "$sum" = "$1" ] || fail "there are $sum spans, not $1"
}

# 1 and 2 are each other's parents, 3 is its own, 4 names 1 when that has ended.
circles() {
	from_awk circles 'for (i = 1; i <= 4; i++) print "span begin_ns=1 end_ns=" 9 + i " pid=1 tid=1 id=" i " parent=" (i < 3 ? 3 - i : i == 3 ? 3 : 1) " label=\"l" i \
		"\" work_ns=" 8 + i " on_cpu_ns=" 8 + i; print "summary time_ns=100"' || return
	run 0 tree --json circles.txtrace && counted 4 || return
	jq -e '[.rows[] | select(.kind == "unknown_parent")] | length == 1' "$tmp/out" >/dev/null || fail "they have no unknown parent"
}

# A span in a span in a span, …: none may be missing, and no stack may overflow.
deep_chain() {
	from_awk deep 'n = 30000; for (i = n; i > 0; i--) print "span begin_ns=" i " end_ns=" 2 * n - i " pid=1 tid=1 id=" i " parent=" i - 1 \
		" label=\"f\" work_ns=" 2 * (n - i) " on_cpu_ns=" 2 * (n - i); print "summary time_ns=" 2 * n' || return
	run 0 tree --json deep.txtrace && counted 30000 || return
	jq -e '([.rows[].depth] | max) < 250 and any(.rows[]; .kind == "too_deep")' "$tmp/out" >/dev/null || fail "how deep is it?" || return
	run 0 tree -d 3 deep.txtrace
}

# Many labels below one parent, and many parents that never come, in less memory than they would take.
many_labels() {
	from_awk labels 'for (i = 0; i < 100000; i++) print "span begin_ns=" i " end_ns=" i + 1 " pid=1 tid=1 id=" i + 2 " parent=1 label=\"user-" i \
		"\" work_ns=1 on_cpu_ns=1"; print "span begin_ns=0 end_ns=100000 pid=1 tid=1 id=1 label=\"all\" work_ns=100000 on_cpu_ns=100000"; \
		print "summary time_ns=100000"' || return
	run 0 tree -n 3 labels.txtrace && grep -q '^└─ 99,997 more with less work$' "$tmp/out" || fail "$(cat "$tmp/out")" || return
	run 0 tree --json --max-memory 4M labels.txtrace && counted 100001 || return
	jq -e '.has_rest and any(.rows[]; .kind == "rest") and (.rows | length) < 20000' "$tmp/out" >/dev/null || fail "4 MiB are not kept" || return
	run 0 tree --max-memory 4M -n 1 labels.txtrace && grep -q '^memory  *used up: some labels are counted together' "$tmp/out"
}

many_parents() {
	from_awk parents 'for (i = 1; i <= 50000; i++) print "span begin_ns=" i " end_ns=" i + 1 " pid=1 tid=1 id=" i " parent=" 1000000 + i \
		" label=\"lost\" work_ns=1 on_cpu_ns=1"; print "summary time_ns=60000"' || return
	run 0 tree --json --max-memory 2M parents.txtrace && counted 50000 || return
	jq -e '.given_up_parents > 10000 and (.rows | length) == 2' "$tmp/out" >/dev/null || fail "$(jq .given_up_parents "$tmp/out")"
}

# Times that run backwards, ledgers that exceed everything: no figure wraps.
absurd_numbers() {
	from_awk absurd 'big = "18446744073709551615"; print "span begin_ns=" big " end_ns=5 pid=1 tid=1 id=2 parent=1 label=\"a\" work_ns=" big " on_cpu_ns=" big; \
		print "span begin_ns=0 end_ns=" big " pid=1 tid=1 id=3 parent=1 label=\"a\" work_ns=" big " on_cpu_ns=" big " lock_ns=" big; \
		print "span begin_ns=0 end_ns=" big " pid=1 tid=1 id=1 label=\"b\" work_ns=" big " on_cpu_ns=7"; print "summary time_ns=9"' || return
	run 0 tree --json absurd.txtrace && counted 3 || return
	jq -e '.rows[0].self.on_cpu_ns == 7 and .rows[0].self_is == "at_most"' "$tmp/out" >/dev/null || fail "$(jq -c '.rows[0].self' "$tmp/out")" || return
	run 0 tree absurd.txtrace
}

# The first capture is in two files, with a child in the first and its parent in the second; the ids of the second capture are other spans'.
several_files() {
	local part='cpus=1 command="parts" boot_id="b"'
	mkdir "$tmp/set"
	"$make_log" "$tmp/set/a.000001.txtrace" <<-END || return
		header $part capture_id="first" start_monotonic_ns=1 start_realtime_ns=1763725203000000001
		span begin_ns=10 end_ns=20 pid=1 tid=1 end_tid=1 id=2 parent=1 label="child" work_ns=10 on_cpu_ns=10
		continued time_ns=25 next_part=1
	END
	"$make_log" "$tmp/set/a.000002.txtrace" <<-END || return
		header $part capture_id="first" part=1 first_sequence=1 start_monotonic_ns=1 start_realtime_ns=1763725203000000001
		span begin_ns=5 end_ns=30 pid=1 tid=1 end_tid=1 id=1 label="tx" work_ns=25 on_cpu_ns=25
		span begin_ns=40 end_ns=41 pid=1 tid=1 end_tid=1 id=3 parent=4 label="cut" work_ns=1 on_cpu_ns=1
		summary time_ns=45
	END
	"$make_log" "$tmp/set/a.txtrace" <<-END || return
		header $part capture_id="second" start_monotonic_ns=50 start_realtime_ns=1763725203000000050
		span begin_ns=60 end_ns=70 pid=1 tid=1 end_tid=1 id=5 parent=1 label="late" work_ns=10 on_cpu_ns=10
		span begin_ns=55 end_ns=80 pid=1 tid=1 end_tid=1 id=4 label="new" work_ns=25 on_cpu_ns=25
		summary time_ns=90
	END
	run 0 tree --json set || return
	[ "$(jq -c '[.rows[] | [.kind, .label, .depth, .self.work_ns]]' "$tmp/out")" = \
		'[["label","new",0,25],["label","tx",0,15],["label","child",1,10],["unknown_parent",null,0,0],["label","late",1,10],["label","cut",1,1]]' ] ||
		fail "$(jq -c '[.rows[] | [.kind, .label, .depth, .self.work_ns]]' "$tmp/out")"
}

check "every figure of a small tree" expects tree 0 tree tree.txtrace
check "a part of it: a label, some levels, some children" expects tree_part 0 tree -l 't[x]' -d 2 -n 1 tree.txtrace
check "JSON" expects tree_json 0 tree --json --label 'queue*' tree.txtrace
check "labels that are no friends of terminals" expects tree_hostile 0 tree small.txtrace
check "a log without spans" expects tree_none 0 tree empty.txtrace
check "random threads: the same sums in Python, and exact is what was true" random_trees
check "several files, two captures" several_files
check "circles of parents" circles
check "a chain of 30,000 spans" deep_chain
check "100,000 labels below one parent" many_labels
check "50,000 parents that never come" many_parents
check "absurd numbers" absurd_numbers
finish
