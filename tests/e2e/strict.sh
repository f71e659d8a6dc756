#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A program that may call nothing but read, write and exit marks its spans, and lives.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh
need_bpf

marks_and_lives() { # marks_and_lives NAME RECORDER-OPTION...
	local name=$1 status cnt
	shift
	"$recorder" -q "$@" -o "$tmp/$name.txtrace" -- "$programs/strict" --repeat 1000 --output "$tmp/$name.truth"
	status=$?
	[ $status = 0 ] || fail "the recorder, or the program, ended with $status" || return
	export_log "$tmp/$name.txtrace" || return
	cnt=$(grep '"type":"span"' "$tmp/$name.txtrace.jsonl" | grep -c '"label":"strict"')
	[ "$cnt" = 1000 ] || fail "$cnt spans, not 1000"
}

check "a thousand spans in the strict mode" marks_and_lives plain
check "and by the fastest probes" marks_and_lives fast --fast-probes
finish
