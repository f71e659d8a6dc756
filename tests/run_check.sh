#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tests/run_check.sh [--fast]
#
# What `make check` runs once the set-up is done: the build, every test, then a build with each sanitizer and the tests that it suits. --fast: what
# needs neither the kernel nor a second build. Prints how long each stage took, and last the sum: N passed, N failed, N skipped. A build that fails
# is one failure; without the first one nothing can be tested, and it ends there.
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

# Of the named tests and folders, those that have a test.
with_tests() {
	local path
	for path; do
		if [ -n "$(find "$path" -maxdepth 1 -type f -perm -u+x ! -name '*.d' 2>/dev/null)" ]; then
			echo "$path"
		else
			echo "there is no test in $path" >&2
		fi
	done
}

run_tests() { # run_tests BUILD TEST|FOLDER...
	local build=$1 unit
	shift
	for unit in "$build"/unit/test_*; do # of a source that is gone
		[ -e "tests/unit/$(basename "${unit%.d}").c" ] || rm -f "$unit"
	done
	# shellcheck disable=SC2046 # a list of folders without blanks
	tests/run --build "$build" --totals "$totals" $(with_tests "$@")
}

# The unit tests of the modules that start threads, as binaries of build BUILD.
threaded_units() { # threaded_units BUILD
	grep -rl pthread_create userspace | cut -d/ -f2 | sort -u | while read -r folder; do
		grep -l "#include \"$folder/" tests/unit/test_*.c
	done | sort -u | sed "s|^tests/unit/\(.*\)\.c$|$1/unit/\1|"
}

build_all() { # build_all NAME MAKE-ARGUMENT...
	stage "$1" make --no-print-directory -j"$jobs" "${@:2}" && return
	echo "failed: $1" >&2
	echo "0 1 0" >>"$totals"
	return 1
}

check_fast() {
	build_all "build" all programs units &&
		stage "tests" run_tests build build/unit tests/replay tests/golden tests/cli tests/lint tests/runner \
			tests/lib/library_abi.sh tests/lib/library_install.sh
}

# shellcheck disable=SC2046 # threaded_units is a list of files without blanks
check() {
	local sanitized=build/sanitize-address-undefined threaded=build/sanitize-thread
	build_all "build" all programs units || return
	stage "tests" run_tests build build/unit tests/replay tests/golden tests/cli tests/lib tests/lint tests/runner tests/header tests/e2e
	stage "tests in an older kernel" tests/run --build build --limit 1500 --totals "$totals" tests/kernels/in_check
	build_all "build with SANITIZE=address,undefined" SANITIZE=address,undefined all units fuzzers &&
		stage "tests with SANITIZE=address,undefined" run_tests $sanitized $sanitized/unit $sanitized/fuzz tests/replay tests/cli
	[ -n "$(threaded_units $threaded)" ] && build_all "build with SANITIZE=thread" SANITIZE=thread $(threaded_units $threaded) &&
		stage "tests with SANITIZE=thread" run_tests $threaded $(threaded_units $threaded)
}

if [ "${1:-}" = --fast ]; then check_fast; else check; fi

echo "---- durations"
cat "$durations"
read -r passed failed skipped < <(awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }' "$totals")
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
