#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# tests/setup/install.sh where nothing can be installed: a missing need of the build
# is an error, one that only some tests have is not.
set -u
number=0
tools=$TEST_TMPDIR/bin

check() { # check NAME COMMAND...
	local name=$1
	shift
	number=$((number + 1))
	if "$@" >"$TEST_TMPDIR/said" 2>&1; then
		echo "ok $number - $name"
	else
		echo "not ok $number - $name"
		sed 's/^/# /' "$TEST_TMPDIR/said"
	fi
}

# What the script calls, without apt-get and sudo.
make_tools() {
	local tool
	mkdir "$tools"
	for tool in sh awk cat dirname id uname; do ln -s "$(command -v $tool)" "$tools/$tool"; done
}

# set_up STATUS PATTERN ROW...: with these rows as the table; the pattern is all that it says, or "" for nothing
set_up() {
	local wanted=$1 pattern=$2 status
	shift 2
	printf '%s\n' "$@" >"$TEST_TMPDIR/table"
	PATH=$tools TOOLS_TABLE=$TEST_TMPDIR/table tests/setup/install.sh check >"$TEST_TMPDIR/out" 2>&1 </dev/null
	status=$?
	cat "$TEST_TMPDIR/out"
	[ $status = "$wanted" ] || return
	if [ -z "$pattern" ]; then [ ! -s "$TEST_TMPDIR/out" ]; else grep -q "$pattern" "$TEST_TMPDIR/out"; fi
}

is_here="command sh dash build"
needed="command no-such-tool no-such-package build"
wanted="command no-such-toy no-such-toys check?"

make_tools
check "nothing is missing: nothing is said" set_up 0 "" "$is_here"
check "what is needed cannot be installed" set_up 1 "cannot install anything: .*no apt-get; .*no-such-tool" "$is_here" "$needed" "$wanted"
check "what only some tests want cannot be installed" set_up 0 "nothing can be installed: .*no-such-toy.*will be skipped" "$is_here" "$wanted"
echo "1..$number"
