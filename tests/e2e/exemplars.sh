#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A real Prometheus gets the metrics as OpenMetrics, and keeps the traces of slow spans as exemplars.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

program='' tracer='' prometheus=''
trap 'kill $program $tracer $prometheus 2>/dev/null; wait' EXIT

free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

ask() { # ask PATH: of Prometheus
	curl -sf --noproxy '*' --max-time 20 -G "http://$address/api/v1/$1" "${@:2}"
}

page() { # page ACCEPT: of the recorder
	curl -sf --noproxy '*' --max-time 20 -H "Accept: $1" "http://127.0.0.1:$port/metrics"
}

# Requests of 15 ms, each in a trace, and jobs of as long in none.
start_program() {
	cat >"$tmp/requests.c" <<-'END'
		#include "txtrace.h"
		#include <stdio.h>
		#include <unistd.h>
		int main(void)
		{
			while (!TXTRACE_ENABLED())
				usleep(1000);
			for (unsigned int i = 1;; i++) {
				char header[56];
				snprintf(header, sizeof(header), "00-%032x-b7ad6b7169203331-01", 0xabc000u + i % 10);
				{
					TXTRACE_SPAN_AS(span, "request");
					TXTRACE_SET_TRACEPARENT(span, header);
					usleep(15000);
				}
				{
					TXTRACE_SPAN("job");
					usleep(15000);
				}
			}
		}
	END
	gcc -O2 -Wall -Werror -Iinclude "$tmp/requests.c" -o "$tmp/requests" || fail "it cannot be compiled" || return
	"$tmp/requests" &
	program=$!
	port=$(free_port)
	"$recorder" -q -p $program -o "$tmp/requests.txtrace" --metrics "127.0.0.1:$port" 2>"$tmp/err" &
	tracer=$!
	wait_for 60 has_spans || fail "no metrics: $(cat "$tmp/err")"
}

has_spans() {
	page text/plain >"$tmp/page" && grep -q '^txtrace_span_wall_seconds_count{label="job"} [1-9]' "$tmp/page"
}

formats_differ() {
	page text/plain >"$tmp/plain" && page application/openmetrics-text >"$tmp/open" || return
	! grep -q 'trace_id\|^# EOF' "$tmp/plain" || fail "the text format has exemplars" || return
	[ "$(tail -n 1 "$tmp/open")" = '# EOF' ] || fail "no end: $(tail -n 1 "$tmp/open")" || return
	grep -q '^txtrace_span_wall_seconds_bucket{label="request",le="[^"]*"} [0-9]* # {trace_id="00000000000000000000000000abc00[0-9]"} 0\.0[0-9]*$' "$tmp/open" || fail "$(grep request "$tmp/open")" || return
	! grep 'label="job"' "$tmp/open" | grep -q trace_id || fail "a job is in a trace"
}

has_exemplars() {
	ask query_exemplars --data-urlencode 'query=txtrace_span_wall_seconds_bucket' --data-urlencode "start=$(($(date +%s) - 3600))" --data-urlencode "end=$(($(date +%s) + 60))" >"$tmp/exemplars" &&
		jq -e '.data | length > 0' "$tmp/exemplars" >/dev/null
}

prometheus_keeps_them() {
	address=127.0.0.1:$(free_port)
	mkdir "$tmp/data"
	cat >"$tmp/prometheus.yml" <<-END
		global: { scrape_interval: 1s }
		scrape_configs: [ { job_name: txtrace, static_configs: [ { targets: [ "127.0.0.1:$port" ] } ] } ]
	END
	prometheus --enable-feature=exemplar-storage --config.file="$tmp/prometheus.yml" --storage.tsdb.path="$tmp/data" --web.listen-address="$address" >"$tmp/prometheus.log" 2>&1 &
	prometheus=$!
	wait_for 60 has_exemplars || fail "Prometheus has none: $(tail -n 5 "$tmp/prometheus.log")" || return
	jq -e '.data | all(.seriesLabels.label == "request" and all(.exemplars[]; (.labels.trace_id | test("^00000000000000000000000000abc00[0-9]$")) and (.value | tonumber) >= 0.015))' "$tmp/exemplars" >/dev/null ||
		fail "$(cat "$tmp/exemplars")" || return
	# the whole page was understood
	[ "$(ask query --data-urlencode 'query=up' | jq -r '.data.result[0].value[1]')" = 1 ] && [ "$(ask query --data-urlencode 'query=txtrace_events_sent_total' | jq '.data.result | length')" = 1 ] || fail "$(ask targets | jq -c '.data.activeTargets[].lastError')"
}

check "a program with traces is recorded" start_program
check "exemplars are in OpenMetrics only, of spans in traces only" formats_differ
if command -v prometheus >/dev/null; then
	check "Prometheus keeps them" prometheus_keeps_them
else
	number=$((number + 1))
	echo "ok $number - Prometheus keeps them # SKIP there is no prometheus (Debian package: prometheus)"
fi
finish
