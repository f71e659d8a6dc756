#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The results of tests/run for tests with known results.
set -u

number=0
check() { # check NAME STATUS
	number=$((number + 1))
	if [ "$2" = 0 ]; then echo "ok $number - $1"; else echo "not ok $number - $1"; fi
}

export FAKE_NOTES=$TEST_TMPDIR
fakes=tests/runner/fake
unset TXTRACE_REQUIRE_BPF

# run NAME OPTION...: its output is in $out, its exit status in $status
run() {
	out=$(tests/run --build some/build --limit 2 "${@:2}" "$fakes/fake_$1.sh" 2>&1)
	status=$?
}

# expect FAKE STATUS "P passed, F failed, S skipped" [PATTERN...]: each pattern has to be in the output
expect() {
	local pattern found=0
	for pattern in "${@:4}"; do
		grep -qe "$pattern" <<<"$out" || found=1
	done
	[ $found = 0 ] && [ "$status" = "$2" ] && [ "$(tail -n 1 <<<"$out")" = "$3" ]
	local is_right=$?
	check "$1: $3" $is_right
	[ $is_right = 0 ] || { echo "exit status $status, output:"; echo "$out"; } | sed 's/^/# /'
}

one() { # one FAKE STATUS SUM [PATTERN...]
	run "$1"
	expect "$@"
}

one pass 0 "6 passed, 0 failed, 0 skipped" '^ok  .*fake_pass.sh  *6 cases ' '^     7 apples$'
one fail 1 "1 passed, 1 failed, 0 skipped" '^FAIL .*fake_fail.sh .* 2 cases .*1 failed' '| not ok 2 - wrong' '| # expected 4' '^failed:$' '^    not ok 2 - wrong$' '^        # expected 4$'
one exit_status 1 "1 passed, 1 failed, 0 skipped" 'problem: its exit status is 3' '! this went to stderr' '^    this went to stderr$'
one crash 1 "1 passed, 1 failed, 0 skipped" 'problem: it was killed by signal 11' '^FAIL .* 2 cases  *[0-9.]* s  *[0-9.]* s CPU, 1 failed$'
one hang 1 "1 passed, 1 failed, 0 skipped" 'problem: it ran longer than the limit of 2 s'
one silent 1 "0 passed, 1 failed, 0 skipped" 'problem: it printed no test case' '| hello'
one plan 1 "1 passed, 1 failed, 0 skipped" 'problem: its plan says 3 cases, it printed 1'
one bail_out 1 "1 passed, 1 failed, 0 skipped" 'problem: Bail out! no more disk'
one cmocka 0 "3 passed, 0 failed, 1 skipped" 'fake_cmocka.sh: needs_a_disk: there is no disk'
one skip_all 0 "0 passed, 0 failed, 1 skipped" '^skip ' 'fake_skip_all.sh: all: there is no disk'
one empty_plan 1 "0 passed, 1 failed, 0 skipped" 'problem: it printed no test case'
one bpf_skip_all 0 "0 passed, 0 failed, 1 skipped" 'fake_bpf_skip_all.sh: all: bpf: the kernel has no BTF'
one sanitizer 1 "1 passed, 1 failed, 0 skipped" 'problem: a sanitizer reported' '# ERROR: heap-use-after-free'
one unknown_command 1 "1 passed, 1 failed, 0 skipped" 'problem: bash did not find a command: fake_unknown_command.sh: smae: command not found'
one bpf_skip 0 "1 passed, 0 failed, 1 skipped" '^skipped:' 'fake_bpf_skip.sh: needs the kernel: bpf: not root'

out=$(TXTRACE_REQUIRE_BPF=1 tests/run "$fakes"/fake_{bpf_skip,bpf_skip_all,skip_all}.sh 2>&1)
status=$?
expect "with TXTRACE_REQUIRE_BPF" 1 "1 passed, 2 failed, 1 skipped" 'problem: skipped, but TXTRACE_REQUIRE_BPF=1: needs the kernel: bpf: not root' \
	'problem: skipped, but TXTRACE_REQUIRE_BPF=1: all: bpf: the kernel has no BTF'

# Somebody who is not root and has a sudo that asks for nothing: what would be skipped for want of BPF runs again.
mkdir "$TEST_TMPDIR/bin"
printf '#!/bin/sh\necho 1000\n' >"$TEST_TMPDIR/bin/id"
cat >"$TEST_TMPDIR/bin/sudo" <<'END'
#!/bin/sh
while case $1 in -*) true ;; *) false ;; esac; do shift; done
FAKE_ROOT=1 exec "$@"
END
chmod +x "$TEST_TMPDIR/bin/id" "$TEST_TMPDIR/bin/sudo"
out=$(PATH=$TEST_TMPDIR/bin:$PATH TXTRACE_REQUIRE_BPF=1 tests/run "$fakes"/fake_{bpf_skip,fail}.sh 2>&1)
status=$?
expect "with sudo" 1 "3 passed, 1 failed, 0 skipped" '^ok .*fake_bpf_skip.sh  *2 cases'

