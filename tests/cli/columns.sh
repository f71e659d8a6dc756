#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What all analyses share: columns and their order, in text, CSV and JSON; parts of a log, by time and by a rule; logs from a pipe.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

commands=(report 'report --by thread' 'report --by reason' 'report --cost' spans tree 'tail --percentile 65' histogram workers 'concurrency --buckets 4'
	blocked 'blocked --by reason' 'blocked --by label' blame 'neighbours --by label' 'neighbours --by thread')
for name in small waits workers tree hostile; do
	make_from $name
done

# A span of each 1000 ns, in many batches: number i is [1000 i, 1000 i + 500 + i % 3), of the labels even and odd; and a thread that was there before.
spans=60000
awk -v n=$spans 'BEGIN {
	print "thread time_ns=1 pid=1 tid=7 comm=\"early\" seed=1 exit=0"
	for (i = 1; i <= n; i++)
		print "span begin_ns=" 1000 * i " end_ns=" 1000 * i + 500 + i % 3 " pid=1 tid=7 id=" i " label=\"" (i % 2 ? "odd" : "even") "\" tag=\"n=" (i * 7919) % 100003 "\" work_ns=" 500 + i % 3 " on_cpu_ns=" 500 + i % 3
	print "summary time_ns=" 1000 * (n + 2) " sent_cnt=" n " received_cnt=" n }' </dev/null | "$make_log" "$tmp/many.txtrace"

agree() {
	python3 tests/cli/columns_check.py "$txtrace" "$tmp/$1.txtrace" "$2" "${commands[@]}"
}

# count OPTION...: so many spans are in the report
count() {
	run 0 report --json "$@" many.txtrace && jq '[.labels[].count] | add // 0' "$tmp/out"
}

ranges_are_whole() {
	[ "$(count --from 0 --to 10ms)" = 9999 ] || fail "before 10 ms: $(count --to 10ms)" || return
	[ "$(count --from 10ms --to 20ms)" = 10000 ] || fail "from 10 to 20 ms: $(count --from 10ms --to 20ms)" || return
	[ "$(count --from 20ms)" = $((spans - 19999)) ] || fail "from 20 ms: $(count --from 20ms)" || return
	[ "$(count --from 30000501abs --to 30000502abs)" = 0 ] && [ "$(count --from 30000500abs --to 30000501abs)" = 1 ] || fail "one ns is not one ns"
}

# Damage outside of the range is not met: what lies there is not read.
range_is_sought() {
	cp "$tmp/many.txtrace" "$tmp/hurt.txtrace"
	printf 'XXXXXXXX' | dd of="$tmp/hurt.txtrace" bs=1 seek=$(($(stat -c %s "$tmp/hurt.txtrace") / 2)) conv=notrunc 2>"$tmp/no"
	run 1 report hurt.txtrace && grep -q 'is damaged at byte' "$tmp/err" || fail "the damage is not told" || return
	run 0 report --from 55ms hurt.txtrace && [ ! -s "$tmp/err" ] || fail "behind it: $(cat "$tmp/err")" || return
	run 0 report --to 5ms hurt.txtrace && [ ! -s "$tmp/err" ] || fail "before it: $(cat "$tmp/err")"
}

names_are_known() {
	run 0 spans --from 50ms --columns thread -n 1 many.txtrace && grep -qx 'early 7' "$tmp/out" || fail "$(cat "$tmp/out")" || return
	run 0 report --from 10ms many.txtrace && grep -q 'in the whole capture$' "$tmp/out" || fail "the counts are not told apart" || return
	run 0 spans --from 50ms --columns begin --sort begin -n 1 many.txtrace && grep -qx '+0.049999' "$tmp/out" || grep -qx '+0.050000' "$tmp/out" || fail "$(cat "$tmp/out")"
}

