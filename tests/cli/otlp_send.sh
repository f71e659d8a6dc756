#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# export --otlp: spans reach a receiver that fails in every way that the protocol allows, each once, and what is not taken is counted.
# shellcheck source=tests/cli/cli.sh
. tests/cli/cli.sh || exit

# shellcheck source=tests/cli/otlp_receiver.sh
. tests/cli/otlp_receiver.sh || exit
readers=${PROFILE_READERS:-build/setup/profile_readers}
decoder=$PWD/tests/cli/export_otlp.cjs
trap 'stop_receiver; rm -rf "$tmp"' EXIT

requests() { # requests JQ-FILTER: over the list of requests
	jq -sc "$1" "$tmp/receiver/requests"
}

requests_are() { # requests_are JQ-FILTER EXPECTED
	local got
	got=$(requests "$1")
	[ "$got" = "$2" ] || fail "requests: $got, not $2: $(cat "$tmp/err")"
}

# What was taken is what the file has, each span once: the same bytes of each span, and of what is around it.
all_taken() { # all_taken NAME
	python3 - "$tmp/$1.otlp" "$tmp/receiver/taken" "$(dirname "$receiver_py")" <<-'END'
		import sys
		sys.path.insert(0, sys.argv[3])
		from otlp_receiver import spans_of
		file, taken = (sorted(spans_of(open(name, "rb").read())) for name in sys.argv[1:3])
		assert file == taken, (len(file), len(taken))
		assert len(file) > 0
	END
}

says() { # says TEXT
	grep -qF -- "$1" "$tmp/err" || fail "stderr has no '$1': $(cat "$tmp/err")"
}

silent() {
	[ ! -s "$tmp/err" ] || fail "stderr: $(cat "$tmp/err")"
}

# 1,300 spans of three processes: 512, 512 and 276 in a message.
awk 'BEGIN {
	print "header pid=1 cpus=1 start_monotonic_ns=1"
	for (i = 1; i <= 1300; i++)
		print "span begin_ns=" i " end_ns=" i + 1 " pid=" i % 3 + 1 " tid=1 end_tid=1 id=" i " label=\"label " i "\" work_ns=1 on_cpu_ns=1"
	print "summary time_ns=2000" }' | "$make_log" "$tmp/many.txtrace" || exit
run 0 export -o many.otlp many.txtrace || exit

send() { # send STATUS OPTION...
	local status=$1
	shift
	run "$status" export --otlp "$url" "$@" many.txtrace
}

takes_all() {
	answers 200 && send 0 && silent && grep -q "^1,300 spans sent to 127.0.0.1:[0-9]*$" "$tmp/out" || fail "$(cat "$tmp/out")" || return
	requests_are '[.[].spans]' '[512,512,276]' && requests_are 'map([.path, .headers["Content-Type"], .headers["Content-Encoding"]]) | unique' '[["/v1/traces","application/x-protobuf","gzip"]]' || return
	requests_are 'all(.[]; (.headers["User-Agent"] | test("^OTel-OTLP-Exporter-txtrace/[0-9]")) and .sent < .bytes)' true && all_taken many
}

# The decoder of OpenTelemetry's own.
decodes() {
	node "$decoder" "$readers" "$tmp/receiver/taken" >"$tmp/decoded" && jq -e '[.resourceSpans[].scopeSpans[].spans[].name] | length == 1300 and (unique | length) == 1300' "$tmp/decoded" >/dev/null
}

again() { # again ANSWER: twice, then all is taken
	answers "$1" "$1" 200 && send 0 && all_taken many && requests_are '[.[].taken]' '[false,false,true,true,true]' && requests_are '[.[:3][].ids] | unique | length' 1 && says "trying again" && says "takes spans again" && [ "$(wc -l <"$tmp/err")" = 2 ] || fail "$(cat "$tmp/err")"
}

waits_longer() {
	answers 503 503 503 200 && send 0 && all_taken many && requests_are '[.[1].time - .[0].time, .[2].time - .[1].time, .[3].time - .[2].time] | .[0] >= 0.25 and .[1] >= 0.5 and .[2] >= 1 and .[2] < 8' true
}

