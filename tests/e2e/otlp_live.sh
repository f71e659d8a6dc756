#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --otlp: spans reach a receiver while they are recorded, as they are in the log; by an unprivileged process, whatever the receiver does.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

# shellcheck source=tests/cli/otlp_receiver.sh
. tests/cli/otlp_receiver.sh || exit
bank=
recording=
stop_all() {
	local pid
	for pid in $receiver $bank $recording; do
		kill "$pid" 2>/dev/null
	done
	receiver='' bank='' recording=''
}
trap 'stop_all; wait' EXIT

taken_cnt() {
	jq -s '[.[] | select(.taken) | .spans] | add // 0' "$tmp/receiver/requests"
}

has_taken() { # has_taken COUNT
	[ "$(taken_cnt)" -ge "$1" ]
}

# What came is what the file has: the same spans in the same traces, each once. (What of a process is not known yet at the first span may be known later.)
all_taken() { # all_taken LOG...
	"$reader" export -o "$tmp/file.otlp" "$@" 2>/dev/null
	[ $? -le 1 ] || fail "no file" || return
	python3 - "$tmp/file.otlp" "$tmp/receiver/taken" "$(dirname "$receiver_py")" <<-'END'
		import sys
		sys.path.insert(0, sys.argv[3])
		from otlp_receiver import spans_of
		file, taken = (sorted(span for _, span in spans_of(open(name, "rb").read())) for name in sys.argv[1:3])
		assert len(file) == len(taken) > 0, (len(file), len(taken))
		differ = [pair for pair in zip(file, taken) if pair[0] != pair[1]]
		assert not differ, (len(differ), len(file), differ[0])
	END
}

start_bank() {
	"$programs/bank" --threads 3 --rate 200 >"$tmp/bank.out" &
	bank=$!
}

# record LOG OPTION...: in the background, of the bank
record() {
	local log=$1
	shift
	"$recorder" -o "$tmp/$log" "$@" -p $bank >"$tmp/recorder.out" 2>"$tmp/recorder.err" &
	recording=$!
}

ends() { # ends STATUS
	wait $recording
	local status=$?
	recording=
	[ $status = "$1" ] || fail "the recorder ended with $status: $(cat "$tmp/recorder.err")"
}

# Spans come while the recording runs; and all of them have come when the recorder ends.
live() {
	answers 200 && start_bank && record live.txtrace --otlp "$url" || return
	wait_for 60 has_taken 1000 && runs $recording || fail "taken: $(taken_cnt) $(cat "$tmp/recorder.err")" || return
	kill -INT $recording && ends 0 && all_taken "$tmp/live.txtrace" || return
	grep -q "^[0-9,]* spans sent to 127.0.0.1:" "$tmp/recorder.out" && jq -se 'map(.spans) | max <= 512' "$tmp/receiver/requests" >/dev/null || fail "$(cat "$tmp/recorder.out")"
}

# The log is rotated, and old files are removed.
rotated() {
	answers 200 && record rotated.txtrace --otlp "$url" --rotate-time 1s --keep 100 || return
	wait_for 60 has_taken 3000 || fail "taken: $(taken_cnt)" || return
	kill -TERM $recording && ends 0 && [ "$(find "$tmp" -name 'rotated.*.txtrace' | wc -l)" -ge 2 ] && all_taken "$tmp"/rotated*.txtrace
}

sender_of() { # sender_of RECORDER: its pid
	pgrep -P "$1" -f 'export --follow'
}

# Another user, if sudo was used; else root without any capability. And nothing that it runs can get one.
unprivileged() {
	local sender
	answers 200 && record rights.txtrace --otlp "$url" && wait_for 60 has_taken 1 || return
	sender=$(sender_of $recording) || fail "no sender" || return
	grep -E '^(CapInh|CapPrm|CapEff|CapBnd|CapAmb|NoNewPrivs|Uid):' "/proc/$sender/status" >"$tmp/status"
	kill -INT $recording && ends 0 || return
	grep -qE '^CapEff:\s0+$' "$tmp/status" && grep -qE '^CapPrm:\s0+$' "$tmp/status" && grep -qE '^NoNewPrivs:\s1$' "$tmp/status" || fail "$(cat "$tmp/status")"
}

as_sudo() {
	local sender
	answers 200 || return
	mkdir -p "$tmp/home" && chown 65534:65534 "$tmp/home" && chmod 711 "$tmp"
	(cd "$tmp/home" && exec env SUDO_UID=65534 SUDO_GID=65534 "$recorder" -o mine.txtrace --otlp "$url" -p $bank >"$tmp/recorder.out" 2>"$tmp/recorder.err") &
	recording=$!
	wait_for 60 has_taken 1 || fail "$(cat "$tmp/recorder.err")" || return
	sender=$(sender_of $recording) || fail "no sender" || return
	grep -E '^(CapPrm|Uid|Groups):' "/proc/$sender/status" >"$tmp/status"
	kill -INT $recording && ends 0 && all_taken "$tmp/home/mine.txtrace" || return
	grep -qE '^Uid:\s65534\s65534\s65534\s65534$' "$tmp/status" && grep -qE '^CapPrm:\s0+$' "$tmp/status" || fail "$(cat "$tmp/status")"
}

