#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Man pages and documents say what is.
# shellcheck source=tests/lint/lint.sh
. tests/lint/lint.sh || exit

man_pages_lint() {
	local page
	for page in $(files 'docs/*.1'); do
		mandoc -Tlint -W warning "$page"
	done
}

# options_of PROGRAM [COMMAND]: the long options that its help names.
options_of() {
	"$@" --help </dev/null 2>&1 | grep -oE '(^|[ ,\[|(])--[a-z][a-z0-9-]+' | grep -oE -- '--.*' | sort -u
}

# The words of a page, options with their dashes among them, sorted.
words_of_page() {
	mandoc -Tascii -Owidth=900 "$1" | sed 's/.\x08//g' | grep -oE -- '(--)?[a-z][a-z0-9-]*' | sort -u
}

# The sub-commands, from "txtrace --help": an indented word with an explanation behind it.
commands_of() {
	"$1" --help </dev/null 2>&1 | sed -nE 's/^  ([a-z][a-z-]+)( .*)?$/\1/p' | sort -u
}

options_documented() {
	local page command words=$TEST_TMPDIR/words
	for page in docs/txtrace-bpf.1 docs/txtrace.1; do
		[ -e "$page" ] || { echo "$page does not exist" && continue; }
		words_of_page "$page" >"$words"
		options_of "$BUILD/$(basename "$page" .1)" | comm -23 - "$words" | sed "s|^|$page does not name |"
	done
	for command in $(commands_of "$BUILD/txtrace"); do
		grep -qxe "$command" "$words" || echo "$page does not name the command $command"
		options_of "$BUILD/txtrace" "$command" | comm -23 - "$words" | sed "s|^|$page does not name |; s|\$| of txtrace $command|"
	done
}

# The headings' anchors, as the forges make them, in a file.
anchors_of() {
	local anchors=$TEST_TMPDIR/${1//\//%}
	[ -e "$anchors" ] || sed -nE '/^```/,/^```/!s/^#+ +//p' "$1" | tr '[:upper:]' '[:lower:]' | sed -E 's/[^a-z0-9 _-]//g; s/ /-/g' >"$anchors"
	echo "$anchors"
}

links_resolve() {
	local file link target anchor
	for file in $(files '*.md'); do
		sed -E '/^```/,/^```/d; s/`[^`]*`//g' "$file" | grep -oE '\]\([^) ]+\)' | sed -E 's/^\]\(|\)$//g' | while read -r link; do
			case $link in http://* | https://* | mailto:*) continue ;; esac
			target=${link%%#*} anchor=
			case $link in *'#'*) anchor=${link#*#} ;; esac
			[ -z "$target" ] && target=$file || target=$(dirname "$file")/$target
			if [ ! -e "$target" ]; then
				echo "$file: $link does not exist"
			elif [ -n "$anchor" ] && ! grep -qxF -- "$anchor" "$(anchors_of "$target")"; then
				echo "$file: $link: there is no such heading"
			fi
		done
	done
}

# The paths that documents and comments of ours name in backquotes or plainly, such as tests/setup/tools.table.
named_paths_exist() {
	files '*.md' | xargs -r grep -noE '(^|[ (`])(include|bpf|vmlinux|userspace|tests|docs)/[A-Za-z0-9_./-]+' /dev/null |
		sed -E 's/^([^:]+:[0-9]+):[ (`]?/\1 /; s/[.]$//' | while read -r where path; do
		case $path in *...* | *…* | *NAME*) continue ;; esac
		[ -e "$path" ] || echo "$where: there is no $path"
	done
}

documented="every option and command of a program's help is in its man page"
if ! command -v mandoc >/dev/null; then
	skip "mandoc -Tlint has nothing to say" "no mandoc here"
	skip "$documented" "no mandoc here"
else
	rule "mandoc -Tlint has nothing to say" man_pages_lint
	if [ -x "$BUILD/txtrace" ] && [ -x "$BUILD/txtrace-bpf" ]; then
		rule "$documented" options_documented
	else
		skip "$documented" "the programs are not built"
	fi
fi
rule "links in documents resolve" links_resolve
rule "paths that documents name exist" named_paths_exist
finish
