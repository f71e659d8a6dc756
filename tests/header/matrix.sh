#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# include/txtrace.h, compiled in every way that it promises, without a warning, and run: are the stories of the macros true?
# shellcheck source=tests/header/header_test.sh
. "$(dirname "$0")/header_test.sh" || exit

link_and_run() { # link_and_run COMPILER FLAG...
	link_stories "$1" "$scratch/stories" "${@:2}" && "$scratch/stories"
}

build_and_run() { # build_and_run COMPILER FLAG...
	compile_stories "$@" && link_and_run "$@"
}

for compiler in gcc clang g++ clang++; do
	for optimize in -O0 -O2 "-O3 $(lto_flags $compiler)"; do
		if [ "$optimize" = "-O3 " ]; then
			skip "the macros are right with $compiler -O3 -flto" "$compiler finds no linker that can do it (package lld)"
			continue
		fi
		# shellcheck disable=SC2086 # lists of flags
		{
			check "the macros are right with $compiler $optimize -pie" build_and_run $compiler $optimize -fPIE -pie
			check "the macros are right with $compiler $optimize -no-pie" build_and_run $compiler $optimize -fno-pie -no-pie
			check "the macros are right with $compiler $optimize -static" link_and_run $compiler $optimize -fno-pie -static
		}
	done
done

for compiler in gcc clang g++ clang++; do
	name="the macros are right with $compiler and the address and undefined behaviour sanitizers"
	if can_link $compiler -fsanitize=address,undefined; then
		check "$name" build_and_run $compiler -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
	else
		skip "$name" "$compiler has no sanitizers here (package libclang-rt-dev)"
	fi
done

finish
