#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A recorder in the foreground that is suspended (Ctrl-Z) and resumed (fg): what it lost is counted to the event, what comes later is exact, and whatever goes by
# the clock goes on: the status line, rotation, the flight recorder, the metrics. (SIGSTOP and overload: stopped_reader.sh.)
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
need_account

flood=
tracer=
all=()
set -m # each job is a process group of its own that is not orphaned, as in a terminal: SIGTSTP stops it
trap 'kill_all' EXIT

kill_all() {
	local pid
	for pid in "${all[@]}"; do
		kill -KILL -- "-$pid" 2>/dev/null
	done
	all=()
	flood='' tracer=''
}

are_stopped() { # all of its processes and threads; what has ended and is not reaped yet cannot be
	local pid
	for pid in $(pgrep -g "$tracer"); do
		! grep -L '^State:.[TZX]' "/proc/$pid/task/"*/status | grep -q . || return
	done
}

suspend() {
	kill -TSTP -- "-$tracer"
	wait_for 20 are_stopped || fail "it is not suspended: $(pgrep -g "$tracer" | xargs -I{} sh -c 'grep -H "^State" /proc/{}/task/*/status' 2>&1)"
}

resume() {
	kill -CONT -- "-$tracer"
	wait_for 20 is_recording $tracer || fail "it does not go on"
}

# start NAME OPTION...: with the flood as its target
start() {
	local name=$1
	shift
	cp "$programs/spin" "$tmp/late"
	"$programs/probe_loop" --mode begin-end --steps 2000 --rate 20000 --wait-traced 60 --iterations "$iterations" >"$tmp/flood.out" &
	flood=$!
	all+=("$flood")
	kill -STOP $flood # so that all that it does is recorded
	"$recorder" --ring-size "$ring_size" -o "$tmp/$name.txtrace" -p $flood --exe "$tmp/late" "$@" >/dev/null 2>"$tmp/$name.err" &
	tracer=$!
	all+=("$tracer")
	wait_for 60 is_recording $tracer || fail "it does not record: $(cat "$tmp/$name.err")" || return
	kill -CONT $flood
	sleep 0.5
}

# end NAME: the flood ends by itself
end() {
	wait -f $flood || fail "the flood ended with $?" || return
	flood=
	kill -INT $tracer
	wait -f $tracer || fail "the tracer ended with $?: $(cat "$tmp/$1.err")" || return
	tracer=
}

sent() { # sent LOG KIND: by the recorder's own count
	"$reader" export --format jsonl "$1" | jq -s "[.[] | select(.type == \"cost\" and .event == \"$2\") | .event_cnt] | add"
}

# Longer than its rings last. The flood waits while the late program, whose first run may meet a reader that is not through yet, makes its spans.
counts_its_losses() {
	local iterations=64000 ring_size=256K begins
	start lossy || return
	suspend || return
	sleep 2
	kill -STOP $flood
	resume || return
	"$tmp/late" --wait-traced 0 --repeat 5 >"$tmp/early.truth" || fail "the late program ended with $?" || return
	"$tmp/late" --wait-traced 600 --repeat 5 --output "$tmp/lossy.truth" || fail "the late program ended with $?" || return
	kill -CONT $flood
	end lossy || return
	export_log "$tmp/lossy.txtrace" && "$reader" report --json "$tmp/lossy.txtrace" >"$tmp/lossy.json" && jq -c .losses "$tmp/lossy.json" || return
	jq -e '.losses | .sent == .received + .lost and .lost > 10000' "$tmp/lossy.json" >/dev/null || fail "that does not add up" || return
	begins=$((64005 + $(grep -vc '"id":"0"' "$tmp/early.truth")))
	[ "$(sent "$tmp/lossy.txtrace" begin)" = $begins ] && [ "$(sent "$tmp/lossy.txtrace" end)" = $begins ] ||
		fail "$(sent "$tmp/lossy.txtrace" begin) begins, not $begins" || return
	compare lossy --lossy || return
	[ "$(grep '"type":"span"' "$tmp/lossy.txtrace.jsonl" | grep "\"pid\":$(jq -s '.[0].pid' "$tmp/lossy.truth")," | grep -c '"lower_bound":false')" = 5 ] ||
		fail "a late span is marked, or missing"
}

monotonic_ns() {
	python3 -c 'import time; print(time.monotonic_ns())'
}

