#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The library in other ways to build it: for another machine, with link-time optimization. Each shows the functions of log.h and nothing else.
# shellcheck source=tests/lib/library_test.sh
. "$(dirname "$0")/library_test.sh" || exit

log=tests/golden/log-1.0-world-zstd.txtrace

build() { # build FOLDER MAKE-ARGUMENT...
	make --no-print-directory -j2 SHARED="$tmp/$1" OPTIMIZE=-O0 "${@:2}"
}

counts_right() { # counts_right COMPILER FLAG... -- LINK-FLAG...: the example, linked with it
	sed -n '/^```c$/,/^```$/{/^```/!p}' docs/library.md >"$tmp/where.c"
	"$@" -Iinclude "$tmp/where.c" -o "$tmp/where" -L"$folder" -ltxtrace -lzstd -llz4 || return
	[ "$(LD_LIBRARY_PATH=$folder "$tmp/where" $log | grep -c '^span ')" = 1 ]
}

shows() { # shows [NM]
	diff <(declared) <(visible "$folder/libtxtrace.a" "${1:-nm}")
}

with_lto() { # with_lto COMPILER VARIABLE...
	folder=$tmp/lto_$1
	build "lto_$1" lib CC="$1" CFLAGS=-flto "${@:2}" && shows && diff <(declared) <(nm -D --defined-only "$folder/libtxtrace.so" | awk '{ print $3 }' | sort) &&
		counts_right "$1"
}

for_aarch64() {
	folder=$tmp/aarch64
	# The headers of zstd and LZ4 are the same for every machine.
	build aarch64 "$folder/libtxtrace.a" CROSS_COMPILE=aarch64-linux-gnu- CPPFLAGS="-idirafter /usr/include -idirafter /usr/include/$(uname -m)-linux-gnu" &&
		shows aarch64-linux-gnu-nm
}

check "with gcc and link-time optimization" with_lto gcc
if has clang && has ld.lld; then
	check "with clang and link-time optimization" with_lto clang LDFLAGS=-fuse-ld=lld
else
	skip "with clang and link-time optimization" "there is no lld (package lld)"
fi
if has aarch64-linux-gnu-gcc && [ -e /usr/aarch64-linux-gnu/include/stdio.h ]; then
	check "for aarch64" for_aarch64
else
	skip "for aarch64" "no cross compiler (packages gcc-aarch64-linux-gnu, libc6-dev-arm64-cross)"
fi
finish
