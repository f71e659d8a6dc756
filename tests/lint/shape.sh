#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Sizes, names and characters.
# shellcheck source=tests/lint/lint.sh
. tests/lint/lint.sh

file_lines_max=600
function_lines_max=80 # aim at 60
columns_max=160       # aim at 120

file_sizes() {
	sources | xargs wc -l | awk -v max=$file_lines_max '$2 != "total" && $1 > max { print $2 ": " $1 " lines, at most " max }'
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

line_lengths() {
	local file
	for file in $(sources); do
		expand "$file" | awk -v max=$columns_max -v file="$file" 'length($0) > max { print file ":" NR ": " length($0) " columns, at most " max }'
	done
}

indentation() {
	sources | xargs grep -nHP '^\t* {8,}\S|^ +[^ *\n]|\S.*\t {1,}\t| \t' /dev/null | sed 's/$/  <- spaces where a tab belongs/'
	scripts | xargs grep -nHP '^ +\S' /dev/null | grep -vP '^[^:]+:\d+: +\*' | sed 's/$/  <- indent with tabs/'
	files '*.c' '*.h' '*.cc' '*.cpp' '*.S' '*.sh' '*.md' '*.proto' '*.py' '*.1' Makefile tests/run '.ci/*' | xargs grep -nHP '[ \t\r]$' /dev/null | sed 's/$/  <- white space at the end of the line/'
}

last_newline() {
	local file
	for file in $(files '*.c' '*.h' '*.cc' '*.cpp' '*.S' '*.sh' '*.md' '*.proto' '*.py' '*.1' '*.table' Makefile); do
		[ ! -s "$file" ] || [ -z "$(tail -c 1 "$file")" ] || echo "$file does not end with a newline"
	done
}

# The public headers have names of their own: txtrace/event.h.
unique_names() {
	files '*.c' '*.h' '*.cc' '*.cpp' '*.S' '*.sh' '*.py' '*.proto' | grep -v '^include/' | awk -F/ '{ if ($NF in seen) print $0 " has the name of " seen[$NF]; seen[$NF] = $0 }'
}

snake_case() {
	files '*.c' '*.h' '*.cc' '*.cpp' '*.S' '*.sh' '*.py' '*.proto' | grep -vE '(^|/)[a-z0-9_]+(\.bpf)?\.[a-zA-Z]+$'
}

licence_lines() {
	local file licence
	for file in $(files '*.c' '*.h' '*.cc' '*.cpp' '*.S' '*.sh' '*.py' '*.proto' '*.table' Makefile tests/run '.ci/*'); do
		case $file in
		bpf/* | vmlinux/* | *.bpf.c | include/txtrace/event.h | include/txtrace/foreign.h) licence='GPL-2\.0(-only)? OR BSD-2-Clause' ;;
		*) licence='BSD-2-Clause' ;;
		esac
		head -n 3 "$file" | grep -qE "SPDX-License-Identifier: $licence( \*/| -->)?$" || echo "$file: its first lines lack \"SPDX-License-Identifier: ${licence//\\/}\""
	done
}

# Words that say that something is not finished, and folders of somebody's machine.
forbidden_words() {
	# The pattern is in pieces so that this file does not hold the words.
	files '*' | grep -v '^LICENSE$' | xargs grep -nHIE "\\b(TO""DO|FIX""ME|X""XX|HA""CK)\\b|(^|[^a-z.\$}])/(home|Users|work|root)/[A-Za-z]" /dev/null
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
