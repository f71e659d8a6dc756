#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# otlp-hop: what tracers send reaches the collector, each span once, with its ledger; all else as it was.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

# shellcheck source=tests/cli/otlp_receiver.sh
. tests/cli/otlp_receiver.sh || exit
post_py=$PWD/tests/cli/otlp_post.py
hop=
stop_hop() {
	[ -z "$hop" ] || kill "$hop" 2>/dev/null
	wait "$hop" 2>/dev/null
	hop=
}
trap 'stop_hop; stop_receiver; rm -rf "$tmp"' EXIT

starts() { # starts ARGUMENT...: a hop, at $here
	stop_hop
	: >"$tmp/out"
	(cd "$tmp" && exec "$txtrace" otlp-hop --listen 127.0.0.1:0 --to "$url" "$@" >out 2>err) &
	hop=$!
	until grep -q Ctrl-C "$tmp/out"; do
		kill -0 "$hop" 2>/dev/null || fail "no hop: $(cat "$tmp/err")" || return
		sleep 0.05
	done
	here=$(sed -n 's/^requests to \(.*\) go to .*/\1/p' "$tmp/out")
}

ends() { # ends STATUS: it is ended, and all that it has taken is on its way
	kill -TERM "$hop"
	wait "$hop"
	local status=$?
	hop=
	[ $status = "$1" ] || fail "ended with $status: $(cat "$tmp/err")"
}

posts() { # posts EXPECTED PATH FILE OPTION...
	python3 "$post_py" "$here$2" "$tmp/$3" "${@:4}" >"$tmp/answer" || return
	[ "$(cat "$tmp/answer")" = "$1" ] || fail "answered $(cat "$tmp/answer"), not $1"
}

says() { # says TEXT
	grep -qF -- "$1" "$tmp/err" || fail "stderr has no '$1': $(cat "$tmp/err")"
}

field() { # field JQ-FILTER EXPECTED: of the list of requests
	local got
	got=$(jq -sc "$1" "$tmp/receiver/requests")
	[ "$got" = "$2" ] || fail "requests: $got, not $2"
}

# As in join.sh: a1 has a2 below it.
trace=0af7651916cd43dd8448eb211c80319c
stay() { # stay ID BEGIN END SPAN BEFORE AFTER LEDGER...
	echo "attribute time_ns=$2 pid=7 tid=1 span=$1 name=\"traceparent\" value_type=string value=\"00-$trace-$4-01\""
	echo "attribute time_ns=$2 pid=7 tid=1 span=$1 name=\"otel.before_ns\" value_type=uint value=$5"
	echo "attribute time_ns=$3 pid=7 tid=1 span=$1 name=\"otel.after_ns\" value_type=uint value=$6"
	echo "span begin_ns=$2 end_ns=$3 pid=7 tid=1 end_tid=1 id=$1 label=\"otel\" work_ns=$(($3 - $2)) ${*:7}"
}
{
	echo 'header pid=7 cpus=1 command="shop" capture_id="passed on" start_monotonic_ns=1000 start_realtime_ns=2000'
	stay 1 1100 1200 00000000000000a1 30 10 on_cpu_ns=40 sleep_ns=60
	stay 2 1200 1300 00000000000000a2 10 5 on_cpu_ns=20 runnable_ns=80
	echo 'summary time_ns=2000'
} >"$tmp/log.txt"
"$make_log" "$tmp/log.txtrace" <"$tmp/log.txt" || exit
cat >"$tmp/traces.json" <<END
{"resourceSpans":[{"scopeSpans":[{"spans":[
{"name":"a1","traceId":"$trace","spanId":"00000000000000a1","startTimeUnixNano":"2050","endTimeUnixNano":"2450","attributes":[{"key":"k","value":{"stringValue":"v"}}]},
{"name":"a2","traceId":"$trace","spanId":"00000000000000a2","parentSpanId":"00000000000000a1","startTimeUnixNano":"2190","endTimeUnixNano":"2310"}]}],"resource":{}}]}
END
python3 tests/cli/join_protobuf.py pack "$tmp/traces.json" "$tmp/traces.otlp"
gzip -k "$tmp/traces.otlp"
echo '{"resourceMetrics":[{"a": 1e5}]}' >"$tmp/metrics.json"

# The same bytes as by join.
with_ledgers() {
	run 0 join -o joined.json log.txtrace traces.json && run 0 join -o joined.otlp log.txtrace traces.otlp && answers 200 && starts log.txtrace || return
	posts "200 application/json {}" /v1/traces traces.json && posts "200 application/x-protobuf" /v1/traces traces.otlp --type application/x-protobuf &&
		posts "200 application/x-protobuf" /v1/traces traces.otlp.gz --type application/x-protobuf --encoding gzip && posts "200 application/json {}" /v1/traces traces.json --chunked --type "application/json; charset=utf-8" && ends 0 || return
	cat "$tmp"/joined.{json,otlp,otlp,json} | cmp - "$tmp/receiver/taken" || return
	grep -q "work_ns" "$tmp/receiver/taken" || fail "no ledger" || return
	field 'map(.headers["Content-Encoding"])' '[null,null,"gzip",null]' && grep -qx "8 spans passed on to ${url#http://}, 8 of them with a ledger" "$tmp/out" || fail "$(cat "$tmp/out")"
}

