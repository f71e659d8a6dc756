#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Debian's Ruby 3.1 as it is, by --preset ruby: as many requires, loads and collections as the program says it made, when it was started by the recorder and when
# it ran before.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
# shellcheck source=tests/e2e/recording.sh
. tests/e2e/recording.sh || exit
need_bpf
need_program ruby3.1 ruby3.1

rounds=9
ruby=(ruby3.1 --disable-gems)

said() { # said NAME WHAT
	sed -n "s/^$2=//p" "$tmp/$1/said"
}

as_many_as_said() { # as_many_as_said NAME
	local ours="(.tag | startswith(\"feature=$tmp/$1/\"))"
	same requires "$(spans_of "$1" require "$ours and (.tag | test(\"/(outer|inner)[0-9]+\$\"))")" "$(said "$1" requires)" &&
		same "requires of what others require" "$(spans_of "$1" require "$ours and (.tag | test(\"/inner[0-9]+\$\"))")" "$(said "$1" inner)" &&
		same "files that were parsed" "$(spans_of "$1" parse ".tag | test(\"file=$tmp/$1/(outer|inner)[0-9]+.rb\$\")")" $((2 * rounds)) &&
		same "requires of what is not there" "$(spans_of "$1" require ".tag == \"feature=$tmp/$1/nowhere\" and (.unfinished | not)")" "$(said "$1" missing)" &&
		same "requires that raised" "$(spans_of "$1" require ".tag == \"feature=$tmp/$1/raises\" and .unfinished")" "$(said "$1" raised)" &&
		same "unfinished spans" "$(jq -s 'map(select(.type == "span" and .unfinished)) | length' "$tmp/$1.txtrace.jsonl")" "$(said "$1" raised)" &&
		same loads "$(spans_of "$1" load ".tag == \"file=$tmp/$1/again.rb\"")" "$(said "$1" loads)" &&
		is_whole "$1"
}

# Collections that Ruby makes by itself while it waits for the tracer are not among those that it counts: they ended before the first require.
collections_as_said() { # collections_as_said NAME
	same collections "$(jq -s "map(select(.type == \"span\")) | (map(select(.tag == \"feature=$tmp/$1/outer0\") | .begin_ns) | min) as \$first |
		map(select(.label == \"gc-mark\" and .begin_ns > \$first)) | length" "$tmp/$1.txtrace.jsonl")" "$(said "$1" collections)"
}

launched() {
	mkdir "$tmp/launched"
	begin_recording launched --preset ruby -- "${ruby[@]}" $e2e/unmodified/answer.rb "$tmp/launched" $rounds || return
	wait_for 60 has_span launched load || fail "nothing is traced: $(cat "$tmp/launched.err")" || return
	touch "$tmp/launched/go"
	wait "$tracer" || fail "ended with $?: $(cat "$tmp/launched.err")" || return
	mv "$tmp/launched.err" "$tmp/launched/said"
	export_log "$tmp/launched.txtrace"
	as_many_as_said launched && collections_as_said launched
}

attached() {
	local program
	mkdir "$tmp/attached"
	"${ruby[@]}" $e2e/unmodified/answer.rb "$tmp/attached" $rounds >"$tmp/attached/said" &
	program=$!
	wait_for 60 test -e "$tmp/attached/raises.rb" || fail "the program does not run" || return
	"$recorder" --list $program >"$tmp/list" && grep -q -- ': --preset ruby$' "$tmp/list" || fail "it is not offered: $(cat "$tmp/list")" || return
	begin_recording attached --preset ruby -p $program || return
	touch "$tmp/attached/go"
	wait $program || fail "the program ended with $?" || return
	wait "$tracer" || fail "ended with $?: $(cat "$tmp/attached.err")" || return
	export_log "$tmp/attached.txtrace"
	as_many_as_said attached && collections_as_said attached
}

check "-p PID: requires, loads and collections" attached
check "-- COMMAND: requires, loads and collections" launched
finish
