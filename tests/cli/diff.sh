#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs of a program whose changes are known, compared: what is said of them, and with which exit status.
# takes long: 16 s of a CPU
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

make_runs() { # make_runs NAME FIRST COUNT CHANGE...: $tmp/NAME-1.txtrace …, each with a chance of its own
	local name=$1 first=$2 cnt=$3 i
	shift 3
	for ((i = 1; i <= cnt; i++)); do
		python3 tests/cli/make_run.py --run $((first + i)) "$@" | "$make_log" "$tmp/$name-$i.txtrace"
	done
}

runs() { # runs NAME COUNT: their names
	seq -f "$1-%g.txtrace" "$2"
}

# Logs as they were written once (make_run.py --spans 60; new: commit=1.2 lock=1.3 extra=1 parse_label=lex): six runs a side.
rules='commit.on_cpu < +5%; tx.calls.fsync <= 0; commit.held_by.flush < +5%; *.runnable < +1ms; "flush".wall < 1ms; anomalies == 0; lower_bounds < 1%'
cp tests/cli/runs/shop/*.txtrace "$tmp/"
for i in 1 2 3 4 5 6; do
	mv "$tmp/base-$i.txtrace" "$tmp/kept-base-$i.txtrace" && mv "$tmp/new-$i.txtrace" "$tmp/kept-new-$i.txtrace"
done

make_runs base 0 6
make_runs same 10 6
make_runs slow 20 6 commit=1.2 lock=1.3
make_runs fsync 30 6 extra=1 parse_label=lex
make_runs busy 40 6 --noise 0.002 runnable=6
make_runs calm 50 6 --noise 0.002
make_runs quick 60 6 --spans 200 parse=0.7
make_runs bounds 70 6 --spans 200 lower_bounds=0.02 anomalies=2
for i in 1 2 3 4 5 6 7 8; do
	python3 tests/cli/make_run.py --run "$i" --spans 100 --start $((20 * i)) | "$make_log" "$tmp/a-$i.txtrace"
	python3 tests/cli/make_run.py --run "1$i" --spans 100 --start $((20 * i + 10)) parse=1.1 | "$make_log" "$tmp/b-$i.txtrace"
done

compare() { # compare NAME STATUS BASE NEW COUNT OPTION...: what is printed is expected/NAME.txt
	local name=$1 status=$2 base=$3 new=$4 cnt=$5
	shift 5
	# shellcheck disable=SC2046
	expects "$name" "$status" diff "$@" $(runs "$base" "$cnt") -- $(runs "$new" "$cnt")
}

# told JQ-EXPRESSION BASE NEW COUNT STATUS
told() {
	# shellcheck disable=SC2046
	run "$5" diff -f json $(runs "$2" "$4") -- $(runs "$3" "$4") && jq -e "$1" "$tmp/out" >/dev/null || fail "not so: $1: $(jq -c '.comparison | [.code, .machine]' "$tmp/out")"
}

verdict='def verdict($l; $of): [.comparison.figures[] | select(.label == $l and .of == $of and .percentile == null)][0].verdict; '

only_the_machine() {
	told "$verdict"'.comparison.code != "worse" and .comparison.machine == "worse" and verdict("tx"; "wall") == "worse" and verdict("tx"; "runnable") == "worse" and verdict("tx"; "on_cpu") == "same"' \
		calm busy 6 0
}

all_same='.comparison | .code == "same" and .machine == "same" and .figures != [] and ([.figures[] | select(.difference != 0 or .verdict != "same")] == [])'

identical() {
	# shellcheck disable=SC2046
	run 0 diff -f json $(runs base 6) -- $(runs base 6) && jq -e "$all_same" "$tmp/out" >/dev/null || return
	run 0 diff -f json base-1.txtrace -- base-1.txtrace && jq -e "$all_same" "$tmp/out" >/dev/null
}

# The machine of a run, which is 5 % slower or faster, is shared by its neighbour: as pairs, a shift of 10 % is seen that is not seen without.
pairs() {
	told '.comparison.units == "pairs"' a b 8 1 && told '.comparison.units == "runs"' base same 6 3 || return
	# shellcheck disable=SC2046
	run 1 diff --pair never -f json $(runs a 8) -- $(runs b 8) && jq -e '.comparison.units == "runs"' "$tmp/out" >/dev/null
}

# Five pairs are too few for pairs, and enough for runs: auto takes what can tell; four are too few for either.
few_pairs() {
	told '.comparison.units == "runs" and .comparison.code == "worse"' a b 5 1 && told '.comparison.units == "pairs"' a b 4 3 || return
	# shellcheck disable=SC2046
	run 3 diff --pair always -f json $(runs a 5) -- $(runs b 5) && jq -e '.comparison.units == "pairs"' "$tmp/out" >/dev/null
}

repeatable() {
	# shellcheck disable=SC2046
	run 1 diff -f json $(runs base 6) -- $(runs slow 6) && mv "$tmp/out" "$tmp/first" && run 1 diff -f json $(runs base 6) -- $(runs slow 6) && cmp "$tmp/first" "$tmp/out" || return
	# shellcheck disable=SC2046
	run 1 diff --seed 2 -f json $(runs base 6) -- $(runs slow 6) && ! cmp -s "$tmp/first" "$tmp/out" && jq -e '.comparison.code == "worse"' "$tmp/out" >/dev/null
}

# gate STATUS RULES BASE NEW COUNT
gate() {
	# shellcheck disable=SC2046
	run "$1" diff --gate "$2" $(runs "$3" "$5") -- $(runs "$4" "$5") || return
	grep -q "^gate: " "$tmp/out" || fail "no gate in $(head -n 1 "$tmp/out")"
}

gates() {
	gate 1 'commit.on_cpu < +5%' base slow 6 && gate 0 'parse.on_cpu < +10%' base slow 6 && gate 3 'commit.on_cpu < +20%' base slow 6 &&
		gate 3 'commit.on_cpu < +5%' base slow 3 && gate 0 'commit.calls.fsync <= 0; tx.wall.p99 < 20ms' base slow 6 2>/dev/null
	[ $? = 1 ] || fail "a rule on a label that nobody has was no error" || return
	gate 1 'commit.calls.fsync < 1' base fsync 6 && gate 1 'commit.blocks.fsync < +0.5; anomalies == 0' base fsync 6 && gate 0 'commit.calls.fsync <= 1' base fsync 6 &&
		gate 0 '*.runnable < +5ms; tx.blocked.lock < +0.5ms; tx.waits_on.flush < +1us' base same 6
}

# Each kind of rule: what the logs hold, and what they do not.
each_rule() {
	gate 0 'commit.on_cpu.p50 < +5%' kept-base kept-base 6 && gate 1 'commit.on_cpu.p50 < +5%' kept-base kept-new 6 || return
	gate 0 '*.blocked.lock.mean < +0.5ms' kept-base kept-new 6 && gate 1 '*.blocked.lock.mean < +0.05ms' kept-base kept-new 6 || return
	gate 0 'tx.wall.p99 < 20ms' base slow 6 && gate 1 'tx.wall.p99 < 0.9ms' base slow 6 || return
	gate 0 'tx.calls.fsync <= 1' kept-base kept-new 6 && gate 1 'tx.calls.fsync <= 0' kept-base kept-new 6 || return
	gate 0 'tx.blocks.futex <= 1' kept-base kept-new 6 && gate 1 'tx.blocks.disk == 0' kept-base kept-new 6 || return
	gate 0 'commit.held_by.flush < +5%' kept-base kept-base 6 && gate 1 'commit.held_by.flush < +5%' kept-base kept-new 6 || return
	gate 0 'commit.waits_on.flush < +0.5ms' kept-base kept-new 6 && gate 1 'commit.waits_on.flush < +10%' kept-base kept-new 6 || return
	gate 0 'anomalies == 0' kept-base kept-new 6 && gate 1 'anomalies == 0' base bounds 6 || return
	gate 0 'lower_bounds < 5%' base bounds 6 && gate 1 'lower_bounds < 1%' base bounds 6
}

# Each figure with its interval: of the label's times, what it waited for, its children, whom it waited for; p99 of the wall time where there are spans enough.
all_figures() {
	told '[.comparison.figures[] | select(.label == "commit" and .difference_interval != null and .relative != "") | .figure] | sort == (["wall mean", "wall p50", "wall p99",
		"on-CPU mean", "on-CPU p50", "self mean", "self on-CPU mean", "runnable mean", "detached mean", "unknown mean", "blocked on lock mean", "waits in futex",
		"waits (lock) for flush", "on-CPU of the lock'\''s holder flush"] | sort)' base slow 6 1 &&
		told '[.comparison.figures[] | select(.label == "tx") | .figure] | contains(["calls of parse"])' base slow 6 1
}

# The other way round: what was new is gone, and what became worse is better.
backwards() {
	# shellcheck disable=SC2046
	run 0 diff $(runs kept-new 6) -- $(runs kept-base 6) || [ $? = 3 ] || return
	grep -q '^  vanished: fsync ' "$tmp/out" && grep -q '^  perhaps renamed: lex -> parse ' "$tmp/out" && grep -q '^+ commit: wall mean .*-26 %' "$tmp/out" && ! grep -q '^!' "$tmp/out"
}

# What is to matter: a fifth does not, if it takes a third.
min_effect() {
	# shellcheck disable=SC2046
	run 1 diff --min-effect 10% $(runs base 6) -- $(runs slow 6) && grep -q '^! commit: wall' "$tmp/out" || return
	# shellcheck disable=SC2046
	run 0 diff --min-effect 50% -f json $(runs base 6) -- $(runs slow 6) && jq -e '[.comparison.figures[] | select(.verdict == "worse")] == []' "$tmp/out" >"$tmp/held"
}

in_a_file() {
	printf '# what must not get slower\ncommit.on_cpu.p50 < +5%%\n\n"tx".wall.p99 < 20ms # not at all\n' >"$tmp/rules.txt"
	gate 1 rules.txt base slow 6 && grep -q '^! regressed: commit.on_cpu.p50 < +5%$' "$tmp/out" && grep -q '^+ holds: "tx".wall.p99 < 20ms$' "$tmp/out"
}

too_few() {
	told '.comparison.code == "can'\''t tell" and ([.comparison.figures[] | select(.verdict == "worse")] == []) and .comparison.figures[0].units_needed >= 5' base slow 3 3
}

check "kept logs: worse, by what, held by whom, a label renamed, one that is new" compare diff_kept 1 kept-base kept-new 6
check "kept logs: rules" compare diff_kept_rules 1 kept-base kept-new 6 -g "$rules"
check "kept logs: Markdown" compare diff_kept_markdown 1 kept-base kept-new 6 -g "$rules" -f markdown
check "kept logs: JUnit XML" compare diff_kept_junit 1 kept-base kept-new 6 -g "$rules" -f junit
check "kept logs: annotations" compare diff_kept_github 1 kept-base kept-new 6 -g "$rules" -f github
check "one kept log" expects check_kept 1 check kept-new-1.txtrace 'tx.wall < 20ms; tx.calls.fsync <= 1; commit.blocks.lock == 1; commit.waits_on.flush < 1ms; commit.held_by.flush < 0.1ms; anomalies == 0'
check "no change: nothing is worse" told '.comparison.code != "worse" and .comparison.machine != "worse"' base same 6 3
check "the same logs: no difference at all" identical
check "a fifth more on-CPU and a longer lock: which label, which part, whose lock" compare diff_slow 1 base slow 6
check "one more fsync, and a label renamed" compare diff_fsync 1 base fsync 6
check "a label that became quicker" compare diff_quick 3 base quick 6
check "a busy machine: it is said, and no regression" only_the_machine
check "a run a side: windows of them, a weaker verdict" compare diff_windows 1 base slow 1
check "three runs a side can't tell, and it says how many can" too_few
check "runs that were recorded in turn are compared in pairs" pairs
check "few pairs are compared as runs, if those can tell" few_pairs
check "the same seed gives the same report" repeatable
check "lower bounds are left out, and counted" compare diff_bounds 1 base bounds 6 -g 'lower_bounds < 1%; tx.on_cpu < +10%'
check "gates: 0, 1, 2 and 3" gates
check "each kind of rule holds, and does not" each_rule
check "rules in a file" in_a_file
check "every figure of a label" all_figures
check "the other way round: better, and vanished" backwards
check "a change is to be so large" min_effect
check "BASE alone" complains "NEW is missing: give its logs after --, see 'txtrace diff --help'" diff base-1.txtrace
check "NEW alone" complains "BASE is missing, see 'txtrace diff --help'" diff -- base-1.txtrace
check "an option behind --" complains "all operands after -- are logs, and '-g' looks like an option: give options before --, or './-g' for a file of that name" diff base-1.txtrace -- same-1.txtrace -g x
check "a log that is not there" complains "can't read 'absent': there is no such file" diff base-1.txtrace -- absent
check "a rule that is none" complains "the rules, line 1, column 4: unknown figure 'wal', did you mean 'wall'?" diff -g 'tx.wal < 1ms' base-1.txtrace -- same-1.txtrace
check "a file of rules that is not there" complains "can't read the rules 'absent': No such file or directory; rules themselves have <, = or > in them" diff -g absent base-1.txtrace -- same-1.txtrace
check "pairs of one and two" complains "only as many runs of BASE as of NEW can be paired, three of each or more; there are 1 and 2" diff --pair always base-1.txtrace -- same-1.txtrace same-2.txtrace
# The page: what --write html=FILE writes, which has no script, and the pages of two runs; both sides of a label beside each other, with the figures of the
# report.
page() {
	# shellcheck disable=SC2046 # names without blanks
	run 1 diff -o page.html -w html=report.html $(runs kept-base 6) -- $(runs kept-new 6) || return
	sed "s/; script-src 'sha256-[^']*'//; /^<h2>timelines/,/^<\/div>/d" "$tmp/page.html" | cmp - "$tmp/report.html" || return
	[ "$(grep -c '<iframe title="\(base\|new\)" sandbox="allow-scripts" srcdoc="&lt;' "$tmp/page.html")" = 0 ] && [ "$(grep -c '<iframe title="\(base\|new\)" sandbox="allow-scripts" srcdoc="<!DOCTYPE' "$tmp/page.html")" = 2 ] ||
		fail "it has not the pages of two runs" || return
	python3 - "$tmp/page.html" <<-'END'
		import re, sys
		page = open(sys.argv[1], encoding="utf-8").read()
		sides = page[page.index("<h2>both sides"):page.index("<h2>all figures")]
		rows = [re.findall(r"<td[^>]*>([^<]*)", row)[-5:-1] for row in sides.split("</tr>")]
		widths = [sum(map(float, re.findall(r' width="([0-9.]+)" height="14" fill', row))) for row in sides.split("</tr>")]
		flat = [(row, width) for row, width in zip(rows, widths) if "565 µs" in row or "763 µs" in row]
		assert [row for row, _ in flat] == [["base", "360", "565 µs", "565 µs"], ["new", "360", "763 µs", "763 µs"]], flat
		assert abs(flat[0][1] / flat[1][1] - 565 / 763) < 0.01, flat
		assert '<td>base</td><td class="number">0</td><td></td>' in sides, "a label that came has no figures on the base's side"
		assert "■</span> lock" in sides and "■</span> disk" in sides and "■</span> network" not in sides, sides[-300:]
	END
}

check "a page with both sides" page
check "a format that is none" complains "option '--write' takes FORMAT=FILE with the format terminal, markdown, junit, github, json or html, at most 16 times, not 'x=y'" diff -w x=y a -- b
finish
