#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A stripped C++ program: its functions are traced and named in stacks by its debug file, which is found by build id; without that file nothing is guessed.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

command -v g++ >/dev/null && command -v objcopy >/dev/null || skip_all "no g++ or no objcopy"
[ -d /usr/lib/debug ] || skip_all "there is no /usr/lib/debug to mount over"
unshare --mount true 2>/dev/null || skip_all "no mount namespace can be made here"

source=$e2e/unmodified/orders.cc
g++ -O1 -g -Wl,--build-id=sha1 -o "$tmp/orders" $source || exit 1
id=$(readelf -n "$tmp/orders" | sed -n 's/.*Build ID: //p')
mkdir -p "$tmp/none" "$tmp/debug/.build-id/${id:0:2}" "$tmp/other/.build-id/${id:0:2}"
objcopy --only-keep-debug "$tmp/orders" "$tmp/debug/.build-id/${id:0:2}/${id:2}.debug" || exit 1
strip --strip-all "$tmp/orders"
head -c 5000 /dev/urandom >"$tmp/other/.build-id/${id:0:2}/${id:2}.debug"

# with_debug FOLDER COMMAND...: with this folder as /usr/lib/debug
with_debug() {
	unshare --mount --propagation private sh -c 'mount --bind "$0" /usr/lib/debug && exec "$@"' "$@"
}

has_been_paid() {
	[ "$(grep -cs 'shop::Cart::pay' "$tmp/$1.stream")" -ge 20 ] || has_ended "$2"
}

# records NAME FOLDER OPTION...: the program, which lives until the recorder has taken its last event, so that its maps could be read
records() {
	local name=$1 folder=$2 tracer
	shift 2
	with_debug "$folder" "$recorder" -o "$tmp/$name.txtrace" --stream "$tmp/$name.stream" "$@" -- "$tmp/orders" "$tmp/$name.go" >"$tmp/$name.out" 2>"$tmp/$name.said" &
	tracer=$!
	wait_for 200 has_been_paid "$name" $tracer
	touch "$tmp/$name.go"
	wait $tracer || fail "it ended with $?: $(cat "$tmp/$name.said")" || return
	export_log "$tmp/$name.txtrace"
}

# Each call of both, the one within the other.
functions_are_traced() {
	records functions "$tmp/debug" --func 'orders:shop::Cart::pay' --func 'orders:shop::order<int>' || return
	jq -cs '[.[] | select(.type == "span")] | (map({(.id | tostring): .label}) | add) as $of |
		map([.label, $of[.parent | tostring]]) | group_by(.) | map(.[0] + [length])' "$tmp/functions.txtrace.jsonl" >"$tmp/calls"
	[ "$(cat "$tmp/calls")" = '[["shop::Cart::pay","shop::order<int>",20],["shop::order<int>",null,20]]' ] || fail "$(cat "$tmp/calls")"
}

# The stack of a nap.
stacks_are_named() {
	records stacks "$tmp/debug" --stacks off-cpu --func 'orders:shop::Cart::pay' --func-returns exits || return
	"$reader" flame --folded --stacks off-cpu "$tmp/stacks.txtrace" >"$tmp/folded" || return
	grep -q ';main;int shop::order<int>(shop::Cart&, int);shop::Cart::pay(long);[^ ]*nanosleep' "$tmp/folded" || fail "$(cat "$tmp/folded")"
}

# without NAME FOLDER: no function of the program is known
without() {
	with_debug "$2" "$recorder" -q -o "$tmp/$1.txtrace" --func 'orders:shop::Cart::pay' -- "$tmp/orders" >"$tmp/$1.said" 2>&1
	grep -q "'orders:shop::Cart::pay': nothing that is mapped has it; the file is stripped, .*: install its debug symbols" "$tmp/$1.said" || fail "$(cat "$tmp/$1.said")"
}

check "functions of a stripped program are traced by the names of its debug file" functions_are_traced
check "its stacks are named by it, inwards from main" stacks_are_named
check "without a debug file it is said that the program is stripped" without none "$tmp/none"
check "a debug file that is none changes nothing" without other "$tmp/other"
finish
