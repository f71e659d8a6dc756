#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tests/run_check.sh [--fast]
#
# What `make check` runs once the set-up is done: the build, every test, then a build with each sanitizer and the tests that it suits. --fast: what
# needs neither the kernel nor a second build. Prints how long each stage took, and last the sum: N passed, N failed, N skipped. A sanitized build
# that fails is one failure; without the first build nothing can be tested, and it ends there.
set -u
cd "$(dirname "$0")/.." || exit 1

jobs=${JOBS:-2}
totals=$(mktemp) || exit 1
durations=$(mktemp) || exit 1
trap 'rm -f "$totals" "$durations"' EXIT

stage() { # stage NAME COMMAND...
	local name=$1 begin=$SECONDS status
	shift
	echo "---- $name"
	"$@"
	status=$?
	printf '%6d s  %s\n' $((SECONDS - begin)) "$name" >>"$durations"
	return $status
}

# The folders among the named ones that have tests by now.
with_tests() {
	local folder
	for folder; do
		[ -z "$(find "$folder" -maxdepth 1 -type f -perm -u+x ! -name '*.d' 2>/dev/null)" ] || echo "$folder"
	done
}

run_tests() { # run_tests BUILD FOLDER...
	local build=$1 unit
	shift
	for unit in "$build"/unit/test_*; do # of a source that is gone
		[ -e "tests/unit/$(basename "${unit%.d}").c" ] || rm -f "$unit"
	done
	# shellcheck disable=SC2046 # a list of folders without blanks
	tests/run --build "$build" --totals "$totals" $(with_tests "$@")
}

check_sanitized() { # check_sanitized SANITIZERS FOLDER...
	local sanitizers=$1 build=build/sanitize-${1//,/-}
	shift
	if stage "build with SANITIZE=$sanitizers" make -j"$jobs" "SANITIZE=$sanitizers" all units; then
		stage "tests with SANITIZE=$sanitizers" run_tests "$build" "$build/unit" "$@"
	else
		echo "the build with SANITIZE=$sanitizers failed" >&2
		echo "0 1 0" >>"$totals"
	fi
}

stage build make -j"$jobs" all programs units || exit 1

if [ "${1:-}" = --fast ]; then
	stage tests run_tests build build/unit tests/replay tests/golden tests/cli tests/lint tests/runner
else
	stage tests run_tests build build/unit tests/replay tests/golden tests/cli tests/lint tests/runner tests/header tests/e2e
	check_sanitized address,undefined tests/replay tests/cli
	if grep -rq pthread_create userspace; then
		check_sanitized thread
	fi
fi

echo "---- durations"
cat "$durations"
read -r passed failed skipped < <(awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }' "$totals")
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
