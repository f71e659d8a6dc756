#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --html and --markdown of the commands that print tables: the same words as the text, whatever labels are.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

for name in sound waits tree stolen hostile empty cost workers neighbours; do
	make_from $name || exit
done

same_words() { # same_words LOG COMMAND...
	python3 tests/cli/documents_check.py "$txtrace" "$tmp/$1.txtrace" "${@:2}"
}

in_all_logs() { # in_all_logs COMMAND...
	local name
	for name in sound waits tree stolen hostile empty cost workers neighbours; do
		same_words $name "$@" || fail "of $name" || return
	done
}

for command in report "report --by thread" "report --by reason" "report --cost" spans tree tail histogram workers "concurrency --buckets 3" blocked blame neighbours; do
	# shellcheck disable=SC2086 # several words
	check "$command: a page, and Markdown" in_all_logs $command
done
check "chosen columns" in_all_logs report --columns label,p99,lock
check "the page: as it was looked at" expects report_html 0 report --html sound.txtrace
check "Markdown: likewise" expects report_markdown 0 report --markdown sound.txtrace
check "one form at a time" complains "--json, --csv, --html and --markdown exclude each other" report --html --json sound.txtrace
finish
