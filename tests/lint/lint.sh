# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Sourced by the rules of tests/lint. A rule is a case: it prints what breaks it, one line each, and holds when it prints nothing.

set -u
export LC_ALL=C

# In a checkout the tracked files and the new ones. Inputs for fuzzers are no text. Asked for once: to start a program takes
# longer than to go through the list.
tree_files=$({ git ls-files -co --exclude-standard 2>/dev/null || find . -type f ! -path './.git/*' ! -path './build/*' -printf '%P\n'; } |
	grep -v '^tests/fuzz/corpus/' | LC_ALL=C sort)

# files PATTERN...: the tree's files whose names match any of the shell patterns
files() {
	local file pattern
	while read -r file; do
		for pattern; do
			# shellcheck disable=SC2254 # it is a pattern
			case $file in $pattern)
				[ ! -f "$file" ] || echo "$file"
				break
				;;
			esac
		done
	done <<<"$tree_files"
}

sources() {
	files '*.c' '*.h' '*.cc' '*.cpp' '*.S'
}

scripts() {
	files '*.sh' 'tests/run' '.ci/*'
}

number=0

# rule NAME COMMAND...: the command prints the violations.
rule() {
	local name=$1 violations
	shift
	violations=$("$@" 2>&1)
	number=$((number + 1))
	if [ -z "$violations" ]; then
		echo "ok $number - $name"
	else
		echo "not ok $number - $name"
		while IFS= read -r line; do echo "# $line"; done <<<"$violations"
	fi
}

# skip NAME REASON
skip() {
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

finish() {
	echo "1..$number"
}
