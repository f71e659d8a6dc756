#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Output that cannot be written is a failure, a reader that went away is none, and a file is replaced only by a complete one.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

make_from small
awk 'BEGIN { for (i = 0; i < 20000; i++) print "instant time_ns=" i " pid=1 tid=1 name=\"tick\"" }' </dev/null | "$make_log" "$tmp/long.txtrace"

full_disk() {
	local command
	for command in "report small.txtrace" "report --json small.txtrace" "spans small.txtrace" "info small.txtrace" "dump small.txtrace" \
		"export -f jsonl small.txtrace" "help" "dump long.txtrace"; do
		# shellcheck disable=SC2086 # words
		(cd "$tmp" && "$txtrace" $command >/dev/full 2>err)
		[ $? = 2 ] || fail "$command: the status is not 2" || return
		[ "$(grep -v 'has no summary' "$tmp/err")" = "txtrace: can't write the output: No space left on device" ] ||
			fail "$command: it said $(cat "$tmp/err")" || return
	done
}

closed_pipe() {
	local command statuses
	for command in "dump long.txtrace" "export -f jsonl long.txtrace" "report small.txtrace"; do
		# shellcheck disable=SC2086 # words
		(cd "$tmp" && "$txtrace" $command 2>err | true
			echo "${PIPESTATUS[0]}" >statuses)
		statuses=$(cat "$tmp/statuses")
		[ "$statuses" = 0 ] || fail "$command: status $statuses" || return
		[ ! -s "$tmp/err" ] || fail "$command: it said $(cat "$tmp/err")" || return
	done
}

head_ends_it() {
	(cd "$tmp" && "$txtrace" dump long.txtrace 2>err | head -n 1 >out)
	[ "$(cat "$tmp/out")" = 'instant time_ns=0 span=0 pid=1 tid=1 name="tick"' ] && [ ! -s "$tmp/err" ]
}

exports_to() { # exports_to STATUS PATH SENTENCE
	run "$1" export -f jsonl -o "$2" small.txtrace || return
	[ "$(cat "$tmp/err")" = "$3" ] || fail "it said: $(cat "$tmp/err")"
}

by_name() {
	local suffix
	for suffix in jsonl json pftrace; do
		run 0 export -o "named.$suffix" small.txtrace && [ -s "$tmp/named.$suffix" ] || fail "named.$suffix" || return
	done
	jq -e . "$tmp/named.json" >/dev/null && jq -e . "$tmp/named.jsonl" >/dev/null
}

replaces_whole() {
	echo old >"$tmp/replaced.jsonl"
	exports_to 0 replaced.jsonl "" || return
	[ "$(tail -n 1 "$tmp/replaced.jsonl" | jq -r .type)" = summary ] || fail "it is not all there" || return
	[ "$(find "$tmp" -name 'replaced.jsonl*' | wc -l)" = 1 ] || fail "something was left beside it"
}

keeps_the_log() {
	cp "$tmp/small.txtrace" "$tmp/log.jsonl"
	ln -sf log.jsonl "$tmp/link.jsonl"
	run 2 export -o link.jsonl log.jsonl || return
	[ "$(cat "$tmp/err")" = "txtrace: can't write 'link.jsonl': it is the log itself" ] || fail "it said: $(cat "$tmp/err")" || return
	cmp "$tmp/small.txtrace" "$tmp/log.jsonl"
}

same_as_stdout() {
	run 0 export -f jsonl small.txtrace && exports_to_file && cmp "$tmp/first" "$tmp/same.jsonl"
}

exports_to_file() {
	cp "$tmp/out" "$tmp/first" && run 0 export -f jsonl -o same.jsonl small.txtrace
}

# A file behind which the recorder went on in another one is whole, and not all.
tells_that_it_goes_on() {
	local command
	printf '%s\n' 'instant time_ns=5 pid=1 tid=1 name="x"' 'continued time_ns=9 next_part=1' | "$make_log" "$tmp/first.txtrace"
	for command in report spans; do
		run 0 "$command" first.txtrace || return
		[ "$(cat "$tmp/err")" = "txtrace: 'first.txtrace' is part 0 of its capture; what comes after it is in other files: give them, too, or their directory" ] ||
			fail "$command said: $(cat "$tmp/err")" || return
	done
}

mkdir "$tmp/folder"
check "a full disk" full_disk
check "a pipe whose reader has gone" closed_pipe
check "head gets its lines" head_ends_it
check "export: the name tells the format" by_name
check "export: a file is what standard output would have been" same_as_stdout
check "export: an older file is replaced by a complete one" replaces_whole
check "export: the log is not written over" keeps_the_log
check "export: a folder" exports_to 2 folder "txtrace: can't write 'folder': Is a directory"
check "export: a folder that is not there" exports_to 2 absent/x "txtrace: can't write 'absent/x': No such file or directory"
check "export: a full disk" exports_to 2 /dev/full "txtrace: can't write '/dev/full': No space left on device"
check "export: no file at all" exports_to 0 /dev/null ""
check "the first file of a capture that goes on says so" tells_that_it_goes_on
finish
