#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The log names the files that threads waited for: the same names that the bank's descriptors have in /proc while it runs.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

# What it waits for on purpose: its journal, and the clearing house behind a pipe or socket.
has_both() {
	{ is_in_memory "$tmp" || grep -q 'reason=disk .*name=".*bank-journal-' "$tmp/objects"; } && grep -q 'reason=network .*name="unix"' "$tmp/objects"
}

# On a machine that is slow enough it may not come to wait for both in two seconds.
trace_bank() {
	local fd tries=0
	TMPDIR=$tmp "$programs/bank" --rate 800 --fsyncs 2 >"$tmp/bank.out" &
	bank=$!
	until [ $((tries += 1)) -gt 10 ]; do
		"$recorder" -q -d 2 -p $bank -o "$tmp/bank.$tries.txtrace" || return
		"$reader" dump -k object "$tmp/bank.$tries.txtrace" | grep -v reason=lock >"$tmp/objects" # futexes: code_stacks.sh
		! has_both || break
	done
	for fd in /proc/$bank/fd/*; do echo "$(basename "$fd") $(readlink "$fd")"; done >"$tmp/descriptors"
	kill $bank
	wait $bank
}

# Each name is that of the descriptor, or, of a socket, what it is.
names_are_right() {
	local fd name real
	[ -s "$tmp/objects" ] || fail "no object has a name" || return
	while read -r fd name; do
		real=$(sed -n "s/^$((fd)) //p" "$tmp/descriptors")
		case $real in
		socket:*) [ "$name" = unix ] ;;
		anon_inode:*) [ "$real" = "anon_inode:[$name]" ] ;;
		*) [ "$name" = "$real" ] ;;
		esac || fail "descriptor $((fd)) is $name in the log, and really $real" || return
	done < <(sed -E 's/.* object=(0x[0-9a-f]+) name="(.*)"/\1 \2/' "$tmp/objects")
}

names_are_there() {
	has_both || fail "$(cat "$tmp/objects" "$tmp/descriptors")"
}

check "the bank is traced" trace_bank
check "its descriptors have their names" names_are_right
check "what it waits for is named" names_are_there
finish
