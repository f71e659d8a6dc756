#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A recorder that runs as a service: its metrics, what it says, options that are read again, the word to the service manager.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

loop=
tracer=
helper=
trap 'kill -KILL $loop $tracer $helper 2>/dev/null' EXIT

start_loop() {
	rm -f "$tmp/loop.out" # what the last loop wrote would end the wait below
	"$programs/probe_loop" --mode tagged --steps 500 --rate 2000 --window-ms 100 >"$tmp/loop.out" &
	loop=$!
	wait_for 20 test -s "$tmp/loop.out"
}

end_loop() {
	kill -TERM "$loop" && wait "$loop" || fail "the program ended with $?" || return
	loop=
}

page() { # page FILE
	curl -sf --max-time 20 "http://127.0.0.1:$port/metrics" >"$1"
}

# start_service [OPTION...]: until it serves its metrics
start_service() {
	port=$(free_port)
	rm -f "$tmp"/app*
	start_loop || return
	"$recorder" -p "$loop" -o "$tmp/app.txtrace" --metrics "127.0.0.1:$port" --metrics-file "$tmp/app.prom" --messages json "$@" \
		>"$tmp/out" 2>"$tmp/err" &
	tracer=$!
	wait_for 60 page "$tmp/first"
}

end_service() {
	kill -TERM "$tracer"
	wait "$tracer" || fail "txtrace-bpf ended with $?" || return
	tracer=
	end_loop
}

# value FILE SERIES
value() {
	awk -v series="$2" '$1 == series { print $2 }' "$1"
}

# ---- metrics ----

metrics_are_those_of_the_log() {
	start_service && wait_for 30 spans_have_come && end_service || return
	export_log "$tmp/app.txtrace" && python3 $e2e/check_metrics.py "$tmp/app.txtrace.jsonl" "$tmp/app.prom" || return
	[ "$(value "$tmp/app.prom" txtrace_events_sent_total)" = "$("$reader" info --json "$tmp/app.txtrace" | jq .losses.sent)" ]
}

spans_have_come() {
	page "$tmp/now" && [ "$(value "$tmp/now" 'txtrace_span_wall_seconds_count{label="loop"}')" -gt 100 ]
}

# Begun without end by one of two programs, in little room: the number is the same wherever it is told, while it records and when it has ended.
refused_events_are_the_same_everywhere() {
	local hostile idle refused seen=x
	mkfifo "$tmp/hold"
	"$programs/idle" --wait-traced 60 <"$tmp/hold" >"$tmp/idle.out" &
	idle=$!
	"$programs/hostile" --wait-traced 60 --what open --rounds 200 >"$tmp/hostile.out" &
	hostile=$!
	helper="$idle $hostile"
	exec 8>"$tmp/hold"
	port=$(free_port)
	"$recorder" -q --sync --ring-size 64M --span-memory 1M -o "$tmp/crowded.txtrace" -p "$idle,$hostile" --metrics "127.0.0.1:$port" --messages json 2>"$tmp/err" 8>&- &
	tracer=$!
	wait_for 60 page "$tmp/now" || fail "it serves no metrics: $(cat "$tmp/err")" || return
	wait "$hostile" || fail "the program ended with $?" || return
	until [ "$seen" = "$(value "$tmp/now" txtrace_events_received_total)" ] && [ "$(value "$tmp/now" txtrace_traced_threads)" = 1 ]; do
		seen=$(value "$tmp/now" txtrace_events_received_total)
		sleep 1.2
		page "$tmp/now" || return
	done
	refused=$(value "$tmp/now" txtrace_events_refused_total)
	exec 8>&-
	wait "$tracer" || fail "txtrace-bpf ended with $?" || return
	wait "$idle" || return
	tracer='' helper=''
	"$reader" info --json "$tmp/crowded.txtrace" >"$tmp/crowded.json" && export_log "$tmp/crowded.txtrace" || return
	jq -r 'select(.event == "refused" and (.refused | not)) | .message' "$tmp/err" | sed 's/ .*//; s/,//g' >"$tmp/closing"
	echo "scraped $refused; closing words $(cat "$tmp/closing"); log $(jq -c .losses "$tmp/crowded.json")"
	[ "$refused" -gt 10000 ] && [ "$(value "$tmp/now" txtrace_events_lost_total)" = "$refused" ] && [ "$(cat "$tmp/closing")" = "$refused" ] || return
	[ "$(jq .losses.lost "$tmp/crowded.json")" = "$refused" ] && [ "$(jq -s '[.[] | select(.type == "loss").span_event_cnt] | add' "$tmp/crowded.txtrace.jsonl")" = "$refused" ]
}

format_is_prometheus() {
	sed -n 1,5p "$tmp/first"
	promtool check metrics <"$tmp/app.prom"
}

