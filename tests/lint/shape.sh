#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Sizes, names and characters.
# shellcheck source=tests/lint/lint.sh
. tests/lint/lint.sh || exit

file_lines_max=900 # where one idea needs them; aim at 600
header_lines_max=1650 # of include/txtrace.h: users copy one file
function_lines_max=60
columns_max=110

file_sizes() {
	sources | xargs wc -l | awk -v all_max=$file_lines_max -v header_max=$header_lines_max '
		{ max = $2 == "include/txtrace.h" ? header_max : all_max }
		$2 != "total" && $1 > max { print $2 ": " $1 " lines, at most " max }'
	scripts | xargs wc -l | awk -v max=$file_lines_max '$2 != "total" && $1 > max { print $2 ": " $1 " lines, at most " max }'
}

# In this style a function's body begins with a brace in the first column and ends with one.
function_sizes() {
	sources | xargs awk -v max=$function_lines_max '
		FNR == 1 { begin = 0 }
		/^{/ { begin = FNR; name = before }
		/^}/ && begin { if (FNR - begin + 1 > max) print FILENAME ":" begin ": " FNR - begin + 1 " lines, at most " max ": " name; begin = 0 }
		{ before = $0 }'
}

# A tab leads to the next column that eight divides.
line_lengths() {
	sources | xargs awk -v max=$columns_max '
		length($0) * 8 <= max { next }
		{
			gsub(/[\200-\277]/, "") # of a character of several bytes the first one counts
			columns = 0
			count = split($0, parts, "\t")
			for (i = 1; i < count; i++) columns += length(parts[i]) + 8 - (columns + length(parts[i])) % 8
			columns += length(parts[count])
			if (columns > max) print FILENAME ":" FNR ": " columns " columns, at most " max
		}'
}

indentation() {
	sources | xargs grep -nHP '^\t* {8,}\S|^ +[^ *\n]|\S.*\t {1,}\t| \t' /dev/null | sed 's/$/  <- spaces where a tab belongs/'
	scripts | xargs grep -nHP '^ +\S' /dev/null | grep -vP '^[^:]+:\d+: +\*' | sed 's/$/  <- indent with tabs/'
	files '*.c' '*.h' '*.cc' '*.cpp' '*.S' '*.sh' '*.md' '*.proto' '*.py' '*.1' Makefile tests/run '.ci/*' | xargs grep -nHP '[ \t\r]$' /dev/null | sed 's/$/  <- white space at the end of the line/'
}

last_newline() {
	files '*.c' '*.h' '*.cc' '*.cpp' '*.S' '*.sh' '*.md' '*.proto' '*.py' '*.1' '*.table' Makefile | python3 -c '
import sys
for file in sys.stdin.read().splitlines():
	with open(file, "rb") as opened:
		text = opened.read()
	if text and not text.endswith(b"\n"):
		print(f"{file} does not end with a newline")'
}

# The public headers have names of their own: txtrace/event.h.
unique_names() {
	files '*.c' '*.h' '*.cc' '*.cpp' '*.S' '*.sh' '*.py' '*.proto' | grep -v '^include/' | awk -F/ '{ if ($NF in seen) print $0 " has the name of " seen[$NF]; seen[$NF] = $0 }'
}

snake_case() {
	files '*.c' '*.h' '*.cc' '*.cpp' '*.S' '*.sh' '*.py' '*.proto' | grep -vE '(^|/)[a-z0-9_]+(\.bpf)?\.[a-zA-Z]+$'
}

licence_lines() {
	files '*.c' '*.h' '*.cc' '*.cpp' '*.S' '*.sh' '*.py' '*.proto' '*.table' Makefile tests/run '.ci/*' | xargs awk '
		function licence(file) {
			if (file ~ /^(bpf|vmlinux)\/|\.bpf\.c$|^include\/txtrace\/(event|foreign|mark_ring|otel|socket|state_clock|symbol)\.h$/) return "GPL-2[.]0(-only)? OR BSD-2-Clause"
			return "BSD-2-Clause"
		}
		FNR <= 3 && $0 ~ ("SPDX-License-Identifier: " licence(FILENAME) "( [*]/| -->)?$") { has[FILENAME] = 1 }
		END {
			for (i = 1; i < ARGC; i++)
				if (!(ARGV[i] in has)) print ARGV[i] ": its first lines lack \"SPDX-License-Identifier: " licence(ARGV[i]) "\""
		}'
}

# Words that say that something is not finished, and folders of somebody's machine. What others wrote is left as it is.
forbidden_words() {
	# The pattern is in pieces so that this file does not hold the words.
	files '*' | grep -v -e '^LICENSE$' -e '/uplot/' | xargs grep -nHIE "\\b(TO""DO|FIX""ME|X""XX|HA""CK)\\b|(^|[^a-z.\$}])/(home|Users|work|root)/[A-Za-z]" /dev/null
}

rule "no source or script has more than $file_lines_max lines" file_sizes
rule "no function has more than $function_lines_max lines" function_sizes
rule "no line has more than $columns_max columns" line_lengths
rule "tabs indent, and nothing trails" indentation
rule "text files end with a newline" last_newline
rule "file names are unique in the tree" unique_names
rule "file names are snake_case" snake_case
rule "every source names its licence" licence_lines
rule "nothing unfinished, no path of a machine" forbidden_words
finish
