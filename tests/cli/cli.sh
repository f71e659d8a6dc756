# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Sourced by the tests of this folder: the program txtrace, on logs that make_log writes from a text (tests/cli/logs).
#
# A case is `check NAME COMMAND...`: it holds when the command succeeds; what the command printed is shown if it does not.
# TXTRACE_UPDATE=1 rewrites what expects() compares with; look at the difference before you commit it.

set -u
export LC_ALL=C
unset NO_COLOR
export TXTRACE_PAGER= # a terminal of a test has nobody who leaves a pager

tmp=$TEST_TMPDIR
txtrace=$BUILD/txtrace
make_log=$BUILD/cli/make_log
logs=$PWD/tests/cli/logs
expected=$PWD/tests/cli/expected
number=0

# check NAME COMMAND...
check() {
	local name=$1
	shift
	number=$((number + 1))
	if "$@" >"$tmp/said" 2>&1; then
		echo "ok $number - $name"
	else
		echo "not ok $number - $name"
		sed 's/^/# /' "$tmp/said" | cut -c 1-400 | head -n 60
	fi
}

skip() { # skip NAME REASON
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

finish() {
	echo "1..$number"
}

fail() {
	echo "$*"
	return 1
}

# make_from NAME [CODEC]: $tmp/NAME.txtrace from tests/cli/logs/NAME.txt
make_from() {
	"$make_log" "$tmp/$1.txtrace" "${2:-zstd}" <"$logs/$1.txt"
}

# run STATUS ARGUMENT...: runs txtrace in $tmp, into $tmp/out and $tmp/err
run() {
	local wanted=$1 status
	shift
	(cd "$tmp" && "$txtrace" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null)
	status=$?
	[ $status = "$wanted" ] || fail "the status is $status, not $wanted: $(cat "$tmp/err")"
}

same() { # same FILE EXPECTED-FILE
	if [ "${TXTRACE_UPDATE:-}" = 1 ]; then
		cp "$1" "$2"
	fi
	diff -u "$2" "$1"
}

# expects NAME STATUS ARGUMENT...: stdout is tests/cli/expected/NAME.txt; stderr is NAME.err there, or empty
expects() {
	local name=$1
	shift
	run "$@" || return
	same "$tmp/out" "$expected/$name.txt" || return
	if [ -s "$tmp/err" ] || [ -e "$expected/$name.err" ]; then
		same "$tmp/err" "$expected/$name.err"
	fi
}

# complains SENTENCE ARGUMENT...: status 2, nothing on stdout, and exactly this on stderr
complains() {
	local sentence=$1
	shift
	run 2 "$@" || return
	[ ! -s "$tmp/out" ] || fail "it printed: $(head -n 3 "$tmp/out")" || return
	[ "$(cat "$tmp/err")" = "txtrace: $sentence" ] || fail "it said: $(cat "$tmp/err")"
}
