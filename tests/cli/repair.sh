#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What is good of a log comes out whole and with an index; what is gone stays known to be gone.
# takes long: 6 s of a CPU
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

make_from sound
"$make_log" "$tmp/plain.txtrace" none <"$logs/sound.txt"
sed 's/^summary.*/abort/' "$logs/sound.txt" | "$make_log" "$tmp/crashed.txtrace" none

# blocks FILE: offset, length, sequence of each block, as they stand behind the header
blocks() {
	python3 -c '
import struct, sys
data = open(sys.argv[1], "rb").read()
at = struct.unpack_from("<I", data, 12)[0]
while data[at:at + 8] == b"\xf5\xc3TXB\x9a\x00\xff":
	header, stored = struct.unpack_from("<II", data, at + 12)
	print(at, header + stored, struct.unpack_from("<Q", data, at + 32)[0])
	at += header + stored' "$1"
}

bite() { # bite OFFSET: plain.txtrace with another byte there, as bitten.txtrace
	cp "$tmp/plain.txtrace" "$tmp/bitten.txtrace"
	printf '\xee' | dd of="$tmp/bitten.txtrace" bs=1 seek="$1" conv=notrunc status=none
}

nth() { # nth BLOCK FIELD: of plain.txtrace
	blocks "$tmp/plain.txtrace" | sed -n "$1p" | cut -d' ' -f"$2"
}

problems() { # problems FILE: which checks of verify find something, and how much
	(cd "$tmp" && "$txtrace" verify --json "$1") | jq -r '[.checks | to_entries[] | select(.value.problems > 0 and .value.excuse == null) | "\(.key) \(.value.problems)"] | join(" ")'
}

kinds() { # of what was dumped
	cut -d' ' -f1 "$tmp/out" | tr '\n' ' '
}

whole() { # whole NAME
	run 0 repair -o repaired.txtrace "$1.txtrace" && [ ! -s "$tmp/err" ] || fail "it said: $(cat "$tmp/err")" || return
	grep -q "^18 records in 4 batches, .*, are in 'repaired.txtrace'$" "$tmp/out" || fail "it printed: $(cat "$tmp/out")" || return
	run 0 dump "$1.txtrace" && cp "$tmp/out" "$tmp/before" && run 0 dump repaired.txtrace && diff "$tmp/before" "$tmp/out" && run 0 verify repaired.txtrace || return
	run 0 info --json "$1.txtrace" && jq .capture "$tmp/out" >"$tmp/before" && run 0 info --json repaired.txtrace && jq .capture "$tmp/out" | diff "$tmp/before" -
}

# The name that the recorder would have given it; what it left stays as it is.
killed_recorder() {
	cp "$tmp/crashed.txtrace.partial" "$tmp/before"
	run 1 repair -o crashed.txtrace crashed.txtrace.partial || return
	[ "$(cat "$tmp/err")" = "txtrace: 'crashed.txtrace.partial' has no summary: recording did not end cleanly, or is still going on, and its end is missing" ] ||
		fail "it said: $(cat "$tmp/err")" || return
	cmp "$tmp/before" "$tmp/crashed.txtrace.partial" && [ "$(find "$tmp" -name 'crashed*' | wc -l)" = 2 ] || fail "$(ls "$tmp")" || return
	[ "$(problems crashed.txtrace.partial)" = "index 1 summary 1" ] || fail "$(problems crashed.txtrace.partial)" || return
	[ "$(problems crashed.txtrace)" = "summary 1" ] || fail "$(problems crashed.txtrace)" || return
	run 1 report crashed.txtrace && grep -q '0 lost as far as the log goes: it was not closed' "$tmp/out" || fail "a summary was made up" || return
	run 1 info --json crashed.txtrace && [ "$(jq .complete "$tmp/out")" = false ]
}

# A wrong byte in the second batch: the others are there byte by byte, and its place is free.
damaged_batch() {
	bite $(($(nth 2 1) + $(nth 2 2) - 3))
	run 1 repair -o repaired.txtrace bitten.txtrace || return
	grep -q "^txtrace: 'repaired.txtrace' lacks batches in 1 place: its readers report that$" "$tmp/err" || fail "it said: $(cat "$tmp/err")" || return
	[ "$(blocks "$tmp/repaired.txtrace" | cut -d' ' -f3 | tr '\n' ' ')" = "0 2 3 4 " ] || fail "$(blocks "$tmp/repaired.txtrace")" || return
	cmp <(blocks_without "$tmp/plain.txtrace" 1 3 4) <(blocks_without "$tmp/repaired.txtrace" 1 2 3) || return
	run 1 dump repaired.txtrace && [ "$(kinds)" = "thread thread damage run instant counter link span attribute span thread span summary " ] || fail "$(kinds)" || return
	[ "$(problems repaired.txtrace)" = "damage 1" ] || fail "$(problems repaired.txtrace)"
}

