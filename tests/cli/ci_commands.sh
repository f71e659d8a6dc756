#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A CI service reads commands from the output of its steps: "::error::…" at the
# begin of a line, blanks aside, "##[…]" and "##vso[…]" anywhere. A label, tag
# or name of a traced program gives none, in no command's text.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

names=('::error::pwn' '  ::stop-commands::x' '##[add-mask]x' 'x##vso[task.setvariable variable=x]y' $'\xe3\x80\x80::notice::z')
for name in "${names[@]}"; do printf '%s\n' "$name"; done |
	awk '{ print "thread time_ns=0 pid=" NR " tid=" NR " comm=\"" $0 "\""
		print "span begin_ns=" NR "000 end_ns=" NR + 1 "000 pid=" NR " tid=" NR " id=" NR " label=\"" $0 "\" tag=\"" $0 "\" work_ns=1000 on_cpu_ns=1000" }
		END { print "summary time_ns=90000" }' | "$make_log" "$tmp/ci.txtrace" || exit 2

gives_no_command() {
	"$txtrace" "$@" >"$tmp/out" 2>"$tmp/err"
	[ $? -le 1 ] || fail "$(cat "$tmp/err")" || return
	cat "$tmp/out"
	grep -qE 'error|stop-commands|add-mask' "$tmp/out" || fail "no name is in it" || return
	! sed 's/\xc2\xa0/ /g; s/\xe3\x80\x80/ /g' "$tmp/out" "$tmp/err" | grep -nE '^[[:space:]]*::|##[a-z]*\['
}

for command in report "report --by thread" "report --cost" spans workers tree "flame --folded" dump histogram tail; do
	# shellcheck disable=SC2086 # a command and its options
	check "$command" gives_no_command $command "$tmp/ci.txtrace"
done
check show gives_no_command show "$tmp/ci.txtrace" 1
finish
