#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Stories: NAME.stream is a recorded stream, written by hand, with the arithmetic of what must come out in its comments; NAME.expected is what must come
# out, without the header and without what is zero, empty or no.
#
#	tests/replay/replay.sh            tests all of them
#	tests/replay/replay.sh NAME       prints what comes out of one
cd "$(dirname "$0")/../.." || exit 1

replay=${BUILD:-build}/replay
tmp=${TEST_TMPDIR:-$(mktemp -d)}
number=0

squeeze() {
	sed -E '1d
		:first; s/"[a-z_0-9]+":(0|false|""|"0"|"0x0"|\{\}),//; t first
		:last; s/,"[a-z_0-9]+":(0|false|""|"0"|"0x0"|\{\})([]}])/\2/; t last
		s/\{"[a-z_0-9]+":(0|false|""|"0"|"0x0"|\{\})\}/{}/; t first'
}

case_is() { # case_is NAME STATUS
	number=$((number + 1))
	if [ "$2" = 0 ]; then echo "ok $number - $1"; else echo "not ok $number - $1"; fi
}

story() {
	"$replay" "tests/replay/$1.stream" >"$tmp/out" 2>"$tmp/err"
	local status=$?
	squeeze <"$tmp/out" >"$tmp/squeezed"
	[ $status = 0 ] && [ ! -s "$tmp/err" ] && diff -u "tests/replay/$1.expected" "$tmp/squeezed" | sed 's/^/# /' && cmp -s "tests/replay/$1.expected" "$tmp/squeezed"
	case_is "$1" $?
}

# Whatever a story tells, it must not tell of a bug of ours.
no_bug() {
	! grep -lE '"(clock_mismatch|imbalance)":(true|[1-9])' tests/replay/*.expected
	case_is "no story has a clock mismatch or an imbalance" $?
}

refused() { # refused NAME STREAM SENTENCE
	printf '%s' "$2" >"$tmp/bad.stream"
	"$replay" "$tmp/bad.stream" >"$tmp/out" 2>"$tmp/err"
	[ $? = 1 ] && [ "$(cat "$tmp/err")" = "replay: '$tmp/bad.stream': $3" ]
	case_is "$1" $?
}

if [ $# = 1 ]; then
	"$replay" "tests/replay/$1.stream" | squeeze
	exit "${PIPESTATUS[0]}"
fi
for stream in tests/replay/*.stream; do
	story "$(basename "$stream" .stream)"
done
no_bug
refused "a line that is no event is refused with its number" $'# hello\n1 begin 1/1 0 - id=x\n' "line 2: 'x' is no number up to 18446744073709551615"
refused "a stream that was cut off is refused" $'1 tag 1/1 0 - id=1 text="ab' "line 1: a string does not end"
echo "1..$number"