asked_to_wait() { # asked_to_wait ANSWER
	answers "$1" 200 && send 0 && all_taken many && requests_are '.[1].time - .[0].time | . >= 0.9 and . < 20' true
}

# Nothing listens for a while; and before there is any receiver.
no_connection() {
	answers refuse=2 200 && send 0 && all_taken many && says "trying again"
}

late_receiver() {
	local port
	answers 200 || return
	stop_receiver
	port=$(cat "$tmp/receiver/port")
	(cd "$tmp" && exec "$txtrace" export --otlp "http://127.0.0.1:$port" --give-up 0.6s many.txtrace) >"$tmp/out" 2>"$tmp/err"
	[ $? = 2 ] && says "not all spans were sent: Failed to connect" && [ "$(grep -vc "trying again$" "$tmp/err")" = 1 ] && grep -q "^0 spans sent" "$tmp/out"
}

stalls() {
	answers stall=3 200 && OTEL_EXPORTER_OTLP_TIMEOUT=500 send 0 && all_taken many && says "no answer within 0.5 s"
}

# Not to be sent again: dropped, and the next one is sent.
refused() { # refused ANSWER SENTENCE
	answers "$1" 200 && send 1 && requests_are '[.[].taken]' '[false,true,true]' && says "$2" && says "512 spans were not sent" && grep -q "^788 spans sent" "$tmp/out"
}

# All others would be refused, too.
hopeless() { # hopeless STATUS
	answers "$1" && send 2 && requests_are length 1 && says "not all spans were sent: HTTP status $1: says the text" && [ "$(wc -l <"$tmp/err")" = 1 ]
}

redirected() {
	answers elsewhere 200 && send 1 && requests_are '[.[].path] | unique' '["/v1/traces"]' && says "HTTP status 307" && says "512 spans were not sent"
}

too_large() {
	answers large=100 && send 0 && silent && all_taken many && requests_are 'map(select(.taken)) | (map(.spans) | max <= 100) and length <= 24' true && requests_are 'map(select(.taken | not)) | length <= 6' true
}

one_too_large() {
	run 0 slice --to 40ns -o few.txtrace many.txtrace && answers large=0 && run 1 export --otlp "$url" few.txtrace && says "40 spans were not sent: HTTP status 413" && requests_are 'map(.spans) | [min, max]' '[1,40]'
}

# Three messages: of 512 spans, which is refused, the halves; of 512, at once the halves; of 276.
too_large_json() {
	answers large=300 && OTEL_EXPORTER_OTLP_PROTOCOL=http/json send 0 && silent && requests_are 'map(.spans)' '[512,256,256,256,256,276]' && requests_are 'map(select(.taken).spans) | add' 1300 &&
		[ "$(jq -r '.resourceSpans[].scopeSpans[].spans[].spanId' "$tmp/receiver/taken" | sort -u | wc -l)" = 1300 ]
}

partial() {
	answers partial=5 200 && send 1 && says "5 spans were rejected by the receiver: the receiver says: not these" && grep -q "^1,295 spans sent" "$tmp/out" && requests_are length 3
}

warned() {
	answers warning 200 && send 0 && says "the receiver says: use a newer one" && grep -q "^1,300 spans sent" "$tmp/out" && [ "$(wc -l <"$tmp/err")" = 1 ]
}

strange_answers() {
	answers garbage 200 && send 0 && silent && answers huge 200 && send 1 && says "the answer is longer than 4 MiB"
}

json() {
	answers 200 && OTEL_EXPORTER_OTLP_PROTOCOL=http/json OTEL_EXPORTER_OTLP_COMPRESSION=none send 0 && silent || return
	requests_are 'map([.headers["Content-Type"], .headers["Content-Encoding"], .sent == .bytes]) | unique' '[["application/json",null,true]]' || return
	run 0 export -o many.otlp.jsonl many.txtrace && cmp "$tmp/receiver/taken" "$tmp/many.otlp.jsonl" &&
		answers partial=5 200 && OTEL_EXPORTER_OTLP_PROTOCOL=http/json send 1 && says "5 spans were rejected by the receiver: the receiver says: not these"
}