others_get_no_page() {
	local url=http://127.0.0.1:$port
	[ "$(curl -s -o "$tmp/body" -w '%{http_code}' "$url/")" = 200 ] && grep -q /metrics "$tmp/body" || return
	[ "$(curl -s -o "$tmp/body" -w '%{http_code}' "$url/other")" = 404 ] || return
	[ "$(curl -s -o "$tmp/body" -w '%{http_code}' -X POST "$url/metrics")" = 405 ] || return
	[ "$(curl -s -I -o "$tmp/body" -w '%{http_code}' "$url/metrics")" = 200 ]
}

# Forty that connect and never ask, and one that sends rubbish: recording goes on, and ends when it is told to.
rude_clients_hold_nothing_up() {
	start_service || return
	others_get_no_page || fail "it answers what it should not, or the other way round" || return
	python3 - "$port" <<-'END' &
		import socket, sys, time
		clients = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(40)]
		clients[0].sendall(b"\x00\xff" * 50000)
		time.sleep(600)
	END
	helper=$!
	wait_for 30 bytes_grow || fail "nothing is recorded any more" || return
	end_service || return
	kill -KILL $helper
	wait $helper 2>/dev/null
	"$reader" verify "$tmp/app.txtrace"
}

is_larger_than() { # is_larger_than BYTES FILE
	[ "$(stat -c %s "$2")" -gt "$1" ]
}

bytes_grow() {
	wait_for 20 is_larger_than "$(stat -c %s "$tmp/app.txtrace.partial")" "$tmp/app.txtrace.partial"
}

# What Prometheus has seen lies between what the page said before and what it says after.
prometheus_scrapes_it() {
	local theirs=http://127.0.0.1 before seen after
	start_service || return
	theirs=$theirs:$(free_port)
	mkdir -p "$tmp/prometheus"
	cat >"$tmp/prometheus.yml" <<-END
		global: { scrape_interval: 1s }
		scrape_configs: [ { job_name: txtrace, static_configs: [ { targets: [ "127.0.0.1:$port" ] } ] } ]
	END
	prometheus --config.file="$tmp/prometheus.yml" --storage.tsdb.path="$tmp/prometheus" --web.listen-address="${theirs#http://}" \
		>"$tmp/prometheus.log" 2>&1 &
	helper=$!
	wait_for 30 spans_have_come || return
	before=$(value "$tmp/now" 'txtrace_span_wall_seconds_count{label="loop"}')
	wait_for 90 query_says_more_than "$before" || { tail "$tmp/prometheus.log" && return 1; }
	page "$tmp/now" || return
	after=$(value "$tmp/now" 'txtrace_span_wall_seconds_count{label="loop"}')
	echo "$before <= $seen <= $after"
	kill -KILL $helper
	wait $helper 2>/dev/null
	end_service || return
	[ "$seen" -le "$after" ]
}

query_says_more_than() {
	seen=$(curl -s -G "$theirs/api/v1/query" --data-urlencode 'query=txtrace_span_wall_seconds_count{label="loop"}' | jq -r '.data.result[0].value[1] // 0')
	[ "${seen:-0}" -ge "$1" ] 2>/dev/null
}

# ---- options ----

# By the highest number: older files may have gone by the time they are looked for.
has_four_files() {
	find "$tmp" -name 'app.0*.txtrace' | sort | tail -n 1 | grep -q 'app\.0000\(0[4-9]\|[1-9]\)'
}

options_are_read_again() {
	echo "rotate-size = 0" >"$tmp/conf"
	start_service --config "$tmp/conf" || return
	printf 'rotate-size = 20K\nkeep = 3\nring-size = 1M\n' >"$tmp/conf"
	kill -HUP "$tracer"
	wait_for 60 has_four_files || fail "it makes no more files" || return
	echo "keep = many" >"$tmp/conf"
	kill -HUP "$tracer"
	wait_for 20 grep -q '"level":"warning","event":"reload"' "$tmp/err" || return
	end_service || return
	jq -r 'select(.event == "reload") | .message' "$tmp/err" >"$tmp/reload"
	cat "$tmp/reload"
	[ "$(sed -n 1p "$tmp/reload")" = "the options were read again; these need a restart: --ring-size" ] || return
	sed -n 2p "$tmp/reload" | grep -qF "the options stay as they were: '$tmp/conf', line 1: option '--keep' takes a number, not 'many'" || return
	[ "$(find "$tmp" -name 'app*.txtrace' | wc -l)" = 3 ] || fail "it does not keep 3 files" || return
}

hangup_without_a_file_ends_it() {
	start_service || return
	kill -HUP "$tracer"
	wait "$tracer" || fail "txtrace-bpf ended with $?" || return
	tracer=
	end_loop
}

