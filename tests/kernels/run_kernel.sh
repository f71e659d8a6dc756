#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tests/kernels/run_kernel.sh NAME [--few | TEST...]
#
# Fetches the kernel NAME of kernels.table, builds the recorder for its machine if that is not this one, boots it and runs the tests of tests.table inside (--few: those for make check). Prints TAP, one case for each
# case in the guest; a kernel that cannot be fetched is one that is skipped, with the reason. build/kernels/NAME/results keeps "TEST PASSED FAILED
# SKIPPED SECONDS" for each test, build/kernels/NAME/version what the kernel calls itself. With TESTs only these are run, and what is kept of the others stays.
set -u
cd "$(dirname "$0")/../.." || exit 1
name=${1:?which kernel}
folder=build/kernels/$name
mkdir -p build/kernels
some=("${@:2}")
if [ "${2:-}" = --few ]; then
	some=()
	export TXTRACE_FEW=1
fi
before=$(if [ ${#some[@]} -gt 0 ]; then cat "$folder/results"; fi 2>/dev/null)

if ! reason=$(tests/kernels/fetch.sh "$name" 2>&1 >/dev/null); then
	echo "ok 1 - kernel $name # SKIP kernels: $(echo "$reason" | tail -n 1)"
	echo "1..1"
	exit 0
fi
rm -f "$folder/results" "$folder/version"
if ! tests/kernels/cross_build.sh "$name" >"$folder/built" 2>&1; then
	echo "not ok 1 - $name: what runs in it is built"
	tail -n 20 "$folder/built" | sed 's/^/# /'
	echo "1..1"
	exit 1
fi
few=${2:-}
[ ${#some[@]} -gt 0 ] || mapfile -t some < <(awk -v few="$few" '!/^#/ && NF && (few == "" || $3 == "yes") { print $1 }' tests/kernels/tests.table)
tests/kernels/boot.sh "$name" "${some[@]}" >"$folder/said" 2>&1
booted=$?

awk -v name="$name" -v results="$folder/results" -v version="$folder/version" -v booted=$booted '
	/^.*@@ kernel / { sub(/^.*@@ kernel /, ""); print >version; next }
	/^@@ begin / { test = $3; passed = failed = skipped = planned = 0; next }
	/^@@ end / {
		if (planned != passed + failed + skipped) { failed++; print "not ok " ++n " - " name ": " test ": its plan says " planned " cases" }
		print test, passed, failed, skipped, $5 >results
		test = ""
		next
	}
	test == "" { next }
	/^1\.\.[0-9]+/ { split($1, ends, /\.\./); planned = ends[2]; next }
	/^(not )?ok / {
		word = $1 == "ok" ? "ok" : "not ok"
		if (/# SKIP/) skipped++; else if (word == "ok") passed++; else failed++
		line = $0; sub(/^(not )?ok [0-9]+ - /, "", line)
		short = test; sub(/.*\//, "", short)
		print word " " ++n " - " name ": " short ": " line
		next
	}
	/^#/ { print }
	END {
		if (booted != 0) { print "not ok " ++n " - " name ": the guest gets to its end"; if (test != "") print test, passed, failed + 1, skipped, 0 >results }
		print "1.." n + 0
	}' "$folder/said"

[ -z "$before" ] || awk 'NR == FNR { ran[$1]; next } !($1 in ran)' "$folder/results" - <<<"$before" >>"$folder/results"
