#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The same records, the same header, another compression.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

make_from sound
make_from small
make_from export

codec_of() { # codec_of FILE: of its first batch, which follows the header
	python3 -c '
import struct, sys
data = open(sys.argv[1], "rb").read()
print(["none", "zstd", "lz4"][data[struct.unpack_from("<I", data, 12)[0] + 10]])' "$tmp/$1"
}

same_header() { # same_header FILE FILE
	local file
	for file in "$1" "$2"; do
		run 0 info --json "$file" || return
		jq 'del(.file, .file_bytes)' "$tmp/out" >"$tmp/info.$file"
	done
	diff "$tmp/info.$1" "$tmp/info.$2"
}

equal() { # equal NAME CODEC
	run 0 recompress --codec "$2" -o "again.txtrace" "$1.txtrace" || return
	[ ! -s "$tmp/err" ] || fail "it said: $(cat "$tmp/err")" || return
	grep -qE "^([0-9]+) of \\1 records, [0-9.,]+ K?i?B, are in 'again.txtrace'$" "$tmp/out" || fail "it printed: $(cat "$tmp/out")" || return
	[ "$(codec_of again.txtrace)" = "$2" ] || fail "the codec is $(codec_of again.txtrace)" || return
	run 0 dump "$1.txtrace" && cp "$tmp/out" "$tmp/before" && run 0 dump again.txtrace && diff "$tmp/before" "$tmp/out" && same_header "$1.txtrace" again.txtrace
}

by_default() {
	run 0 recompress -o again.txtrace sound.txtrace && [ "$(codec_of again.txtrace)" = zstd ]
}

# A log that was flushed after each record becomes one batch.
flushed_often() {
	sed '/^[a-z]/a flush' "$logs/small.txt" | sed '/^header/{n;d}' | "$make_log" "$tmp/often.txtrace" &&
		run 0 recompress -o again.txtrace often.txtrace || return
	[ "$(stat -c %s "$tmp/again.txtrace")" -lt $(($(stat -c %s "$tmp/often.txtrace") / 2)) ] || fail "it is not smaller"
}

# What the second batch held is gone, and who reads the copy is told so.
damaged() {
	local at
	"$make_log" "$tmp/damaged.txtrace" none <"$logs/sound.txt"
	at=$(grep -abo commit "$tmp/damaged.txtrace" | head -n 1 | cut -d: -f1)
	printf '\xee' | dd of="$tmp/damaged.txtrace" bs=1 seek="$at" conv=notrunc status=none
	run 1 recompress -o again.txtrace damaged.txtrace || return
	grep -q "^txtrace: 'damaged.txtrace' is damaged at byte .* with 6 records are skipped$" "$tmp/err" || fail "it said: $(cat "$tmp/err")" || return
	grep -q "^12 of 12 records" "$tmp/out" || fail "it printed: $(cat "$tmp/out")" || return
	run 1 dump again.txtrace && [ "$(cut -d' ' -f1 "$tmp/out" | tr '\n' ' ')" = \
		"thread thread damage run instant counter link span attribute span thread span summary " ] || fail "$(cut -d' ' -f1 "$tmp/out")"
}

crashed() {
	sed 's/^summary.*/abort/' "$logs/sound.txt" | "$make_log" "$tmp/crashed.txtrace"
	run 1 recompress -o again.txtrace crashed.txtrace.partial && grep -q "has no summary" "$tmp/err" && run 1 dump again.txtrace &&
		[ "$(wc -l <"$tmp/out")" = 17 ]
}

for codec in none zstd lz4; do
	check "$codec: a log with nothing special" equal sound $codec
	check "$codec: a log with every kind of record" equal small $codec
	check "$codec: a log with strings that are no text" equal export $codec
done
check "zstd by default" by_default
check "a log that was flushed often becomes smaller" flushed_often
check "a damaged log: what is good, and a sign where something is missing" damaged
check "the log of a recorder that was killed" crashed
check "a codec that is nearly right" complains "option '--codec' does not know 'zst', did you mean 'zstd'?" recompress -c zst -o x sound.txtrace
finish
