#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Ids are unique in a process: over an executable, two shared libraries and a plugin, all compiled in C and C++, over threads, after fork, and when signal
# handlers make ids while ids are made.
# shellcheck source=tests/header/header_test.sh
. "$(dirname "$0")/header_test.sh" || exit

part() { # part COMPILER NAME FLAG...: one translation unit
	local language=gnu11
	case $1 in *++) language=gnu++17 ;; esac
	# shellcheck disable=SC2086
	"$1" -x "${language_of[$language]}" -std=$language $warnings -Iinclude "${@:3}" "-DPART=$2" -c $here/id_part.c -o "$scratch/$2.o"
}
declare -A language_of=([gnu11]=c [gnu++17]=c++)

# One translation unit of each object is C, the other C++.
build_objects() { # build_objects C-COMPILER C++-COMPILER FLAG...
	local c=$1 cpp=$2 object
	shift 2
	for object in one two plugin; do
		part "$c" ${object}_a "$@" -fPIC && part "$cpp" ${object}_b "$@" -fPIC || return
		"$cpp" "$@" -shared "$scratch/${object}_a.o" "$scratch/${object}_b.o" -o "$scratch/lib$object.so" || return
	done
}

run_program() { # run_program C-COMPILER C++-COMPILER FLAG...: the executable, with the libraries that build_objects left, unless it is static
	local c=$1 cpp=$2 libraries="-L$scratch -lone -ltwo -Wl,-rpath,$scratch"
	shift 2
	case " $* " in *" -static "*) libraries=-DIS_STATIC ;; esac
	part "$c" program_a "$@" && part "$cpp" program_b "$@" || return
	# shellcheck disable=SC2086
	"$c" -std=gnu11 $warnings -Iinclude "$@" $libraries -c $here/id_objects.c -o "$scratch/program.o" &&
		"$cpp" $warnings "$@" "$scratch/program.o" "$scratch/program_a.o" "$scratch/program_b.o" $libraries -pthread -ldl -o "$scratch/program" &&
		"$scratch/program" "$scratch/libplugin.so"
}

for compilers in "gcc g++" "clang clang++"; do
	for optimize in -O0 -O2 "-O3 $(lto_flags "${compilers% *}")"; do
		name="with $compilers $optimize"
		if [ "$optimize" = "-O3 " ]; then
			skip "ids are unique $name" "clang finds no linker that can do -flto (package lld)"
			continue
		fi
		# shellcheck disable=SC2086
		check "shared libraries and a plugin are built $name" build_objects $compilers $optimize
		for link in "-fPIE -pie" "-fno-pie -no-pie" "-fno-pie -static"; do
			# shellcheck disable=SC2086
			check "ids are unique $name $link" run_program $compilers $optimize $link
		done
	done
done

sanitized() { # sanitized C-COMPILER C++-COMPILER SANITIZERS
	build_objects "$1" "$2" -O1 -g "-fsanitize=$3" && run_program "$1" "$2" -O1 -g "-fsanitize=$3"
}

for compilers in "gcc g++" "clang clang++"; do
	for sanitizers in thread address,undefined; do
		name="ids are unique, and $sanitizers finds nothing with $compilers"
		if can_link "${compilers% *}" -fsanitize=$sanitizers; then
			# shellcheck disable=SC2086
			check "$name" sanitized $compilers $sanitizers
		else
			skip "$name" "${compilers% *} has no such sanitizer here (package libclang-rt-dev)"
		fi
	done
done

interrupted() { # interrupted COMPILER FLAG...
	# shellcheck disable=SC2086
	"$1" -std=gnu11 $warnings -Iinclude "${@:2}" $here/id_signals.c -o "$scratch/id_signals" -pthread && "$scratch/id_signals"
}

for compiler in gcc clang; do
	for optimize in -O0 -O2; do
		name="a signal handler between any two instructions takes no id twice with $compiler $optimize"
		if [ "$(uname -m)" = x86_64 ]; then
			check "$name" interrupted $compiler $optimize
		else
			skip "$name" "it needs the trap flag of x86-64"
		fi
	done
done

finish
