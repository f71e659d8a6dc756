#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The build uses gcc; clang has other eyes.
# takes long: 10 s of a CPU
# shellcheck source=tests/lint/lint.sh
. tests/lint/lint.sh || exit

warnings="-Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wshadow -Wvla -Wpointer-arith -Wwrite-strings"

# What clang warns of; a source of its own tells whether clang has read all sources before it.
canary=$TEST_TMPDIR/canary.c
echo 'static int canary;' >"$canary"

# clang_says FOLDERS INCLUDES: every source of the folders. Most of the time that clang takes for one source is
# its own start. So the compiler behind the driver gets 50 sources at once, the canary last. Where that does not
# work, the driver gets them one by one.
clang_says() {
	local file command options said
	# shellcheck disable=SC2206,SC2086 # lists of options
	options=(-std=gnu11 -D_GNU_SOURCE -DTXTRACE_VERSION='""' $warnings $2 -fsyntax-only -fno-caret-diagnostics)
	eval "command=($(clang '-###' "${options[@]}" "$canary" 2>&1 | tail -n 1))"
	files "$1" | xargs -n 50 | while read -r -a sources; do
		said=$("${command[@]:0:${#command[@]}-1}" "${sources[@]}" "$canary" 2>&1)
		if grep -qF "$canary:1:" <<<"$said"; then
			grep -vE "^$canary:1:|^[0-9]+ (warning|error).* generated\.$" <<<"$said"
			continue
		fi
		for file in "${sources[@]}"; do clang "${options[@]}" "$file"; done
	done
}

# The build is for one machine; what the BPF programs do for the other one has to compile, too.
other_machine() {
	local file target=arm64
	[ "$(uname -m)" = aarch64 ] && target=x86
	for file in bpf/*.bpf.c; do
		clang -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Wno-unused-parameter -D__TARGET_ARCH_$target -Iinclude -Ivmlinux -Ibpf \
			-idirafter "/usr/include/$(uname -m)-linux-gnu" -c -o /dev/null "$file"
	done
}

rule "the BPF programs compile for the other machine" other_machine
if [ -e "$BUILD/gen/txtrace_bpf.skel.h" ]; then
	rule "clang has nothing to say about userspace/" clang_says 'userspace/*.c' "-Iinclude -Iuserspace -I$BUILD/gen"
	rule "clang has nothing to say about the unit tests" clang_says 'tests/unit/*.c' "-Iinclude -Iuserspace -Itests -I$BUILD/gen"
else
	skip "clang has nothing to say about userspace/ and the unit tests" "the tree is not built"
fi
rule "clang has nothing to say about the traced programs" clang_says 'tests/programs/*.c' "-Iinclude"
finish
