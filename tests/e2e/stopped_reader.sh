#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# runs alone: it fills rings, and what comes after the recorder goes on is to find room
# A recorder that does not get to read: stopped for five seconds under load, or kept from all but a tenth of what is sent. What is lost is counted to the event,
# and what comes later is exact.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
need_account

flood=
tracer=
trap 'kill -KILL $flood $tracer 2>/dev/null; wait 2>/dev/null' EXIT

# sent LOG KIND: by the recorder's own count
sent() {
	"$reader" export --format jsonl "$1" | jq -s "[.[] | select(.type == \"cost\" and .event == \"$2\") | .event_cnt] | add"
}

losses() { # losses LOG FILTER: of what was sent, received and lost
	"$reader" report --json "$1" >"$tmp/losses.json" || return
	jq -c .losses "$tmp/losses.json"
	jq -e ".losses | .sent == .received + .lost and ($2)" "$tmp/losses.json" >/dev/null
}

# The flood is stopped for a moment when the recorder goes on, so that what the late program does meets rings with room.
stopped_for_five_seconds() {
	cp "$programs/spin" "$tmp/late"
	"$programs/probe_loop" --mode begin-end --steps 2000 --rate 20000 --wait-traced 60 --iterations 200000 >"$tmp/flood.out" &
	flood=$!
	"$recorder" -q --ring-size 256K -o "$tmp/stopped.txtrace" -p $flood --exe "$tmp/late" 2>"$tmp/err" &
	tracer=$!
	wait_for 60 is_recording $tracer || fail "it does not record: $(cat "$tmp/err")" || return
	sleep 0.5
	kill -STOP $tracer
	sleep 5
	kill -STOP $flood
	kill -CONT $tracer
	sleep 0.3
	wait_for 20 is_recording $tracer || return
	"$tmp/late" --wait-traced 0 --repeat 5 >"$tmp/early.truth" || fail "the late program ended with $?" || return # may meet a reader that is not through
	"$tmp/late" --wait-traced 0 --repeat 5 --output "$tmp/stopped.truth" || fail "the late program ended with $?" || return
	kill -CONT $flood
	wait $flood || fail "the flood ended with $?" || return
	flood=
	kill -INT $tracer
	wait $tracer || fail "the tracer ended with $?: $(cat "$tmp/err")" || return
	tracer=
	export_log "$tmp/stopped.txtrace"
}

counts_what_it_lost() {
	losses "$tmp/stopped.txtrace" '.lost > 10000' || return
	[ "$(sent "$tmp/stopped.txtrace" begin)" = 200010 ] && [ "$(sent "$tmp/stopped.txtrace" end)" = 200010 ] ||
		fail "$(sent "$tmp/stopped.txtrace" begin) begins, $(sent "$tmp/stopped.txtrace" end) ends" || return
	grep -q ' lost' "$tmp/err"
}

# Every span of the late program is there, none is marked, all are what it says.
later_spans_are_right() {
	compare stopped --lossy || return
	[ "$(grep '"type":"span"' "$tmp/stopped.txtrace.jsonl" | grep "\"pid\":$(jq -s '.[0].pid' "$tmp/stopped.truth")," | grep -c '"lower_bound":false')" = 5 ] ||
		fail "a late span is marked, or missing"
}

# overload SECONDS: the recorder is stopped for so long, again and again
overload() {
	"$programs/probe_loop" --mode begin-end --threads 2 --wait-traced 60 --iterations 640000 >"$tmp/tenfold.out" &
	flood=$!
	"$recorder" -q --ring-size 64K -o "$tmp/tenfold.txtrace" -p $flood 2>"$tmp/err" &
	tracer=$!
	wait_for 60 is_recording $tracer || fail "it does not record: $(cat "$tmp/err")" || return
	while runs $flood; do
		kill -STOP $tracer
		sleep "$1"
		kill -CONT $tracer
		sleep 0.001
	done
	wait $tracer || fail "the tracer ended with $?: $(cat "$tmp/err")" || return
	tracer='' flood=''
	losses "$tmp/tenfold.txtrace" '.lost > 0' || return
	[ "$(sent "$tmp/tenfold.txtrace" begin)" = 1280000 ] && [ "$(sent "$tmp/tenfold.txtrace" end)" = 1280000 ] || fail "$(sent "$tmp/tenfold.txtrace" begin)" || return
	export_log "$tmp/tenfold.txtrace" && python3 $e2e/check_truth.py --lossy - "$tmp/tenfold.txtrace.jsonl"
}

# It gets to run for so short moments that less than a tenth finds room. A busy machine lets it run for longer, and the flood is slow there: then it is stopped for
# longer.
overloaded_tenfold() {
	local pause_s
	for pause_s in 0.5 2 8 30; do
		overload $pause_s || return
		! jq -e '.losses | .sent > 10 * .received' "$tmp/losses.json" >/dev/null || return 0
	done
	fail "it was never sent ten times as much as it took"
}

check "a recorder is stopped for five seconds, and goes on" stopped_for_five_seconds
check "sent = received + lost, to the event, and sent is what the programs did" counts_what_it_lost
check "later spans are exact" later_spans_are_right
check "ten times what it can take: sent = received + lost, to the event" overloaded_tenfold
finish
