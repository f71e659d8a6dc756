#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Where and how a test runs.
say() { # say NUMBER NAME STATUS
	if [ "$3" = 0 ]; then echo "ok $1 - $2"; else echo "not ok $1 - $2"; fi
}
[ -d "$TEST_TMPDIR" ] && [ -z "$(ls -A "$TEST_TMPDIR")" ]
say 1 "an empty folder of its own" $?
[ -e Makefile ] && [ -d tests ]
say 2 "from the root of the tree" $?
[ "$(readlink /proc/self/fd/0)" = /dev/null ]
say 3 "without stdin" $?
[ "$CMOCKA_MESSAGE_OUTPUT" = TAP ]
say 4 "cmocka prints TAP" $?
case $BUILD in /*/some/build) true ;; *) false ;; esac
say 5 "BUILD is absolute" $?
mask=$(awk '/^SigIgn/ { print $2 }' /proc/$$/status)
[ $((0x$mask & 0x7fffffff)) = 0 ] # 32 and up belong to the C library
say 6 "no signal is ignored" $?
echo "$TEST_TMPDIR" >"$FAKE_NOTES/tmpdir"
touch "$TEST_TMPDIR/file"
echo "# MEASURED 7 apples"
echo "1..6"