environment() {
	answers 200 || return
	OTEL_EXPORTER_OTLP_ENDPOINT=$url/base/ OTEL_EXPORTER_OTLP_HEADERS='api-key=a%2Cb%20c, x-two = 2' OTEL_EXPORTER_OTLP_COMPRESSION=gzip OTEL_EXPORTER_OTLP_TRACES_COMPRESSION=none run 0 export --otlp env many.txtrace || return
	requests_are 'map([.path, .headers["api-key"], .headers["x-two"], .headers["Content-Encoding"]]) | unique' '[["/base/v1/traces","a,b c","2",null]]' || return
	answers 200
	OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1 OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=$url OTEL_EXPORTER_OTLP_HEADERS='' run 0 export --otlp env many.txtrace && requests_are 'map(.path) | unique' '["/"]' || return
	answers 200 && run 0 export --otlp "$url/v1/traces" many.txtrace && run 0 export --otlp "${url/127.0.0.1/me:secret@127.0.0.1}/in?a=b" many.txtrace && ! grep -q secret "$tmp/out" "$tmp/err" || return
	requests_are 'map([.path, .headers.Authorization]) | unique' '[["/in/v1/traces?a=b","Basic bWU6c2VjcmV0"],["/v1/traces",null]]'
}

headers_file() {
	answers 200 && printf '# a key\n\napi-key: s3cret \r\nX-Two:2' >"$tmp/headers" && send 0 --headers-file headers && requests_are 'map([.headers["api-key"], .headers["X-Two"]]) | unique' '[["s3cret","2"]]' || return
	for line in 'no header' 'a b: c' 'Content-Type: text/plain' 'bell: '$'\a' ': nothing'; do
		printf 'api-key: s3cret\n%s\n' "$line" >"$tmp/headers"
		send 2 --headers-file headers && says "line 2 of 'headers' is no header NAME: VALUE" || return
	done
	send 2 --headers-file missing && says "can't read 'missing': No such file or directory"
}

wrong_usage() {
	local bad
	for bad in localhost:4318 ftp://localhost 'http://' 'http:///v1' 'http://a b' $'http://a\nb' grpc://a; do
		run 2 export --otlp "$bad" many.txtrace && says "a receiver of OTLP is http://HOST:4318" || return
	done
	url=http://127.0.0.1:1
	OTEL_EXPORTER_OTLP_PROTOCOL=grpc send 2 && says "OTEL_EXPORTER_OTLP_PROTOCOL is 'grpc'" || return
	OTEL_EXPORTER_OTLP_TRACES_TIMEOUT=soon send 2 && says "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT is 'soon'" || return
	OTEL_EXPORTER_OTLP_COMPRESSION=zstd send 2 && says "OTEL_EXPORTER_OTLP_COMPRESSION is 'zstd'" || return
	OTEL_EXPORTER_OTLP_HEADERS='s3cret' send 2 && says "OTEL_EXPORTER_OTLP_HEADERS is no list" && ! grep -q s3cret "$tmp/err" || return
	OTEL_EXPORTER_OTLP_HEADERS='a=b%0d%0ac: d' send 2 && says "is no list" || return
	send 2 -o x.otlp && says "for files" && run 2 export --follow -f otlp many.txtrace && says "are for --otlp" && run 2 export --otlp "$url" --follow many.txtrace many.txtrace && says "only one file can be followed" && run 2 export --otlp "$url" missing.txtrace && says "can't read 'missing.txtrace'" && [ "$(cat "$tmp/out" "$tmp/err" | wc -l)" = 1 ] && run 2 export --otlp "$url" --follow missing.txtrace && [ "$(cat "$tmp/out" "$tmp/err" | wc -l)" = 1 ]
}