# Metrics and logs, what is no trace, and what is packed in a way that is not known.
untouched() {
	answers 200 && starts log.txtrace && head -c 3000 /dev/urandom >"$tmp/junk" || return
	posts "200 application/json {}" /v1/metrics metrics.json && posts "200 application/x-protobuf" /v1/logs junk --type application/x-protobuf &&
		posts "200 application/x-protobuf" /v1/traces junk --type application/x-protobuf && posts "200 application/x-protobuf" /v1/traces junk --type application/x-protobuf --encoding zstd &&
		posts "200 application/x-protobuf" /v1/traces junk --type application/x-protobuf --encoding gzip && ends 0 || return
	cat "$tmp/metrics.json" "$tmp/junk" "$tmp/junk" "$tmp/junk" "$tmp/junk" | cmp - "$tmp/receiver/taken" || return
	field 'map([.path, .headers["Content-Encoding"]])' '[["/v1/metrics",null],["/v1/logs",null],["/v1/traces",null],["/v1/traces","zstd"],["/v1/traces","gzip"]]' && says "passed on as they were: 3"
}

headers() {
	echo 'Authorization: Bearer ours' >"$tmp/headers"
	answers 200 && starts --headers-file headers log.txtrace || return
	posts "200 application/json {}" /v1/traces traces.json --header "X-Scope-OrgID:team" --header "Authorization:Bearer theirs" --header "Via:1.1 another" --header "TE:trailers" && ends 0 || return
	field '.[0].headers | [.["X-Scope-OrgID"], .Authorization, .TE, (.Via | startswith("1.1 "))]' '["team","Bearer ours",null,true]'
}

# A page of the web may not use it, and it does not send to itself for ever.
refused() {
	local own
	answers 200 && starts log.txtrace || return
	posts "415 text/plain; charset=utf-8 Only application/x-protobuf and application/json are passed on." /v1/traces traces.json --type text/plain && posts "405 text/plain; charset=utf-8 Only POST is answered." /v1/traces traces.json --method PUT || return
	posts "200 application/json {}" /v1/traces traces.json && arrived 1 || return
	own=$(jq -sr '.[0].headers.Via' "$tmp/receiver/requests")
	posts "508 text/plain; charset=utf-8 This has come through here before." /v1/traces traces.json --header "Via:1.0 other, $own" && ends 0 && field length 1
}

arrived() { # arrived COUNT: so many requests have come to the collector
	local cnt
	for cnt in $(seq 300); do
		[ "$(wc -l <"$tmp/receiver/requests")" -lt "$1" ] || return 0
		sleep 0.1
	done
	fail "it is not there after 30 s ($cnt): $(cat "$tmp/err")"
}

# The collector is not there, is busy, and comes back: nothing is lost, nothing comes twice.
patient() {
	answers refuse=2 503@1 429 close 200 && starts log.txtrace && posts "$(yes '200 application/json {}' | head -n 5)" /v1/traces traces.json --times 5 && says_in_time "takes spans again" && ends 0 || return
	field '[.[] | select(.taken)] | [length, (map(.spans) | add)]' '[5,10]' && says "trying again"
}

says_in_time() {
	local cnt
	for cnt in $(seq 300); do
		! grep -qF "$1" "$tmp/err" || return 0
		sleep 0.1
	done
	fail "it does not say '$1' in 30 s ($cnt): $(cat "$tmp/err")"
}

gives_up() {
	answers 503 && starts --give-up 1s log.txtrace && posts "200 application/json {}" /v1/traces traces.json && posts "200 application/json {}" /v1/metrics metrics.json && says_in_time "did not take spans" && ends 1 || return
	says "2 spans were not sent: HTTP status 503" && says "1 other requests were not sent"
}

