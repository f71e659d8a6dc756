#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Shell and Python scripts.
# shellcheck source=tests/lint/lint.sh
. tests/lint/lint.sh

shell_check() {
	scripts | xargs shellcheck -x -S warning
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
rule "Python scripts parse" python_parses
finish