unknown_certificate() {
	openssl req -x509 -newkey rsa:2048 -nodes -keyout "$tmp/key.pem" -out "$tmp/cert.pem" -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 2>/dev/null || return
	answers 200 || return
	cat >"$tmp/tls.py" <<-'END'
		import ssl, sys
		sys.path.insert(0, sys.argv[1])
		from otlp_receiver import Receiver
		receiver = Receiver(sys.argv[2], ["200"])
		context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
		context.load_cert_chain(sys.argv[3], sys.argv[4])
		receiver.socket = context.wrap_socket(receiver.socket, server_side=True)
		open(sys.argv[2] + "/tls", "w").write(str(receiver.server_address[1]))
		receiver.serve_forever(0.05)
	END
	python3 "$tmp/tls.py" "$(dirname "$receiver_py")" "$tmp/receiver" "$tmp/cert.pem" "$tmp/key.pem" 2>/dev/null &
	local tls=$!
	until [ -s "$tmp/receiver/tls" ]; do
		kill -0 $tls || return
		sleep 0.05
	done
	url=https://127.0.0.1:$(cat "$tmp/receiver/tls")
	send 2 && says certificate && requests_are length 0 && OTEL_EXPORTER_OTLP_CERTIFICATE=$tmp/cert.pem send 0 && all_taken many
	local status=$?
	kill $tls
	wait $tls 2>/dev/null
	return $status
}

# A part of a log: its traces are those of the whole.
part_of_a_log() {
	"$make_log" "$tmp/tree.txtrace" <<-'END'
		header pid=1 cpus=1 start_monotonic_ns=1
		attribute time_ns=5 pid=1 tid=1 span=1 name="traceparent" value_type=string value="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
		span begin_ns=5 end_ns=8 pid=1 tid=1 end_tid=1 id=3 parent=2 label="inner" work_ns=3 on_cpu_ns=3
		span begin_ns=5 end_ns=9 pid=1 tid=1 end_tid=1 id=2 parent=1 label="middle" work_ns=4 on_cpu_ns=4
		span begin_ns=5 end_ns=10 pid=1 tid=1 end_tid=1 id=1 label="outer" work_ns=5 on_cpu_ns=5
		summary time_ns=20
	END
	run 0 export -o whole.otlp.jsonl tree.txtrace && run 0 export --where label=inner -o part.otlp.jsonl tree.txtrace || return
	jq -e -n --slurpfile whole "$tmp/whole.otlp.jsonl" --slurpfile part "$tmp/part.otlp.jsonl" '$part[0].resourceSpans[0].scopeSpans[0].spans == [$whole[0].resourceSpans[0].scopeSpans[0].spans[0]] and $part[0].resourceSpans[0].scopeSpans[0].spans[0].traceId == "0af7651916cd43dd8448eb211c80319c"' >/dev/null || fail "$(cat "$tmp/part.otlp.jsonl")"
	answers 200 && run 0 export --otlp "$url" --where label=inner tree.txtrace && run 0 export --where label=inner -o part.otlp tree.txtrace && all_taken part
}

check "a receiver that takes all gets each span once, in messages of at most 512, gzip'd" takes_all
if [ -e "$readers/otlp_root.js" ] && command -v node >/dev/null; then
	check "... which OpenTelemetry's own decoder reads" decodes
else
	skip "... which OpenTelemetry's own decoder reads" "make setup would install it"
fi
for answer in 429 502 503 504 close; do
	check "'$answer': the same message again" again $answer
done
check "each wait is longer than the one before" waits_longer
check "Retry-After in seconds" asked_to_wait 503@1
check "Retry-After as a date" asked_to_wait 429@date
check "the port is closed for a while" no_connection
check "no receiver within the time: it ends, and says what was not sent" late_receiver
check "a receiver that stalls" stalls
check "400: dropped, counted, and the next one is sent" refused 400 "HTTP status 400: says the text"
check "500 with a Status of gRPC: likewise" refused 500~ "HTTP status 500: says the status"
for status in 401 403 404; do
	check "$status: no further request" hopeless $status
done
check "headers go to no other server" redirected
check "413: halves, and later messages are halved at once" too_large
check "413 for one span: dropped and counted" one_too_large
check "413 in JSON: dropped and counted" too_large_json
check "a partial success is counted, and nothing is sent again" partial
check "a warning is said, and all is sent" warned
check "answers that are no message, or have no end" strange_answers
check "http/json, uncompressed: what the file has" json
check "the environment's endpoint, headers, and what is for traces alone" environment
check "a file of headers" headers_file
if command -v openssl >/dev/null; then
	check "an unknown certificate ends it, and a known one does not" unknown_certificate
else
	skip "an unknown certificate ends it, and a known one does not" "there is no openssl to make one"
fi
check "a part of a log has the traces of the whole" part_of_a_log
check "wrong usage: one sentence, and no secret in it" wrong_usage
finish
