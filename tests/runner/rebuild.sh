#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What make would rebuild after a change: everything that depends on the change, and
# nothing without a change. Asks `make -n`; changes no file.
set -u
export LC_ALL=C

number=0
check() { # check NAME STATUS
	number=$((number + 1))
	if [ "$2" = 0 ]; then echo "ok $number - $1"; else echo "not ok $number - $1"; fi
}

# would_make MAKE-ARGUMENT...: what it would make, one line each, in $made
would_make() {
	made=$(make -n V= "$@" 2>&1 | sed -n "s/^printf '  %-8s %s.n' //p")
}

# touches NAME FILE THING...: once FILE is newer, every THING is made anew
touches() {
	local thing is_right=0
	would_make -W "$2" all programs units
	for thing in "${@:3}"; do
		grep -qF -- "$thing" <<<"$made" || { is_right=1 && echo "# after a change of $2 it would not make $thing"; }
	done
	check "$1" $is_right
}

if ! make -q all programs units >/dev/null 2>&1; then
	echo "1..0 # SKIP the tree is not built"
	exit
fi

would_make all programs units
[ -z "$made" ]
check "nothing, when nothing has changed" $?

touches "a header: who includes it, directly or not" userspace/base/units.h "CC userspace/base/units.c" "CC userspace/base/options_parser.c" \
	"AR build/libpure.a" "LINK build/txtrace" "LINK build/txtrace-bpf" "UNIT build/unit/test_units"
touches "the wire: the BPF programs, their skeleton, the recorder" include/txtrace/event.h "BPF bpf/span.bpf.c" "SKEL build/gen/txtrace_bpf.skel.h" \
	"CC userspace/event/event_decode.c" "LINK build/txtrace-bpf"
touches "a header of the BPF programs" bpf/emit.h "BPF bpf/emit.bpf.c" "BPF bpf/span.bpf.c" "SKEL build/gen/txtrace_bpf.skel.h"
touches "the macros: the traced programs" include/txtrace.h "PROGRAM build/programs/bank" "PROGRAM build/programs/spin"
touches "a header of the traced programs" tests/programs/truth.h "PROGRAM build/programs/spin"
touches "a source: its object, the library, the programs" userspace/base/units.c "CC userspace/base/units.c" "AR build/libpure.a" "LINK build/txtrace"

would_make -W bpf/emit.h programs
[ -z "$made" ]
check "the traced programs know nothing of bpf/" $?

would_make OPTIMIZE=-O1 all
grep -qF "CC userspace/base/units.c" <<<"$made" && ! grep -q '^BPF' <<<"$made"
check "another flag: all that is compiled with it, and nothing else" $?

would_make SANITIZE=address all
grep -q "LINK build/sanitize-address/txtrace-bpf" <<<"$made" && ! grep -qE '^(BPF|SKEL)' <<<"$made"
check "a sanitizer: a folder of its own, which shares what is generated" $?

would_make V=1 all
[ -z "$made" ]
check "V=1 changes nothing" $?

echo "1..$number"