rules_hold() {
	[ "$(count --where label=odd)" = $((spans / 2)) ] || fail "odd: $(count --where label=odd)" || return
	[ "$(count --where 'label=odd and wall>501ns' --from 10ms --to 20ms)" = 1667 ] || fail "$(count --where 'label=odd and wall>501ns' --from 10ms --to 20ms)" || return
	run 0 dump --where label=even -k span many.txtrace && [ "$(grep -c 'label="even"' "$tmp/out")" = $((spans / 2)) ] && ! grep -q odd "$tmp/out" || fail "dump" || return
	run 0 export --format csv --where label=even many.txtrace && [ "$(grep -c ',"even",' "$tmp/out")" = $((spans / 2)) ] || fail "export: $(head -n 2 "$tmp/out")" || return
	run 0 slice --where label=even -o even.txtrace many.txtrace && run 0 info --json even.txtrace && jq -e ".records.span == $spans / 2" "$tmp/out" >/dev/null || fail "slice"
}

# Waits count that were in spans of the rule: those of the label, which blame has in a row.
# (Refill has the id of an earlier span.)
waits_by_rule() {
	local label ns
	for label in checkout pay job; do
		run 0 blame --json waits.txtrace && ns=$(jq "[.pairs[] | select(.waiter.name == \"$label\").ns] | add" "$tmp/out") || return
		[ "$ns" -gt 0 ] && run 0 blocked --json --where "label=$label" waits.txtrace && jq -e ".waits.all.ns == $ns and ([.objects[].ns] | add) == $ns" "$tmp/out" >/dev/null ||
			fail "$label: $ns, $(jq -c .waits.all "$tmp/out")" || return
	done
}

from_pipe() {
	local command
	for command in "${commands[@]}" info dump 'export --format jsonl'; do
		# shellcheck disable=SC2086
		run 0 $command waits.txtrace && sed 's/waits.txtrace/-/' "$tmp/out" >"$tmp/wanted" || return
		# shellcheck disable=SC2086
		(cd "$tmp" && cat waits.txtrace | "$txtrace" $command - >"$tmp/out" 2>"$tmp/err") || fail "$command: $(cat "$tmp/err")" || return
		cmp "$tmp/wanted" "$tmp/out" || fail "$command" || return
	done
	(cd "$tmp" && "$txtrace" report - <waits.txtrace >"$tmp/out") && [ -s "$tmp/out" ] || fail "a file" || return
	(cd "$tmp" && head -c 700 waits.txtrace | "$txtrace" report - >"$tmp/out" 2>"$tmp/err")
	grep -q "^txtrace: '-' is damaged at byte" "$tmp/err" || fail "$(cat "$tmp/err")" || return
	(cd "$tmp" && "$txtrace" report - </dev/null 2>"$tmp/err")
	grep -q "^txtrace: can't read '-': " "$tmp/err" || fail "$(cat "$tmp/err")"
}

wrong_ones() {
	run 2 report --where 'label=' many.txtrace && grep -q '^txtrace: --where: at character ' "$tmp/err" || fail "$(cat "$tmp/err")" || return
	run 2 report --from 5ms --to 2ms many.txtrace && grep -q 'nothing between --from 5ms and --to 2ms' "$tmp/err" || fail "$(cat "$tmp/err")" || return
	run 2 blocked --by reason --columns object waits.txtrace && grep -q "no column 'object'" "$tmp/err" || fail "$(cat "$tmp/err")" || return
	run 2 blame --csv --json waits.txtrace && grep -q 'exclude each other' "$tmp/err" || fail "$(cat "$tmp/err")"
}

check "text, CSV, JSON and order" agree waits sorted
for name in small workers tree hostile; do
	check "text, CSV and JSON: $name" agree $name unsorted
done
check "ranges of time: each span is in one" ranges_are_whole
check "ranges of time: what lies outside is not read" range_is_sought
check "ranges of time: names and times are those of the log" names_are_known
check "rules: of spans, and of what is said about them" rules_hold
check "rules: of waits" waits_by_rule
check "a log from a pipe" from_pipe
check "wrong ones are told" wrong_ones
finish
