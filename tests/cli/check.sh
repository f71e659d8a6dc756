#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Rules on one log, and the reports that are made of their outcome.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

check_py=$PWD/tests/cli/verdict_check.py
python3 tests/cli/make_run.py --run 1 lower_bounds=0.02 anomalies=2 | "$make_log" "$tmp/shop.txtrace"
make_from hostile
make_from small

rules='tx.wall.p99 < 20ms; tx.wall.p99 < 100us; tx.wall.p99.9 < 1s; *.blocked.lock.mean < 0.5ms; tx.calls.parse <= 1; anomalies == 0; lower_bounds < 1%; lost == 0; nobody.wall < 1s'

# Labels with quotes, markup, new lines, control characters, mentions, on both sides.
make_nasty() {
	local i label
	{
		echo 'header pid=1 command="nasty" start_monotonic_ns=0 start_realtime_ns=1763725203000000000'
		i=0
		for label in '<script>alert(1)</script>' '\"]]>&amp;' "it's %0A::error::x" '\e[31mred\n::error::no\r' '@somebody #1 [x](http://y) `z` | a' '\x00\xff\xfe' 'a,b:c'; do
			i=$((i + 1))
			echo "span begin_ns=0 end_ns=${i}000 pid=1 tid=1 end_tid=1 id=$i label=\"$label\" work_ns=${i}000 on_cpu_ns=${i}000"
		done
		echo 'summary time_ns=1000000 sent_cnt=7 received_cnt=7'
	} | "$make_log" "$tmp/nasty.txtrace"
}

# each_format STATUS COMMAND...: all reports of one run, into $tmp/report.FORMAT, and each is what it should be
each_format() {
	local status=$1 format
	shift
	run "$status" "$1" -w json=report.json -w junit=report.junit -w html=report.html -w github=report.github -w markdown=report.markdown -w terminal=report.terminal "${@:2}" || return
	for format in json junit html github markdown terminal; do
		cp "$tmp/report.$format" "$tmp/written"
		run "$status" "$1" -f $format "${@:2}" && cmp "$tmp/written" "$tmp/out" || fail "$format: printed is not as written" || return
		! LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f]' "$tmp/out" || fail "$format: control characters" || return
	done
	python3 "$check_py" xml "$tmp/report.junit" && python3 "$check_py" html "$tmp/report.html" && python3 "$check_py" github "$tmp/report.github" || return
	! command -v xmllint >/dev/null || xmllint --noout "$tmp/report.junit" || return
	! grep -qE '<script|@somebody|[^\\]\]\(http' "$tmp/report.markdown" || fail "markdown: $(grep -E '<script|@somebody' "$tmp/report.markdown")"
}

follows_schema() {
	run 0 check --json-schema && mv "$tmp/out" "$tmp/schema.json" && run 0 diff --json-schema && cmp "$tmp/out" "$tmp/schema.json" || return
	run 2 check -f json shop.txtrace "$rules" && python3 "$check_py" json "$tmp/schema.json" "$tmp/out" || return
	run 1 diff -f json small.txtrace -- shop.txtrace && python3 "$check_py" json "$tmp/schema.json" "$tmp/out" || return
	run 0 check -f json nasty.txtrace '*.wall < 1s' && python3 "$check_py" json "$tmp/schema.json" "$tmp/out" || return
	run 1 diff -g 'tx.wall < 1us; tx.wall < +5%' -f json shop.txtrace -- shop.txtrace && python3 "$check_py" json "$tmp/schema.json" "$tmp/out"
}

# In quotes, labels with whatever in them.
quoted_labels() {
	run 0 check nasty.txtrace '"<script>alert(1)</script>".wall < 1ms; "\"]]>&amp;".wall < 1ms; "@somebody #1 [x](http://y) `z` | a".wall < 1ms; "a,b:c".wall == 7us'
}

statuses() {
	run 0 check shop.txtrace 'tx.wall.p90 < 20ms' && run 3 check shop.txtrace 'tx.wall.p99 < 20ms' && run 1 check shop.txtrace 'tx.wall.p99 < 100us' && run 3 check shop.txtrace 'tx.wall.p99.9 < 1s' &&
		run 2 check shop.txtrace 'nobody.wall < 1s' && run 2 check shop.txtrace 'tx.wall < +5%' && run 1 check shop.txtrace 'anomalies == 0' &&
		run 0 check shop.txtrace 'anomalies <= 2; anomalies.end_unknown == 2; anomalies.begin_twice == 0' && run 1 check shop.txtrace 'lower_bounds < 1%' &&
		run 0 check shop.txtrace 'lower_bounds < 5%; tx.lower_bounds < 5%; lower_bounds > 10' && run 0 check shop.txtrace 'tx.wall.p97.5 < 20ms; tx.wall.p33 > 1us; tx.count >= 500'
}

cut_off() {
	python3 tests/cli/make_run.py --run 1 | awk '{ print } NR % 500 == 0 { print "flush" }' | "$make_log" "$tmp/batches.txtrace" || return
	head -c $(($(stat -c %s "$tmp/batches.txtrace") / 2)) "$tmp/batches.txtrace" >"$tmp/cut.txtrace"
	run 3 check cut.txtrace 'tx.wall < 20ms; anomalies == 0' && grep -q '1 log is damaged, cut off or not closed' "$tmp/out"
}

output_errors() {
	complains "can't write 'absent/x': No such file or directory" check -w json=absent/x -f json shop.txtrace 'lost == 0' 2>/dev/null
	run 2 check -w json=absent/x shop.txtrace 'lost == 0' && grep -q "can't write 'absent/x': No such file or directory" "$tmp/err" || return
	cp "$tmp/shop.txtrace" "$tmp/copy"
	run 2 check -w json=shop.txtrace shop.txtrace 'lost == 0' && cmp "$tmp/copy" "$tmp/shop.txtrace"
}

make_nasty
check "what is said of each rule" expects check 2 check shop.txtrace "$rules"
check "exit status 0, 1, 2 and 3" statuses
check "every format, of a log with all outcomes" each_format 2 check shop.txtrace "$rules"
check "every format, of hostile labels" each_format 1 check nasty.txtrace '*.wall.mean < 2us; *.count >= 1'
check "every format, of a comparison of hostile logs" each_format 3 diff nasty.txtrace -- hostile.txtrace
check "labels in quotes" quoted_labels
check "JUnit XML" expects check_junit 2 check -f junit shop.txtrace "$rules"
check "annotations" expects check_github 2 check -f github shop.txtrace "$rules"
check "Markdown" expects check_markdown 2 check -f markdown shop.txtrace "$rules"
check "JSON" expects check_json 2 check -f json shop.txtrace "$rules"
if python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2>"$tmp/no"; then
	check "JSON follows its schema" follows_schema
else
	skip "JSON follows its schema" "there is no python3-jsonschema here"
fi
check "a log that is cut off" cut_off
check "reports that can't be written" output_errors
check "no rules" complains "RULES is missing, see 'txtrace check --help'" check shop.txtrace
check "nothing" complains "FILE and RULES are missing, see 'txtrace check --help'" check
check "an empty file of rules" complains "there is no rule in '/dev/null'" check shop.txtrace /dev/null
check "rules that are a folder" complains "can't read the rules '.': Is a directory; rules themselves have <, = or > in them" check shop.txtrace .
finish
