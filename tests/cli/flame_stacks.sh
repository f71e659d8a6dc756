#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The code below the spans of a flame graph: tests/cli/logs/stacks.txt says in its head how its figures come about.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

says() { # says TEXT COMMAND…: all of it
	local text=$1
	shift
	run 0 "$@" && diff <(echo "$text") "$tmp/out"
}

refuses_another_weight() {
	run 2 flame --stacks off-cpu --weight detached stacks.txtrace && grep -q 'leave --weight out' "$tmp/err"
}

says_that_there_are_none() {
	run 0 flame --folded --stacks off-cpu small.txtrace && grep -q 'no such stacks are in the log' "$tmp/err"
}

make_from stacks
make_from small
check "off-CPU: each stack what it weighs, and the rest has none; more than there is is shared" says 'pay;main;serve;read_[k] 300
pay;main;lock\x3bit 150
pay;(no stack) 50
pay;ask;main;serve;read_[k] 66
pay;ask;main;lock\x3bit 34' flame --folded --stacks off-cpu stacks.txtrace
check "on-CPU: samples share what the spans ran" says 'pay;main;spin_[i] 266
pay;main;parse 134
pay;ask;(no stack) 50' flame --folded --stacks on-cpu stacks.txtrace
check "without stacks it is as it was" says 'pay 500
pay;ask 100' flame --folded --weight blocked stacks.txtrace
check "another weight is refused" refuses_another_weight
check "a log without stacks" says_that_there_are_none
finish
