#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Shell and Python scripts.
# shellcheck source=tests/lint/lint.sh
. tests/lint/lint.sh || exit

# It takes a tenth of a second for a script. The build folder keeps a line for each script that shellcheck had
# nothing to say about: a hash of its version, its options and all that scripts source; a hash of the script; its
# name. Only a script whose line is not there is checked.
shell_check() {
	local passed=$BUILD/lint/shellcheck.passed file common lines new
	common=$({
		shellcheck --version && cat .shellcheckrc tests/lint/shell_scripts.sh
		for file in $(scripts); do [ -x "$file" ] || cat "$file"; done
	} | sha256sum | cut -d' ' -f1)
	lines=$(scripts | xargs sha256sum | sed "s/^/$common /")
	mkdir -p "$BUILD/lint" && touch "$passed"
	new=$(grep -vxFf "$passed" <<<"$lines") || return
	awk '{ print $3 }' <<<"$new" | xargs shellcheck -x -S warning &&
		echo "$lines" >"$passed.$$" && mv "$passed.$$" "$passed"
}

# tests/run takes what is executable for a test: a script that is run has a #! line and may be executed, one that is sourced has neither.
run_or_sourced() {
	local file first
	for file in $(scripts; files '*.py'); do
		read -r first <"$file"
		case $first in
		'#!'*) [ -x "$file" ] || echo "$file has a #! line and is not executable" ;;
		*) [ ! -x "$file" ] || echo "$file is executable and has no #! line" ;;
		esac
	done
}

# A script goes on when what it sources is not there, with every variable empty: "$tmp/bin" is /bin then.
sourcing_is_checked() {
	local file
	for file in $(scripts); do
		grep -nE '^[[:space:]]*\. [^|]*$' "$file" | sed "s,^,$file: without || exit: ,"
	done
}

python_parses() {
	files '*.py' | python3 -c '
import ast, sys
for file in sys.stdin.read().split():
	try:
		ast.parse(open(file, encoding="utf-8").read(), file)
	except (SyntaxError, ValueError) as error:
		print(f"{file} does not parse: {error}")'
}

if command -v shellcheck >/dev/null; then
	rule "shellcheck has nothing to say" shell_check
else
	skip "shellcheck has nothing to say" "no shellcheck here"
fi
rule "what is executable has a #! line, and what has one is executable" run_or_sourced
rule "what sources a file ends without it" sourcing_is_checked
rule "Python scripts parse" python_parses
finish