blocks_without() { # blocks_without FILE N...: the payloads of these blocks
	local file=$1 n at length
	shift
	for n; do
		read -r at length _ < <(blocks "$file" | sed -n "${n}p")
		tail -c +$((at + 93)) "$file" | head -c $((length - 92))
	done
}

# What the header said is gone, but for what the batches say as well.
damaged_header() {
	bite 80
	run 1 repair -o repaired.txtrace bitten.txtrace && run 0 info --json repaired.txtrace || return
	jq -e '.capture | .capture_id == "63617074757265204100000000000000" and .start_monotonic_ns == 1000000000 and .start_realtime_ns == 1763725200000000000 and
		.host == "" and .pid == 0' "$tmp/out" >/dev/null || fail "$(jq -c .capture "$tmp/out")" || return
	run 0 dump repaired.txtrace && [ "$(wc -l <"$tmp/out")" = 18 ] && run 0 verify repaired.txtrace
}

damaged_index() {
	bite $(($(nth 5 1) + 10))
	run 1 repair -o repaired.txtrace bitten.txtrace && run 0 verify repaired.txtrace && run 0 dump repaired.txtrace && [ "$(wc -l <"$tmp/out")" = 18 ]
}

# Bytes between two batches cost nothing.
inserted_bytes() {
	{ head -c "$(nth 3 1)" "$tmp/plain.txtrace" && echo "this is no batch" && tail -c +$(($(nth 3 1) + 1)) "$tmp/plain.txtrace"; } >"$tmp/longer.txtrace"
	run 1 repair -o repaired.txtrace longer.txtrace && run 0 verify repaired.txtrace && run 0 dump repaired.txtrace && [ "$(wc -l <"$tmp/out")" = 18 ]
}

# A batch that is not there at all leaves a gap in the sequence; that stays, also when it is repaired again.
missing_batch() {
	{ head -c "$(nth 3 1)" "$tmp/plain.txtrace" && tail -c +$(($(nth 4 1) + 1)) "$tmp/plain.txtrace"; } >"$tmp/shorter.txtrace"
	run 1 repair -o once.txtrace shorter.txtrace && run 1 repair -o twice.txtrace once.txtrace && cmp "$tmp/once.txtrace" "$tmp/twice.txtrace" || return
	run 1 dump twice.txtrace && [ "$(grep -c '^damage .* reason="batches are missing before this place"' "$tmp/out")" = 1 ] && [ "$(wc -l <"$tmp/out")" = 14 ] ||
		fail "$(cat "$tmp/out")"
}

# Wherever it is cut off or bitten: what comes out has an index, no damage but gaps, and every record is one of the log.
anywhere() { # anywhere STEP COMMAND
	local size at status
	run 0 dump plain.txtrace && sort "$tmp/out" >"$tmp/all"
	size=$(stat -c %s "$tmp/plain.txtrace")
	for ((at = 0; at < size; at += $1)); do
		case $2 in cut) head -c $at "$tmp/plain.txtrace" >"$tmp/bitten.txtrace" ;; bite) bite $at ;; esac
		rm -f "$tmp/repaired.txtrace"
		(cd "$tmp" && "$txtrace" repair -o repaired.txtrace bitten.txtrace >out 2>err)
		status=$?
		[ -e "$tmp/repaired.txtrace" ] || { [ $status = 2 ] && [ -s "$tmp/err" ] && continue; } || fail "$2 at $at: status $status" || return
		(cd "$tmp" && "$txtrace" dump repaired.txtrace >out 2>err)
		! grep '^damage' "$tmp/out" | grep -v 'length_bytes=0 record_cnt=0 reason="batches are missing before this place"$' || fail "$2 at $at" || return
		[ -z "$(grep -v '^damage' "$tmp/out" | sort | comm -23 - "$tmp/all")" ] || fail "$2 at $at: a wrong record" || return
		! problems repaired.txtrace | grep -E 'index|batches|balance|order' || fail "$2 at $at: not sound" || return
	done
}

nothing_to_repair() {
	head -c 200 "$tmp/plain.txtrace" >"$tmp/header.txtrace"
	printf '\xee' | dd of="$tmp/header.txtrace" bs=1 seek=80 conv=notrunc status=none
	run 2 repair -o x header.txtrace && [ ! -e "$tmp/x" ] &&
		[ "$(tail -n 1 "$tmp/err")" = "txtrace: can't repair 'header.txtrace' into 'x': there is nothing in it that can be read" ] || fail "it said: $(cat "$tmp/err")"
}

check "a whole log" whole sound
check "a whole log without compression" whole plain
check "the log of a recorder that was killed" killed_recorder
check "a damaged batch" damaged_batch
check "a damaged header" damaged_header
check "a damaged index" damaged_index
check "bytes that belong to nothing" inserted_bytes
check "a batch that is not there" missing_batch
check "a log that was cut off anywhere" anywhere 43 cut
check "a log that is damaged anywhere" anywhere 31 bite
check "a log of which nothing can be read" nothing_to_repair
finish