! [ -e "$(cat "$TEST_TMPDIR/tmpdir")" ]
check "the test's folder is removed" $?

one leftover 0 "1 passed, 0 failed, 0 skipped"
for _ in $(seq 50); do
	state=$(ps -o stat= -p "$(cat "$TEST_TMPDIR/leftover.pid")")
	case $state in '' | Z*) break ;; esac
	sleep 0.1
done
case $state in '' | Z*) true ;; *) false ;; esac
check "what the test left running is ended" $?

# A folder stands for its executables, in any number at a time, and the sums are appended to the file of totals.
echo "1 2 3" >"$TEST_TMPDIR/totals"
out=$(tests/run --build some/build --limit 2 --jobs 3 --totals "$TEST_TMPDIR/totals" "$fakes" 2>&1)
status=$?
expect "the whole folder" 1 "19 passed, 10 failed, 4 skipped"
[ "$(cat "$TEST_TMPDIR/totals")" = "1 2 3
19 10 4" ]
check "totals are appended" $?

# A test that fails once has failed, wherever it lies.
mkdir "$TEST_TMPDIR/e2e"
cat >"$TEST_TMPDIR/e2e/unlucky.sh" <<'END'
#!/bin/sh
echo run >>"$FAKE_NOTES/unlucky.runs"
[ "$(wc -l <"$FAKE_NOTES/unlucky.runs")" -gt 1 ] && echo "ok 1 - in time" || echo "not ok 1 - in time"
echo 1..1
END
chmod +x "$TEST_TMPDIR/e2e/unlucky.sh"
out=$(tests/run "$TEST_TMPDIR/e2e" 2>&1)
status=$?
expect "a kernel test that fails once" 1 "0 passed, 1 failed, 0 skipped" '^FAIL .*unlucky.sh .*1 failed' '| not ok 1 - in time'
[ "$(wc -l <"$TEST_TMPDIR/unlucky.runs")" = 1 ]
check "there is no second try" $?

# Who runs beside whom: each test notes when it begins and ends, and a test that runs beside another waits until it has met that one.
mkdir -p "$TEST_TMPDIR/lanes/e2e"
# lane_test PATH [COMMAND]
lane_test() {
	printf '#!/bin/sh\n%s\necho "begin %s" >>"$FAKE_NOTES/lanes.log"\n%s\necho "end %s" >>"$FAKE_NOTES/lanes.log"\necho "ok 1"\necho 1..1\n' \
		"${3:-}" "${1##*/}" "${2:-}" "${1##*/}" >"$TEST_TMPDIR/lanes/$1"
	chmod +x "$TEST_TMPDIR/lanes/$1"
}
meets() { # meets NAME: a command that waits until NAME has begun
	echo "until grep -q 'begin $1' \"\$FAKE_NOTES/lanes.log\"; do sleep 0.01; done"
}
lane_test plain_one "$(meets kernel_two)"
lane_test e2e/kernel_one "$(meets plain_one)"
lane_test e2e/kernel_two "$(meets kernel_one)"
lane_test e2e/by_itself "" "# runs alone: it says so"
out=$(tests/run --limit 60 --jobs 1 "$TEST_TMPDIR/lanes/e2e/by_itself" "$TEST_TMPDIR/lanes" "$TEST_TMPDIR/lanes/e2e/"kernel_* 2>&1)
status=$?
expect "kernel tests beside others" 0 "4 passed, 0 failed, 0 skipped"
[ "$(tail -n 2 "$TEST_TMPDIR/lanes.log")" = "begin by_itself
end by_itself" ]
check "a test that runs alone runs after the others" $?

# Tests of several builds in one run.
mkdir "$TEST_TMPDIR/builds"
printf '#!/bin/sh\necho "ok 1 - ${BUILD##*/}"\necho "# MEASURED in ${BUILD##*/}"\necho 1..1\n' >"$TEST_TMPDIR/builds/which.sh"
chmod +x "$TEST_TMPDIR/builds/which.sh"
out=$(tests/run --build some/one "$TEST_TMPDIR/builds" --build some/other "$TEST_TMPDIR/builds/which.sh" 2>&1)
status=$?
expect "two builds" 0 "2 passed, 0 failed, 0 skipped" '^     in one$' '^     in other$'

out=$(tests/run "$TEST_TMPDIR/no-such-test" 2>&1)
[ $? = 2 ] && grep -q "neither a folder nor an executable test" <<<"$out"
check "a test that is not there is an error" $?
mkdir "$TEST_TMPDIR/empty"
out=$(tests/run "$TEST_TMPDIR/empty" 2>&1)
[ $? = 2 ] && grep -q "there is no test in" <<<"$out"
check "a folder without tests is an error" $?

echo "1..$number"