# 40 requests of 3 MB while the collector takes nothing: some find no room, and are asked to come again. What was taken arrives.
bounded() {
	local taken
	python3 -c "print(open('$tmp/traces.json').read().replace('\"v\"', '\"' + 'v' * 3000000 + '\"'), end='')" >"$tmp/large.json"
	answers stall=3 200 && starts log.txtrace && python3 "$post_py" "$here/v1/traces" "$tmp/large.json" --times 40 >"$tmp/answer" || return
	taken=$(grep -c '^200' "$tmp/answer")
	[ "$taken" -ge 20 ] && [ "$taken" -le 35 ] && [ "$(grep -c -E '^503 text/plain; charset=utf-8 again There is no room now, try again.|^closed' "$tmp/answer")" = $((40 - taken)) ] || fail "$taken taken: $(sort "$tmp/answer" | uniq -c)" || return
	# a sanitizer keeps what was freed
	[[ $BUILD == *sanitize* ]] || [ "$(awk '/VmHWM/ { print $2 }' "/proc/$hop/status")" -lt 250000 ] || fail "it takes $(grep VmHWM "/proc/$hop/status")" || return
	says_in_time "takes spans again" && ends 0 && field "[.[] | select(.taken)] | length" "$taken"
}

# With their ledgers, requests are larger than they came.
halved() {
	answers large=1 && starts log.txtrace && posts "200 application/json {}" /v1/traces traces.json && ends 0 || return
	field 'map(.spans)' '[2,1,1]' && field '[.[] | select(.taken).ids[]] | unique | length' 2 && grep -qx "2 spans passed on to ${url#http://}, 2 of them with a ledger" "$tmp/out" || fail "$(cat "$tmp/out")"
}

too_large() {
	head -c 70000000 /dev/zero >"$tmp/zeros" && gzip -k "$tmp/zeros" && answers 200 && starts log.txtrace || return
	python3 "$post_py" "$here/v1/traces" "$tmp/zeros" >"$tmp/answer" && grep -q -E '^413|^closed' "$tmp/answer" || fail "$(cat "$tmp/answer")" || return
	python3 "$post_py" "$here/v1/traces" "$tmp/zeros" --chunked >"$tmp/answer" && grep -q -E '^413|^closed' "$tmp/answer" || fail "$(cat "$tmp/answer")" || return
	posts "200 application/x-protobuf" /v1/traces zeros.gz --type application/x-protobuf --encoding gzip && ends 0 && says "passed on as they were: 1" && field '.[0].sent' "$(stat -c %s "$tmp/zeros.gz")"
}

# Its recorder was killed, so nobody knows whether there is more: a request waits for 3 s, also if the hop is to end meanwhile, and has what there is.
without_an_end() {
	grep -v ^summary "$tmp/log.txt" | "$make_log" "$tmp/endless.txtrace" && answers 200 && starts endless.txtrace && posts "200 application/json {}" /v1/traces traces.json && ends 0 || return
	[ "$(grep -o 'txtrace.work_ns' "$tmp/receiver/taken" | wc -l)" = 2 ] && field length 1
}

# One that is not there yet, one that ends, and the next one, which has the same once more; a file that is none.
logs_come_and_go() {
	local posted=(posts "200 application/json {}" /v1/traces traces.json)
	mkdir -p "$tmp/logs" && answers 200 && starts logs && says_in_time "there is no log in 'logs' that is being written" && "${posted[@]}" && arrived 1 || return
	cp "$tmp/log.txtrace" "$tmp/logs/a.txtrace" && says_in_time "reading 'logs/a.txtrace'" && "${posted[@]}" && arrived 2 || return
	sed 's/passed on/the next one/' "$tmp/log.txt" | "$make_log" "$tmp/b.txtrace" && mv "$tmp/b.txtrace" "$tmp/logs/b.txtrace" && says_in_time "reading 'logs/b.txtrace'" && "${posted[@]}" && ends 0 || return
	diff - <(jq -c '[.resourceSpans[].scopeSpans[].spans[] | [.attributes[]? | select(.key == "txtrace.work_ns") | .value.intValue]]' "$tmp/receiver/taken") <<-'END' || return
		[[],[]]
		[["200"],["100"]]
		[["400"],["200"]]
	END
	echo nonsense >"$tmp/logs/c.txtrace" && starts logs && sleep 3 && ends 0 && [ "$(grep -c "can't read" "$tmp/err")" = 1 ] || fail "$(cat "$tmp/err")"
}

wrong() {
	complains "where should the spans go? Give a collector with --to, as in --to http://collector:4318" otlp-hop && refuses "a receiver of OTLP is" --to ftp://a && refuses "is no address: give one" --to http://localhost:1 --listen nowhere && refuses "can't serve at" --to http://localhost:1 --listen 192.0.2.1:1
}

refuses() { # refuses WORDS ARGUMENT...
	run 2 otlp-hop "${@:2}" && grep -q "$1" "$tmp/err" || fail "$(cat "$tmp/err")"
}

check "with ledgers" with_ledgers
check "all else stays as it is" untouched
check "headers" headers
check "what is refused" refused
check "a collector that fails, and comes back" patient
check "a collector that does not come back" gives_up
check "memory is bounded" bounded
check "what is too large" too_large
check "what the collector finds too large goes in halves" halved
check "a log without an end" without_an_end
check "logs come and go" logs_come_and_go
check "wrong usage" wrong
finish
