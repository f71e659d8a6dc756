#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A real Prometheus gets the metrics as OpenMetrics, and keeps the traces of slow spans as exemplars; and as protobuf, and keeps native histograms.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
# shellcheck source=tests/e2e/prometheus.sh
. tests/e2e/prometheus.sh || exit
need_bpf

program='' tracer='' prometheus=''
trap 'kill $program $tracer $prometheus 2>/dev/null; wait' EXIT

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
	grep -q '^txtrace_span_wall_seconds_bucket{label="request",le="[^"]*"} [0-9]* # {trace_id="00000000000000000000000000abc00[0-9]"} 0\.0[0-9]* [0-9]*\.[0-9]*$' "$tmp/open" || fail "$(grep request "$tmp/open")" || return
	! grep 'label="job"' "$tmp/open" | grep -q trace_id || fail "a job is in a trace"
}

has_exemplars() {
	ask query_exemplars --data-urlencode 'query=txtrace_span_wall_seconds_bucket' --data-urlencode "start=$(($(date +%s) - 3600))" --data-urlencode "end=$(($(date +%s) + 60))" >"$tmp/exemplars" &&
		jq -e '.data | length > 0' "$tmp/exemplars" >/dev/null
}

prometheus_keeps_them() {
	start_prometheus with_exemplars "$port" --enable-feature=exemplar-storage
	wait_for 60 has_exemplars || fail "Prometheus has none: $(tail -n 5 "$tmp/prometheus.log")" || return
	jq -e '.data | all(.seriesLabels.label == "request" and all(.exemplars[]; (.labels.trace_id | test("^00000000000000000000000000abc00[0-9]$")) and (.value | tonumber) >= 0.015))' "$tmp/exemplars" >/dev/null ||
		fail "$(cat "$tmp/exemplars")" || return
	# the whole page was understood
	[ "$(ask query --data-urlencode 'query=up' | jq -r '.data.result[0].value[1]')" = 1 ] && [ "$(ask query --data-urlencode 'query=txtrace_events_sent_total' | jq '.data.result | length')" = 1 ] || fail "$(ask targets | jq -c '.data.activeTargets[].lastError')" || return
	end_prometheus
}

has_native() {
	ask query --data-urlencode 'query=txtrace_span_wall_seconds{label="request"}' >"$tmp/native" && jq -e '.data.result[0].histogram[1].count | tonumber > 20' "$tmp/native" >/dev/null
}

# What Prometheus makes of the buckets: their bounds are powers of 2^(1/8), each request is in one of them, and its median is within one of what the log says.
native_histograms() {
	local median
	start_prometheus with_native "$port" --enable-feature=native-histograms,exemplar-storage
	wait_for 60 has_native || fail "Prometheus has none: $(ask targets | jq -c '.data.activeTargets[].lastError') $(cat "$tmp/native")" || return
	jq -e '.data.result[0].histogram[1] | (.count | tonumber) == ([.buckets[][3] | tonumber] | add) and
		all(.buckets[]; (.[2] | tonumber) / (.[1] | tonumber) > 1.0904 and (.[2] | tonumber) / (.[1] | tonumber) < 1.0906 and (.[2] | tonumber) >= 0.015)' "$tmp/native" >/dev/null || fail "$(cat "$tmp/native")" || return
	median=$(ask query --data-urlencode 'query=histogram_quantile(0.5, txtrace_span_wall_seconds{label="request"})' | jq -r '.data.result[0].value[1]')
	kill $tracer
	wait $tracer || fail "txtrace-bpf ended with $?" || return
	tracer=
	"$reader" report --json "$tmp/requests.txtrace" | jq -e --arg median "$median" '.labels[] | select(.name == "request") | .wall_ns.p50 / 1e9 / ($median | tonumber) | . > 0.9 and . < 1.1' >/dev/null ||
		fail "the median is $median, by the log $("$reader" report --json "$tmp/requests.txtrace" | jq -c '.labels[].wall_ns')"
	end_prometheus
}

check "a program with traces is recorded" start_program
check "exemplars are in OpenMetrics only, of spans in traces only" formats_differ
if command -v prometheus >/dev/null; then
	check "Prometheus keeps them" prometheus_keeps_them
	check "and native histograms" native_histograms
else
	number=$((number + 1))
	echo "ok $number - Prometheus keeps them # SKIP there is no prometheus (Debian package: prometheus)"
fi
finish