messages_are_objects() {
	start_service && wait_for 30 spans_have_come && end_service || return
	cat "$tmp/err"
	jq -e 'has("time") and has("level") and has("message")' "$tmp/err" >/dev/null || return
	[ "$(jq -r .event "$tmp/err" | grep -vx cost | sort -u | tr '\n' ' ')" = "start stop " ] || return # what tracing cost is said if anything was marked
	[ "$(jq 'select(.event == "stop") | .sent == .received + .lost and .spans > 0 and .bytes > 0' "$tmp/err")" = true ]
}

# ---- the service manager ----

manager_is_told() {
	python3 $e2e/service_manager.py "$tmp/notify" "$tmp/told" &
	helper=$!
	wait_for 20 test -S "$tmp/notify" || return
	echo "quiet" >"$tmp/conf"
	NOTIFY_SOCKET=$tmp/notify start_service --config "$tmp/conf" || return
	kill -HUP "$tracer"
	wait_for 20 grep -q RELOADING "$tmp/told" || return
	end_service && wait $helper || return
	sed -E 's/[0-9]{3,}/N/' "$tmp/told" | tee "$tmp/states"
	[ "$(tr '\n' ';' <"$tmp/states")" = "READY=1;RELOADING=1 MONOTONIC_USEC=N;READY=1;STOPPING=1;" ]
}

# Of a command that it starts it is none.
command_has_no_manager() {
	NOTIFY_SOCKET=$tmp/nobody "$recorder" -q -o "$tmp/env.txtrace" -- env 2>/dev/null >"$tmp/env.out"
	grep -q '^PATH=' "$tmp/env.out" && ! grep NOTIFY_SOCKET "$tmp/env.out"
}

unit_is_sound() {
	make -s install DESTDIR="$tmp/root" PREFIX=/usr || return
	ls -l "$tmp/root/usr/lib/systemd/system/txtrace.service" "$tmp/root/usr/share/doc/txtrace/txtrace.conf" || return
	sed -i "s,/usr/bin/,$tmp/root/usr/bin/," "$tmp/root/usr/lib/systemd/system/txtrace.service"
	systemd-analyze verify "$tmp/root/usr/lib/systemd/system/txtrace.service" 2>&1 | grep -v "Command 'man " | grep txtrace.service && return 1
	return 0
}

# ---- mistakes ----

refused() { # refused PATTERN OPTION...
	local pattern=$1
	shift
	"$recorder" -q -o "$tmp/refused.txtrace" "$@" -- true 2>"$tmp/refused.err"
	local status=$?
	cat "$tmp/refused.err"
	[ $status = 2 ] && [ "$(wc -l <"$tmp/refused.err")" = 1 ] && grep -qE "$pattern" "$tmp/refused.err" && [ ! -e "$tmp/refused.txtrace" ]
}

bad_addresses_are_refused() {
	local address
	for address in localhost:9464 9464 :9464 127.0.0.1 127.0.0.1: 127.0.0.1:0 127.0.0.1:65536 127.0.0.1:http '[::1]' '::1:9464' "$(printf '1%.0s' {1..90}):80"; do
		refused "cannot serve metrics at '.*': give an address and a port" --metrics "$address" || return
	done
}

taken_port_is_refused() {
	start_service || return
	refused "cannot serve metrics at '127.0.0.1:$port': Address already in use" --metrics "127.0.0.1:$port" || return
	end_service
}

metrics_file_that_cannot_be_written_is_said_once() {
	start_loop || return
	"$recorder" -p "$loop" -o "$tmp/app.txtrace" -d 2 --metrics-file /proc/metrics --messages json >"$tmp/out" 2>"$tmp/err" || return
	end_loop || return
	cat "$tmp/err"
	[ "$(jq -r 'select(.event == "metrics") | .message' "$tmp/err" | grep -c "cannot write the metrics to '/proc/metrics'")" = 1 ]
}

check "the metrics are those of the spans in the log, to the nanosecond" metrics_are_those_of_the_log
if command -v promtool >/dev/null; then
	check "Prometheus finds no fault in their format" format_is_prometheus
	check "a Prometheus scrapes them" prometheus_scrapes_it
else
	number=$((number + 1))
	echo "ok $number - a Prometheus scrapes them # SKIP there is no Prometheus here"
fi
check "events that open spans leave no room for: one number in the metrics, the words and the log" refused_events_are_the_same_everywhere
check "rude clients hold nothing up" rude_clients_hold_nothing_up
check "options are read again, and what can takes effect" options_are_read_again
check "without a file of options a hang-up ends recording" hangup_without_a_file_ends_it
check "messages are objects" messages_are_objects
check "the service manager is told" manager_is_told
check "a command that it starts knows of no service manager" command_has_no_manager
if command -v systemd-analyze >/dev/null; then
	check "the unit is sound" unit_is_sound
fi
check "addresses that are none are refused" bad_addresses_are_refused
check "a port that is taken is said" taken_port_is_refused
check "a metrics file that cannot be written is said once" metrics_file_that_cannot_be_written_is_said_once
finish
