#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# include/txtrace.h, compiled in every way that it promises, without a warning, and run: are the stories of the macros true?
# shellcheck source=tests/header/header_test.sh
. "$(dirname "$0")/header_test.sh"

build_and_run() { # build_and_run COMPILER FLAG...
	build_stories "$1" "$scratch/stories" "${@:2}" && "$scratch/stories"
}

for compiler in gcc clang g++ clang++; do
	for optimize in -O0 -O2 "-O3 $(lto_flags $compiler)"; do
		for link in "-fPIE -pie" "-fno-pie -no-pie" "-fno-pie -static"; do
			name="the macros are right with $compiler $optimize $link"
			if [ "$optimize" = "-O3 " ]; then
				skip "$name" "$compiler finds no linker that can do -flto (package lld)"
			else
				# shellcheck disable=SC2086 # lists of flags
				check "$name" build_and_run $compiler $optimize $link
			fi
		done
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
