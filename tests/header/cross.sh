#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# include/txtrace.h for aarch64: compiled as C and C++ by cross compilers, its notes and bytes read back, and run under qemu-user where that is installed.
# shellcheck source=tests/header/header_test.sh
. "$(dirname "$0")/header_test.sh" || exit

prefix=aarch64-linux-gnu-
if ! has ${prefix}gcc || ! has ${prefix}g++ || [ ! -e /usr/aarch64-linux-gnu/include/stdio.h ]; then
	skip "the macros for aarch64" "no cross compiler (packages gcc-aarch64-linux-gnu, g++-aarch64-linux-gnu, libc6-dev-arm64-cross)"
	finish
fi
emulator=$(command -v qemu-aarch64 || command -v qemu-aarch64-static)

build() { # build COMPILER FLAG...
	rm -f "$scratch/stories"
	local flags=(-static)
	case $1 in clang*) flags+=(--target=aarch64-linux-gnu) ;; esac # it finds the libraries of the GNU compiler
	build_stories "$1" "$scratch/stories" "${flags[@]}" "${@:2}"
}

expected_notes="begin 8@x0 8@x1 8@x2
begin_detached 8@x0 8@x1 8@x2
enter 8@x0
exit 8@x0
end 8@x0
tag 8@x0 8@x1
attr 8@x0 8@x1 8@x2 8@x3
event 8@x0 8@x1
counter 8@x0 -8@x1
link 8@x0 8@x1 8@x2
key_begin 8@x0 8@x1 8@x2
key_enter 8@x0 8@x1
key_exit 8@x0 8@x1
key_end 8@x0 8@x1
key_event 8@x0 8@x1 8@x2
ring 8@x0 8@x1 8@x2 8@x3 8@x4"

has_the_notes() {
	same "$expected_notes" "$(readelf -n "$scratch/stories" | awk '$1 == "Name:" { name = $2 } $1 == "Arguments:" { $1 = ""; print name $0 }')"
}

# Each probe is nop; ret; udf #number, at a multiple of 16.
has_exact_bytes() {
	local expected
	expected=$(for ((number = 1; number <= 16; number++)); do printf '0 d503201f d65f03c0 %08x\n' $number; done)
	same "$expected" "$(${prefix}objdump -d "$scratch/stories" | awk '
		/<txtrace_site_[a-z_]*>:$/ { line = substr($1, length($1)); left = 3; next }
		left > 0 { line = line " " $2; if (--left == 0) print line }' | sort -k4)"
}

run() {
	"$emulator" "$scratch/stories"
}

run_ids() { # run_ids C-COMPILER C++-COMPILER: threads and fork, in an executable, two libraries and a plugin
	local object
	for object in one two plugin; do
		"$1" -Iinclude -O2 -fPIC -DPART=${object}_a -c $here/id_part.c -o "$scratch/a.o" &&
			"$2" -x c++ -Iinclude -O2 -fPIC -DPART=${object}_b -c $here/id_part.c -o "$scratch/b.o" &&
			"$2" -shared "$scratch/a.o" "$scratch/b.o" -o "$scratch/lib$object.so" || return
	done
	# shellcheck disable=SC2086
	"$1" -std=gnu11 $warnings -Iinclude -O2 -DPART=program_a -c $here/id_part.c -o "$scratch/a.o" &&
		"$2" -x c++ -std=gnu++17 $warnings -Iinclude -O2 -DPART=program_b -c $here/id_part.c -o "$scratch/b.o" &&
		"$1" -std=gnu11 $warnings -Iinclude -O2 -c $here/id_objects.c -o "$scratch/ids.o" &&
		"$2" "$scratch/ids.o" "$scratch/a.o" "$scratch/b.o" "-L$scratch" -lone -ltwo "-Wl,-rpath,$scratch" -pthread -ldl -o "$scratch/ids" &&
		"$emulator" -L /usr/aarch64-linux-gnu "$scratch/ids" "$scratch/libplugin.so"
}

compiler_of_c[clang++]=clang
for compiler in ${prefix}gcc ${prefix}g++ clang clang++; do
	for optimize in -O0 -O2 "-O3 $(lto_flags $compiler)"; do
		name="$compiler $optimize for aarch64"
		# shellcheck disable=SC2086
		check "the stories are built by $name" build $compiler $optimize
		check "the notes are right with $name" has_the_notes
		check "the bytes are right with $name" has_exact_bytes
		if [ -n "$emulator" ]; then
			check "the macros are right with $name" run
		else
			skip "the macros are right with $name" "no emulator (package qemu-user)"
		fi
	done
done
if [ -n "$emulator" ]; then
	check "ids are unique over objects, threads and a fork on aarch64" run_ids ${prefix}gcc ${prefix}g++
else
	skip "ids are unique over objects, threads and a fork on aarch64" "no emulator (package qemu-user)"
fi

finish
