#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The log names sockets as the program that has them does, however many there are, and in whatever network.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

has_told() {
	grep -q '^ready' "$tmp/told" || has_ended "$pid"
}

read_names() { # read_names LOG
	"$reader" dump -k object "$1" 2>/dev/null | python3 $e2e/socket_objects.py >"$tmp/found"
}

# Not all of them are looked at in the first round, lest the looks take long; while the recorder records, its log is read.
all_are_named() {
	has_ended "$recording" || { [ -s "$1" ] && read_names "$1" && [ "$(wc -l <"$tmp/found")" -ge "$(wc -l <"$tmp/wanted")" ]; }
}

# traced_names OPTION...: of the program, in $tmp/found, and in $tmp/wanted what it says itself
traced_names() {
	local status=0 log=$tmp/sockets.txtrace
	rm -f "$log"* "$tmp"/*.sock
	: >"$tmp/told"
	"$programs/sockets" "$@" >"$tmp/told" &
	pid=$!
	wait_for 60 has_told && runs $pid || fail "the program does not begin" || return
	grep -v '^ready' "$tmp/told" | sort -n >"$tmp/wanted"
	[ -s "$tmp/wanted" ] || fail "the program tells nothing" || return
	"$recorder" -q -o "$log" -p $pid &
	recording=$!
	wait_for 60 all_are_named "$log.partial"
	kill -TERM $recording
	wait $recording || status=$?
	kill -KILL $pid
	wait $pid 2>/dev/null
	[ $status = 0 ] || fail "txtrace-bpf ended with $status" || return
	read_names "$log"
}

names_hold() {
	traced_names "$@" || return
	diff "$tmp/wanted" "$tmp/found" || fail "the program's names, and the log's"
}

# One of many, which is behind the first mebibyte of the table.
crowd_holds() {
	names_hold --crowd 9000 && [ "$(wc -l <"$tmp/found")" = 1 ]
}

mkdir "$tmp/folder"
check "sockets have their names" names_hold --folder "$tmp/folder"
check "also in another network" names_hold --network 1
check "also the last of 9,000" crowd_holds
finish
