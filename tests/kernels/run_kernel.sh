#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tests/kernels/run_kernel.sh NAME [--few | TEST...]
#
# Fetches the kernel NAME of kernels.table, builds the recorder for its architecture
# if it is another one, boots it and runs the tests of tests.table in it (--few:
# those for make check). Prints TAP, one case for each case in the guest. A kernel
# that cannot be fetched is skipped, with the reason. build/kernels/NAME/results has
# "TEST PASSED FAILED SKIPPED SECONDS" for each test, build/kernels/NAME/version the
# kernel's own version. With TESTs only these are run, and the other results are
# kept.
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

awk -v name="$name" -v results="$folder/results" -v version="$folder/version" -v booted=$booted -f tests/kernels/read_said.awk "$folder/said"

[ -z "$before" ] || awk 'NR == FNR { ran[$1]; next } !($1 in ran)' "$folder/results" - <<<"$before" >>"$folder/results"