# The receiver fails for a while: all comes in the end, and the recording is whole.
failing() {
	answers 503 close 429@1 refuse=1 200 && record failing.txtrace --otlp "$url" || return
	wait_for 60 has_taken 1000 || fail "taken: $(taken_cnt) $(cat "$tmp/recorder.err")" || return
	kill -INT $recording && ends 0 && all_taken "$tmp/failing.txtrace" && grep -q "trying again" "$tmp/recorder.err"
}

# Nobody listens: the recording is as ever, and what was not sent is counted.
nobody_listens() {
	record alone.txtrace --otlp http://127.0.0.1:1 --messages json && wait_for 60 log_has_spans alone.txtrace || return
	kill -INT $recording && ends 0 && "$reader" verify "$tmp/alone.txtrace" >/dev/null || return
	jq -se '[.[] | select(.event == "otlp") | .message] | any(.[]; test("trying again$")) and any(.[]; test("^txtrace: [0-9,]+ spans were not sent: Failed to connect"))' "$tmp/recorder.err" >/dev/null || fail "$(cat "$tmp/recorder.err")"
}

log_has_spans() {
	[ "$("$reader" spans --json "$tmp/$1.partial" 2>/dev/null | wc -l)" -gt 100 ]
}

# The sender is killed; and the recorder is.
killed_sender() {
	answers 200 && record killed.txtrace --otlp "$url" && wait_for 60 has_taken 1 || return
	kill -KILL "$(sender_of $recording)" && sleep 1 && runs $recording && kill -INT $recording && ends 0 && "$reader" verify "$tmp/killed.txtrace" >/dev/null && grep -q "the sender for --otlp could not run, or was killed" "$tmp/recorder.err" || fail "$(cat "$tmp/recorder.err")"
}

killed_recorder() {
	local sender
	answers 200 && record dead.txtrace --otlp "$url" && wait_for 60 has_taken 1 || return
	sender=$(sender_of $recording)
	kill -KILL $recording
	wait $recording 2>/dev/null
	recording=
	wait_for 30 not_running "$sender" || fail "the sender runs on" || return
	all_taken "$tmp/dead.txtrace.partial"
}

not_running() {
	! runs "$1"
}

# A command: its exit status is the recorder's, and its last span is sent.
of_a_command() {
	answers 200 && "$recorder" -q -o "$tmp/command.txtrace" -f --otlp "$url" -- sh -c "'$programs/spin' --repeat 20 >/dev/null; exit 5" 2>"$tmp/recorder.err"
	[ $? = 5 ] && all_taken "$tmp/command.txtrace"
}

# Long spans above many short ones: the trace of a span is that of the topmost one, which ends last.
deep_trees() {
	answers 200 && "$recorder" -q -o "$tmp/deep.txtrace" -f --otlp "$url" -- "$programs/long_tree" --steps 3 2>"$tmp/recorder.err" >/dev/null || fail "$(cat "$tmp/recorder.err")" || return
	all_taken "$tmp/deep.txtrace" && "$reader" export -o "$tmp/deep.otlp.jsonl" "$tmp/deep.txtrace" 2>/dev/null &&
		jq -se '[.[].resourceSpans[].scopeSpans[].spans[] | {name, traceId}] | group_by(.traceId) | map(length) == [454, 454]' "$tmp/deep.otlp.jsonl" >/dev/null
}

wrong_usage() {
	"$recorder" --otlp-headers x -p $$ 2>"$tmp/err"
	[ $? = 2 ] && grep -q -- "--otlp-headers is for --otlp" "$tmp/err" || return
	"$recorder" --otlp http://a --flight 10M -p $$ 2>"$tmp/err"
	[ $? = 2 ] && grep -q "not with --repeat, --top or --flight" "$tmp/err" || return
	start_bank_if_gone
	record bad.txtrace --otlp ftp://a -d 1
	ends 0 && grep -q "a receiver of OTLP is http" "$tmp/recorder.err"
}

start_bank_if_gone() {
	runs $bank || start_bank
}

check "spans come while they are recorded, and all of them until the end" live
check "... over rotation" rotated
check "the sender has no privilege" unprivileged
if [ "$(id -u)" = 0 ]; then
	check "... and is the user who called sudo" as_sudo
fi
check "a receiver that fails for a while gets all" failing
check "no receiver: the recording is whole, and the rest is counted" nobody_listens
check "the sender is killed: the recording is whole" killed_sender
check "the recorder is killed: what is in the log is sent, and the sender ends" killed_recorder
check "a command" of_a_command
check "long spans above short ones: traces as in the whole log" deep_trees
check "wrong usage" wrong_usage
finish
