#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# No string of the log is left, equal ones stay equal, and every number is as it was.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

make_from sound
make_from small
make_from export

# Python: base32 of the first 60 bits of hmac.new(b"secret", string, "sha256"); tags by their parts.
expected_dump() {
	run 0 dump sound.txtrace && python3 -c '
import base64, hashlib, hmac, re, sys
def pseudonym(text):
	return base64.b32encode(hmac.new(b"secret", text.encode(), hashlib.sha256).digest())[:12].decode().lower() if text else ""
def tag(text):
	return ",".join("=".join(map(pseudonym, part.split("=", 1))) for part in text.split(","))
for line in sys.stdin:
	sys.stdout.write(re.sub(r"(\w+)=\"([^\"]*)\"", lambda m: "%s=\"%s\"" % (m[1], (tag if m[1] == "tag" else pseudonym)(m[2])), line))' \
		<"$tmp/out" >"$tmp/expected"
}

by_known_answers() {
	expected_dump || return
	run 0 anonymize --salt secret -o anonymous.txtrace sound.txtrace && run 0 dump anonymous.txtrace && diff "$tmp/expected" "$tmp/out" || return
	grep -q 'label="[a-z2-7]\{12\}" tag="[a-z2-7]\{12\}=[a-z2-7]\{12\},[a-z2-7]\{12\}=[a-z2-7]\{12\}"' "$tmp/out" || fail "a tag has no structure"
}

# strings_of FILE: what is quoted in its dump but for the kinds of events that costs are of, and the strings of its header
strings_of() {
	run 0 dump "$1" && sed '/^cost /s/ event="[^"]*"//' "$tmp/out" | grep -oE '="([^"\\]|\\.)*"' | sed 's/^="//; s/"$//' | tr ',=' '\n\n'
	run 0 info --json "$1" && jq -r '.capture | .host, .command, .options, .capture_id, .boot_id' "$tmp/out"
}

nothing_is_left() { # nothing_is_left NAME
	strings_of "$1.txtrace" | sort -u | grep . >"$tmp/before"
	run 0 anonymize -o anonymous.txtrace "$1.txtrace" || return
	strings_of anonymous.txtrace | sort -u | grep . >"$tmp/after"
	[ -s "$tmp/before" ] && [ "$(wc -l <"$tmp/before")" = "$(wc -l <"$tmp/after")" ] || fail "$(paste "$tmp/before" "$tmp/after")" || return
	# An id that is all zero is unknown, and stays so.
	comm -12 "$tmp/before" "$tmp/after" | grep -v '^0*$' >"$tmp/common"
	[ ! -s "$tmp/common" ] || fail "these are left: $(cat "$tmp/common")" || return
	run 0 recompress --codec none -o plain.txtrace anonymous.txtrace && grep -E '^[A-Za-z0-9./_-]{4,}$' "$tmp/before" >"$tmp/words" || return
	! grep -aoF -f "$tmp/words" "$tmp/plain.txtrace" || fail "these are left in the file"
}

numbers_of() { # numbers_of FILE: its dump without the strings, its header without what is replaced
	run 0 dump "$1" && sed -E 's/="([^"\\]|\\.)+"/="…"/g' "$tmp/out" && run 0 info --json "$1" &&
		jq '.capture | del(.host, .command, .options, .kernel, .capture_id, .boot_id)' "$tmp/out"
}

numbers_stay() { # numbers_stay NAME
	run 0 anonymize -o anonymous.txtrace "$1.txtrace" && numbers_of "$1.txtrace" >"$tmp/before" && numbers_of anonymous.txtrace >"$tmp/after" &&
		diff "$tmp/before" "$tmp/after" && grep -q 'label="…" tag="…"' "$tmp/after"
}

header() {
	run 0 anonymize -o anonymous.txtrace sound.txtrace && run 0 info --json anonymous.txtrace || return
	jq -e '.capture | (.host, .command, .options | test("^[a-z2-7]{12}$")) and .kernel == "6.18.5" and .recorder == "txtrace-bpf 0.1.0" and .pid == 100 and
		(.capture_id | test("^[0-9a-f]{32}$"))' "$tmp/out" >/dev/null || fail "$(jq -c .capture "$tmp/out")"
}

# What was left out is said of the log that is given away, too, and nothing else of its options; of one that is given on again, still.
scope_stays() {
	"$make_log" "$tmp/limited.txtrace" <<-END
		header pid=1 cpus=1 command="bank" options="attached, 2 rings, --sched ledger, --sample 1/100, --min-duration 5000000ns, --flight, --label alice*, --label pay, --sched off" start_monotonic_ns=5
		span begin_ns=10 end_ns=1010 pid=1 tid=2 end_tid=2 id=1 label="pay" work_ns=1000 on_cpu_ns=400 runnable_ns=100 lock_ns=500
		summary time_ns=2000 sent_cnt=2 received_cnt=2 left_out_sample=198
	END
	run 0 info --json limited.txtrace && jq .capture.scope "$tmp/out" >"$tmp/before" || return
	run 0 anonymize -o once.txtrace limited.txtrace && run 0 anonymize -o twice.txtrace once.txtrace || return
	for name in once twice; do
		run 0 info --json $name.txtrace && jq .capture.scope "$tmp/out" | diff "$tmp/before" - || return
		jq -e '.capture.options | test("^[a-z2-7]{12}, --sched ledger, --sample 1/100, --min-duration 5000000ns, --flight, --label [a-z2-7]{12}$")' "$tmp/out" >/dev/null ||
			fail "$(jq .capture.options "$tmp/out")" || return
		run 0 report $name.txtrace && grep -q "; 1 of 100 transactions; only some labels; only spans of 5.00 ms and more; from a flight recorder" "$tmp/out" || return
	done
	run 0 anonymize -o whole.txtrace sound.txtrace && run 0 info whole.txtrace && ! grep -q scope "$tmp/out" || fail "a log that lacks nothing says that it does"
}

salts() {
	local name
	for name in a b c d; do
		case $name in a | b) set -- --salt one ;; c) set -- --salt two ;; d) set -- ;; esac
		run 0 anonymize "$@" -o $name.txtrace sound.txtrace && run 0 dump $name.txtrace && cp "$tmp/out" "$tmp/$name.dump" || return
	done
	run 0 anonymize -o e.txtrace sound.txtrace && run 0 dump e.txtrace || return
	cmp "$tmp/a.dump" "$tmp/b.dump" || return
	! cmp -s "$tmp/a.dump" "$tmp/c.dump" && ! cmp -s "$tmp/c.dump" "$tmp/d.dump" && ! cmp -s "$tmp/d.dump" "$tmp/out" || fail "two salts, one result"
}

still_sound() {
	run 0 anonymize -o anonymous.txtrace sound.txtrace && run 0 verify anonymous.txtrace && run 0 report anonymous.txtrace
}

check "pseudonyms are the HMAC of the strings" by_known_answers
check "nothing is left of a log" nothing_is_left sound
check "nothing is left of a log with every kind of record" nothing_is_left small
check "nothing is left of strings that are no text" nothing_is_left export
check "numbers stay" numbers_stay sound
check "numbers stay in a log with every kind of record" numbers_stay small
check "the header keeps what says nothing of anybody" header
check "what the capture left out is still said, and no name of it" scope_stays
check "the same salt makes the same pseudonyms, another one or none makes others" salts
check "the result is as sound as the log" still_sound
check "an empty salt" complains "option '--salt' takes a secret, not an empty string" anonymize --salt= -o x sound.txtrace
finish
