#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tests/run_check.sh [--fast | --all]
#
# What `make check` runs once the set-up is done: a build, one with each
# sanitizer, then every test and, with a sanitizer, those that it suits, in one
# run of tests/run. --fast: what needs neither the kernel nor a second build, but
# for tests with a line `# takes long` among their first ten.
# --all: also what takes too long for every change, that is, every moment of
# attach_steps.sh, 200 and 100 killed recorders, tests/long and every kernel of tests/kernels. Prints how long each stage
# took and what is left of the limit, and last the sum: N passed, N failed,
# N skipped. A build that fails is one failure; without the first one nothing can
# be tested, and it ends there.
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

# Of the tests in these folders, those that do not say that they take long
short_tests() {
	local test
	find "$@" -maxdepth 1 -type f -perm -u+x | sort | while read -r test; do
		head -n 10 "$test" | grep -qa '^# takes long' || echo "$test"
	done
}

# Unit tests of sources that are gone
remove_old_units() { # remove_old_units BUILD
	local unit
	for unit in "$1"/unit/test_*; do
		ls tests/unit/*/"$(basename "${unit%.d}").c" >/dev/null 2>&1 || rm -f "$unit"
	done
}

# Of the unit tests, which were built before, those with code that starts threads, as binaries of build BUILD: the
# others have no races for ThreadSanitizer to find. There are such tests, so an empty list is a failure.
threaded_units() { # threaded_units BUILD
	local unit names
	names=$(for unit in build/unit/test_*; do
		[ "${unit%.d}" = "$unit" ] && nm --undefined-only "$unit" | grep -q pthread_create && echo "${unit##*/}"
	done)
	[ -n "$names" ] || { echo "no unit test starts a thread, says nm: nothing can run under ThreadSanitizer" >&2 && return 1; }
	printf "$1/unit/%s\n" $names
}

build_all() { # build_all NAME MAKE-ARGUMENT...
	stage "$1" make --no-print-directory -j"$jobs" "${@:2}" && return
	echo "failed: $1" >&2
	echo "0 1 0" >>"$totals"
	return 1
}

# The limit of a test stands for "never": a busy machine needs longer than ours.
run_tests() { # run_tests TEST|FOLDER|--build FOLDER...
	tests/run --limit 1500 --jobs "$jobs" --totals "$totals" "$@"
}

check_fast() {
	build_all "build" all programs units || return
	remove_old_units build
	# shellcheck disable=SC2046 # a list of files and folders without blanks
	stage "tests" run_tests $(with_tests build/unit) $(short_tests tests/replay tests/golden tests/cli tests/lint tests/runner \
		tests/lib/library_abi.sh tests/lib/library_install.sh)
}

# The kernel in an emulator takes longest, so it begins first.
# shellcheck disable=SC2046,SC2086 # lists of files and folders without blanks
check() {
	local sanitized=build/sanitize-address-undefined threaded=build/sanitize-thread
	local under_address='' under_thread=''
	build_all "build" all programs units || return
	build_all "build with SANITIZE=address,undefined" SANITIZE=address,undefined all units fuzzers &&
		under_address="--build $sanitized $(with_tests $sanitized/unit $sanitized/fuzz tests/replay tests/cli)"
	build_all "build with SANITIZE=thread" SANITIZE=thread $(threaded_units $threaded) &&
		under_thread="--build $threaded $(threaded_units $threaded)"
	remove_old_units build
	remove_old_units $sanitized
	stage "tests" run_tests $(with_tests tests/kernels/in_check tests/header tests/lint tests/lib tests/cli tests/e2e build/unit tests/replay \
		tests/golden tests/runner) $under_address $under_thread
}

check_all() {
	export TXTRACE_ALL_STEPS=1 TXTRACE_KILLS=200
	check
	stage "an hour of growth" tests/run --limit 14400 --totals "$totals" tests/long
	stage "tests in other kernels" tests/kernels/all_kernels.sh || echo "0 1 0" >>"$totals"
}

case ${1:-} in
--fast) limit_s=60 && check_fast ;;
--all) limit_s='' && check_all ;;
*) limit_s=1200 && check ;;
esac

echo "---- durations"
cat "$durations"
if [ -n "$limit_s" ] && [ $SECONDS -le "$limit_s" ]; then
	printf '%6d s  in all, %d s less than the limit of %d s\n' $SECONDS $((limit_s - SECONDS)) "$limit_s"
elif [ -n "$limit_s" ]; then
	printf '%6d s  in all, %d s more than the limit of %d s for two idle cores\n' $SECONDS $((SECONDS - limit_s)) "$limit_s"
fi
read -r passed failed skipped < <(awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }' "$totals")
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
