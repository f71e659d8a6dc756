#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# otlp-hop beside a recorder: the spans of a program that runs get their ledgers on the way to the collector, against what the program measures of itself.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

# shellcheck source=tests/cli/otlp_receiver.sh
. tests/cli/otlp_receiver.sh || exit

mkdir "$tmp/logs"
answers 200 || exit
"$reader" otlp-hop --listen 127.0.0.1:0 --to "$url" "$tmp/logs" >"$tmp/hop.out" 2>"$tmp/hop.said" &
hop=$!
wait_for 60 grep -q Ctrl-C "$tmp/hop.out"
here=$(sed -n 's/^requests to \(.*\) go to .*/\1/p' "$tmp/hop.out")

check_all() { # check_all OUTPUT: each span once, with what the program says
	python3 - "$1" "$tmp/receiver/taken" <<-'END'
		import json, os, sys
		slack = 25_000_000 if os.environ.get("TXTRACE_EMULATED") else 250_000
		off = {line.split()[1]: list(map(int, line.split()[2:4])) for line in open(sys.argv[1]) if line.startswith("abab")}
		decoder, text, at, got, short = json.JSONDecoder(), open(sys.argv[2]).read(), 0, {}, []
		while at < len(text):
		    message, at = decoder.raw_decode(text, at)
		    for span in message["resourceSpans"][0]["scopeSpans"][0]["spans"]:
		        assert span["spanId"] not in got, span
		        got[span["spanId"]] = {pair["key"]: int(pair["value"].get("intValue", 0)) for pair in span.get("attributes", [])}
		assert got.keys() == off.keys(), (len(got), len(off))
		for id, said in got.items():
		    below = off[id[:-2] + "02"] if id.endswith("01") else [0, 0]
		    least = off[id][0] + below[0]
		    if not said:
		        short.append(id)
		        continue
		    has = said["txtrace.blocked_ns"] + said.get("txtrace.runnable_ns", 0) + said.get("txtrace.stolen_ns", 0)
		    assert has + said["txtrace.unknown_ns"] >= least - slack - least // 50, (id, said, off[id], below)
		print(f"# {len(got)} spans, {len(short)} without a ledger")
		assert not short, short[:9]
	END
}

# The log has several parts, and another capture follows.
passes_on() {
	local run
	: >"$tmp/all.out"
	for run in first second; do
		"$recorder" -q --otel --rotate-time 1s -o "$tmp/logs/$run.txtrace" -- "$programs/otel_writer" --transactions 250 --first $((${#run} * 1000)) | tee -a "$tmp/all.out" | python3 "$e2e/otel_send.py" "$here" || fail "the $run program can't send" || return
	done
	kill -TERM $hop
	wait $hop || fail "the hop ended with $?: $(cat "$tmp/hop.said")" || return
	check_all "$tmp/all.out" || fail "$(cat "$tmp/hop.said" "$tmp/hop.out")" || return
	grep -q "2,000 spans passed on to .* 2,000 of them with a ledger" "$tmp/hop.out" || fail "$(cat "$tmp/hop.out")"
}

check "spans get their ledgers on the way" passes_on
stop_receiver
finish