# Ctrl-Z goes to the command, too: its open span says that it was stopped, and nothing is lost.
with_its_command() {
	local before stopped continued after
	mkfifo "$tmp/hold"
	exec 9<>"$tmp/hold"
	"$recorder" -q -o "$tmp/both.txtrace" -- "$programs/idle" --output "$tmp/both.out" <"$tmp/hold" 2>"$tmp/both.err" 9>&- &
	tracer=$!
	all+=("$tracer")
	wait_for 60 grep -qs begun "$tmp/both.out" || fail "its span does not begin" || return
	before=$(monotonic_ns)
	suspend || return
	stopped=$(monotonic_ns)
	sleep 1
	continued=$(monotonic_ns)
	resume || return
	after=$(monotonic_ns)
	exec 9>&-
	wait -f $tracer || fail "the tracer ended with $?: $(cat "$tmp/both.err")" || return
	tracer=
	export_log "$tmp/both.txtrace" || return
	jq -c 'select(.type == "span")' "$tmp/both.txtrace.jsonl" || return
	jq -se "[.[] | select(.type == \"span\")] | length == 1 and .[0].blocked.stopped >= $continued - $stopped and .[0].blocked.stopped <= $after - $before
		and (.[0].lower_bound | not)" "$tmp/both.txtrace.jsonl" >/dev/null || fail "stopped for $((continued - stopped)) to $((after - before)) ns" &&
		jq -se '[.[] | select(.type == "summary")][-1].recorder | .lost_cnt == 0 and .sent_cnt == .received_cnt' "$tmp/both.txtrace.jsonl" >/dev/null
}

