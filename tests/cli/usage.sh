#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Help where it is asked for; one sentence where something is wrong.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

make_from clean

commands() {
	"$txtrace" help | awk '/^  [a-z]/ { print $1 }'
}

every_command_has_help() {
	local command
	[ "$(commands | wc -l)" -ge 22 ] || fail "the list of commands lacks some" || return
	for command in $(commands); do
		run 0 "$command" --help || return
		grep -q "^usage: txtrace $command" "$tmp/out" || fail "$command --help has no usage" || return
		cp "$tmp/out" "$tmp/first"
		run 0 help "$command" && diff "$tmp/first" "$tmp/out" || return
		[ "$(awk '{ print length($0) }' "$tmp/out" | sort -n | tail -n 1)" -le 110 ] || fail "$command --help has wide lines" || return
	done
}

# What the examples give to jq, it understands.
examples_for_jq() {
	local line
	cp "$tmp/clean.txtrace" "$tmp/bank.txtrace"
	commands | while read -r line; do "$txtrace" "$line" --help; done |
		grep '^  txtrace .*| jq ' >"$tmp/examples"
	[ "$(wc -l <"$tmp/examples")" -ge 4 ] || fail "there are only these: $(cat "$tmp/examples")" || return
	while read -r line; do
		(cd "$tmp" && eval "\"$txtrace\" ${line#txtrace }") >"$tmp/out" 2>"$tmp/err" </dev/null || fail "$line: $(cat "$tmp/err")" || return
	done <"$tmp/examples"
}

without_arguments() {
	run 2 || return
	grep -q '^usage: txtrace \[--no-pager\] COMMAND' "$tmp/err" || fail "no usage" || return
	[ ! -s "$tmp/out" ]
}

version() {
	run 0 --version && grep -qE '^txtrace [0-9]+\.[0-9]+\.[0-9]+$' "$tmp/out"
}

check "help: the list of commands" expects help 0 help
check "the examples for jq run" examples_for_jq
check "--help is the same" expects help 0 --help
check "every command explains itself" every_command_has_help
check "without arguments it prints its usage and fails" without_arguments
check "--version" version
check "a command that does not exist" complains "unknown command 'bananas', see 'txtrace --help'" bananas
check "a command that is nearly right" complains "unknown command 'repotr', did you mean 'report'?" repotr clean.txtrace
check "a file where a command belongs" complains "unknown command 'clean.txtrace', did you mean 'txtrace report clean.txtrace'?" clean.txtrace
check "an option before the command" complains "unknown option '--json', a command comes first: see 'txtrace --help'" --json report
check "help about nothing there is" complains "unknown command 'spam', did you mean 'spans'?" help spam
check "an option that is nearly right" complains "unknown option '--sotr', did you mean '--sort'?" spans --sotr wall clean.txtrace
check "a value that is nearly right" complains "option '--sort' does not know 'blokced', did you mean 'blocked'?" spans --sort blokced clean.txtrace
check "a number out of range" complains "option '--limit' takes at least 1, not '0'" spans -n 0 clean.txtrace
check "no log" complains "FILE is missing, see 'txtrace report --help'" report
check "two logs to repair" complains "unexpected argument 'b', see 'txtrace repair --help'" repair -o x a b
check "two logs to follow" complains "'b' is one operand too many: only one file can be followed" dump --follow a b
check "a kind that does not exist" complains "option '--kind' takes span, run, wake, thread, attribute, instant, counter, link, loss, open_span, summary, dropped, continued, stay, object, stack, frames, process, trigger or damage, not 'spam'" dump -k spam clean.txtrace
check "export: no format" complains "the format is missing; give --format, see 'txtrace help export'" export clean.txtrace
check "export: a name that tells no format" complains "the suffix of 'out.xyz' is no known format; give --format, see 'txtrace help export'" export -o out.xyz clean.txtrace
check "export: a format that is nearly right" complains "option '--format' does not know 'json', did you mean 'jsonl'?" export -f json clean.txtrace
check "what it quotes is escaped" complains "unknown command '\\e[31m', see 'txtrace --help'" $'\e[31m'
finish
