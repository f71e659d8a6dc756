#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# `make demo`, as a new user sees it; and what he sees where BPF is not to be had.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

says() { # says PATTERN...: what the demo printed
	local pattern
	for pattern; do
		grep -qE -- "$pattern" "$tmp/demo" || { cat "$tmp/demo" && fail "it does not say: $pattern" || return; }
	done
}

no_bank_runs() { # no_bank_runs FOLDER
	! pgrep -f "^build/programs/bank --directory $1"
}

tests/demo.sh 2 "$tmp/it" >"$tmp/demo" 2>&1
status=$?
succeeded() {
	[ $status = 0 ] || { cat "$tmp/demo" && return 1; }
}
check "it succeeds" succeeded
check "the report names the bank's transactions" says '^deposit ' '^transfer ' '^statement '
check "it says what was lost" says '[0-9] lost'
check "it says where the log lies and what to run next" says "The log is $tmp/it/bank.txtrace" "build/txtrace report $tmp/it/bank.txtrace"
check "the log can be read" "$reader" report "$tmp/it/bank.txtrace"
check "the bank has ended" no_bank_runs "$tmp/it"

# Root without a single capability, as in a container: whatever is not root's is closed to it.
bare=$(mktemp -d)
trap 'rm -rf "$bare"' EXIT
setpriv --bounding-set -all --inh-caps -all -- tests/demo.sh 2 "$bare" >"$tmp/demo" 2>&1 </dev/null
status=$?
not_possible() {
	[ $status != 0 ] || fail "it says that it succeeded" || return
	says '^txtrace-bpf: ' '^demo: the bank could not be traced here'
}
check "where BPF is not to be had it says so" not_possible
check "and the bank has ended there too" no_bank_runs "$bare"
finish
