#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What programs that were built before rely on: the exported functions, the enumerators, the place and size of every member of every public struct.
# shellcheck source=tests/lib/library_test.sh
. "$(dirname "$0")/library_test.sh" || exit

held=tests/lib/abi.txt

interface() {
	declared | sed 's/^/function /' && python3 tests/lib/library_abi.py $library_headers >"$tmp/places.c" &&
		gcc -Iinclude -o "$tmp/places" "$tmp/places.c" && "$tmp/places"
}

is_the_same() {
	interface >"$tmp/abi" || return
	[ "${TXTRACE_UPDATE:-}" = 1 ] && cp "$tmp/abi" $held
	diff -u $held "$tmp/abi" && return
	cat <<-EOF
		The library's interface has changed. Fine: lines that were added (+ alone); a greater _COUNT; a greater size of a struct within
		txtrace_record, or of txtrace_log_info. Anything else, the sizes of txtrace_record and txtrace_batch above all, breaks programs that were built before: change it
		back, or raise ABI in the Makefile and say so in docs/library.md. Then: TXTRACE_UPDATE=1 tests/run tests/lib/library_abi.sh
	EOF
	return 1
}

if [ "$(uname -m)" = x86_64 ] || [ "$(uname -m)" = aarch64 ]; then
	check "functions, enumerators and structs are those of tests/lib/abi.txt" is_the_same
else
	skip "functions, enumerators and structs are those of tests/lib/abi.txt" "the places are those of 64-bit machines"
fi
finish
