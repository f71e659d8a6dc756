#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The examples of docs/ci.md, as they stand there.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh

# example HEADING: the first indented block below it
example() {
	awk -v heading="## $1" '$0 == heading { below = 1; next } below && /^    / { print substr($0, 5); begun = 1; next } begun && $0 == "" { print ""; next } begun { exit }' docs/ci.md
}

# In the place of the recorder: txtrace-bpf -q --repeat N -o DIR --base './server-base …' -- ./server-new …; what a run of the new server is like stands in the file `changes`.
mkdir "$tmp/bin"
cat >"$tmp/bin/txtrace-bpf" <<-END
	#!/bin/bash
	[ "\$1 \$2 \$4 \$6 \$8" = "-q --repeat -o --base --" ] && [[ \$7 = ./server-base* && \$9 = ./server-new ]] || exit 2
	mkdir -p "\$5"
	for ((i = 1; i <= \$3; i++)); do
		python3 "$PWD/tests/cli/make_run.py" --noise 0.002 --spans 200 --run \$i | "$make_log" "\$5/base-\$i.txtrace"
		python3 "$PWD/tests/cli/make_run.py" --noise 0.002 --spans 200 --run 1\$i \$(cat changes) | "$make_log" "\$5/new-\$i.txtrace"
	done
END
chmod +x "$tmp/bin/txtrace-bpf"
ln -s "$txtrace" "$tmp/bin/txtrace"
example "A plain shell" >"$tmp/example.sh"
echo 'commit.on_cpu < +5%; tx.wall.p50 < +10%' >"$tmp/rules.txt.inline"
tr ';' '\n' <"$tmp/rules.txt.inline" >"$tmp/rules.txt"

shell_says() { # shell_says STATUS CHANGES WORDS
	echo "$2" >"$tmp/changes"
	(cd "$tmp" && PATH=$tmp/bin:$PATH bash example.sh) >"$tmp/said.sh" 2>&1
	[ $? = "$1" ] && tail -n 1 "$tmp/said.sh" | grep -qxF "$3" && [ -s "$tmp/report.html" ] || fail "$(tail -n 20 "$tmp/said.sh")"
}

are_yaml() {
	local name
	for name in "GitHub Actions" "GitLab CI"; do
		example "$name" | python3 -c 'import sys, yaml; yaml.safe_load(sys.stdin)["'"$([ "$name" = "GitLab CI" ] && echo compare || echo jobs)"'"]' || return
	done
}

# Every txtrace command in them parses: --help ends each after its options were understood.
options_are_known() {
	local line
	grep -oE 'txtrace (diff|check) [^|;&]*' docs/ci.md | grep -E ' -[a-z]' | sed -E 's/ (base|runs|server|--|[a-z]+\.txtrace).*//; s/ \|\| .*//' >"$tmp/commands"
	[ "$(wc -l <"$tmp/commands")" -ge 4 ] || fail "$(cat "$tmp/commands")" || return
	while read -r line; do
		(cd "$tmp" && eval "\"$txtrace\" ${line#txtrace } --help") >"$tmp/out" 2>"$tmp/err" || fail "$line: $(cat "$tmp/err")" || return
	done <"$tmp/commands"
}

rules_of_the_page() {
	sed -n '/^    commit.on_cpu.p50/,/^    lower_bounds/p' docs/ci.md >"$tmp/page.rules"
	[ "$(wc -l <"$tmp/page.rules")" = 6 ] || return
	python3 tests/cli/make_run.py --run 1 | "$make_log" "$tmp/one.txtrace" && python3 tests/cli/make_run.py --run 2 extra=1 | "$make_log" "$tmp/two.txtrace"
	run 0 diff -g page.rules two.txtrace -- two.txtrace || [ $? = 3 ] || return
	grep -q 'tx.calls.fsync <= 1' "$tmp/out"
}

check "the shell script: a program that did not change" shell_says 0 "" "it holds"
check "the shell script: a program that became slower" shell_says 1 "commit=1.2" "it regressed"
check "options of all commands on the page" options_are_known
if python3 -c 'import yaml' 2>"$tmp/no"; then
	check "the workflows are YAML" are_yaml
else
	skip "the workflows are YAML" "there is no python3-yaml here"
fi
check "the rules of the page" rules_of_the_page
finish