# No file is lost, none is made for the time that went by, and the next are as old again as they are to be.
rotates() {
	local iterations=102400 ring_size=64M resumed
	mkdir "$tmp/parts"
	start parts/app --rotate-time 500ms --keep 0 || return
	suspend || return
	sleep 2
	resumed=$(monotonic_ns)
	resume || return
	end parts/app || return
	for file in "$tmp"/parts/*.txtrace; do
		"$reader" verify "$file" >/dev/null || fail "$file is not sound" || return
		export_log "$file" || return
	done
	python3 - "$resumed" "$tmp"/parts/*.jsonl <<-'END'
		import json, sys
		resumed, paths = int(sys.argv[1]), sys.argv[2:]
		spans, starts = 0, []
		for path in paths:
		    lines = [json.loads(line) for line in open(path)]
		    spans += sum(line["type"] == "span" for line in lines)
		    if any(line["type"] in ("span", "run") for line in lines):
		        starts.append(min(line["time_ns"] for line in lines if line["type"] == "thread" and line["seed"]))
		starts.sort()
		print(spans, "spans in", len(paths), "files; resumed at", resumed, "they begin at", starts)
		assert spans == 102400, "spans are missing"
		assert len(starts) >= len(paths) - 1, "files without anything"
		# Our first record of a file is later than its begin. The first file may have been due before the pause; from the second on, each is as old as it is to be.
		later = [start for start in starts if start > resumed]
		assert len(starts) >= 3 and later and later[-1] - resumed >= (len(later) - 2) * 500_000_000, "they are not as old as they are to be"
		assert starts[-1] - starts[0] >= (len(starts) - 2) * 500_000_000, "they are not as old as they are to be"
	END
}

# A second is kept; what is older than that when it is asked for, the time before the pause, has gone. Older records go in pieces, each of which begins with the
# threads that there are: the first one would have gone if what is behind it were a second.
keeps_a_window() {
	local iterations=140800 ring_size=64M
	start window --flight 1s --trigger 'wall>1h' || return
	suspend || return
	sleep 2
	resume || return
	sleep 2.5
	kill -USR1 $tracer
	wait_for 30 grep -q "wrote .* from .* ago on" "$tmp/window.err" || fail "it wrote nothing: $(cat "$tmp/window.err")" || return
	kill -KILL $flood
	wait $flood 2>/dev/null
	flood=
	kill -INT $tracer
	wait -f $tracer || fail "the tracer ended with $?: $(cat "$tmp/window.err")" || return
	tracer=
	"$reader" verify "$tmp/window.txtrace" >/dev/null && export_log "$tmp/window.txtrace" || return
	python3 - "$tmp/window.txtrace.jsonl" <<-'END'
		import json, sys
		lines = [json.loads(line) for line in open(sys.argv[1])]
		trigger = next(line for line in lines if line["type"] == "trigger")
		spans = [line for line in lines if line["type"] == "span"]
		pieces = sorted({line["time_ns"] for line in lines if line["type"] == "thread" and line["seed"]})
		kept = [trigger["time_ns"] - piece for piece in pieces]
		losses = [line for line in lines if line["type"] == "loss"]
		print(len(spans), "spans in pieces of the last", kept, "ns;", losses)
		assert kept[0] >= 1_000_000_000 and all(piece < 1_000_000_000 for piece in kept[1:]) and not losses
	END
}

page() {
	curl -sf --max-time 20 "http://127.0.0.1:$port/metrics" >"$tmp/now"
}

value() { # value SERIES
	awk -v series="$1" '$1 == series { print $2 }' "$tmp/now"
}

has_come() { # has_come CNT: so many spans
	page && [ "$(value 'txtrace_span_wall_seconds_count{label="loop"}')" -ge "$1" ]
}

# A scrape during the pause waits, and gets its page afterwards; the last one says what the log says.
serves_its_metrics() {
	local iterations=64000 ring_size=64M scrape
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	start served --metrics "127.0.0.1:$port" --metrics-file "$tmp/served.prom" || return
	page || fail "there are no metrics" || return
	suspend || return
	page &
	scrape=$!
	sleep 1.5
	resume || return
	wait $scrape || fail "who asked meanwhile got no page" || return
	wait_for 60 has_come 64000 || fail "$(value 'txtrace_span_wall_seconds_count{label="loop"}') spans" || return
	end served || return
	export_log "$tmp/served.txtrace" && python3 $e2e/check_metrics.py "$tmp/served.txtrace.jsonl" "$tmp/served.prom" || return
	cp "$tmp/served.prom" "$tmp/now"
	[ "$(value txtrace_events_sent_total)" = "$("$reader" info --json "$tmp/served.txtrace" | jq .losses.sent)" ] && [ "$(value txtrace_events_lost_total)" = 0 ]
}

# Its stderr is a terminal, but not its own: so no shell's job control is in the way.
shows_its_status() {
	"$programs/probe_loop" --mode begin-end --steps 2000 --rate 2000 --wait-traced 60 >"$tmp/flood.out" &
	flood=$!
	all+=("$flood")
	timeout 600 python3 - "$recorder" "$tmp/status.txtrace" $flood <<-'END' || return
		import os, re, select, signal, subprocess, sys, time
		master, slave = os.openpty()
		recorder = subprocess.Popen([sys.argv[1], "-o", sys.argv[2], "-p", sys.argv[3]], stdout=subprocess.DEVNULL, stderr=slave, process_group=0)
		def lines(cnt):
		    """The next lines of the status, of how long it says to have recorded."""
		    text = b""
		    while len(found := re.findall(rb"\r\x1b\[K([0-9.]+) (s|ms)  ([0-9,]+) spans/s", text)) < cnt:
		        assert select.select([master], [], [], 30)[0], f"no status: {text}"
		        text += os.read(master, 4096)
		    return [(float(number) / (1000 if unit == b"ms" else 1), int(rate.replace(b",", b""))) for number, unit, rate in found]
		before = lines(2)
		os.killpg(recorder.pid, signal.SIGTSTP)
		while open(f"/proc/{recorder.pid}/stat").read().rsplit(")", 1)[1].split()[0] != "T":
		    time.sleep(0.01)
		while select.select([master], [], [], 2.2)[0]:  # nothing is shown meanwhile
		    os.read(master, 4096)
		os.killpg(recorder.pid, signal.SIGCONT)
		after = lines(3)
		print(before, after)
		recorder.send_signal(signal.SIGINT)
		assert recorder.wait() == 0
		assert after[0][0] > before[-1][0] + 2, "the time of the pause is not in it"
		assert all(rate > 0 for _, rate in after[1:]), "no spans"
	END
	kill -KILL $flood
	wait $flood 2>/dev/null
	flood=
	"$reader" verify "$tmp/status.txtrace"
}

# suspended CASE: whatever it leaves behind when it fails is gone for the next
suspended() {
	"$1"
	local status=$?
	kill_all
	return $status
}

check "what it lost is counted to the event, later spans are exact" suspended counts_its_losses
check "with its command: nothing is lost, and the span that was open tells" suspended with_its_command
check "rotation by time goes on" suspended rotates
check "a flight recorder keeps what is not older than its window" suspended keeps_a_window
check "metrics are served and right" suspended serves_its_metrics
check "the status line goes on" suspended shows_its_status
finish
