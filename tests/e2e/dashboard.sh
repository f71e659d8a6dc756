#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The Grafana dashboard: a real Prometheus, which scrapes a recorder of the bank, has an answer for each of its queries.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
# shellcheck source=tests/e2e/prometheus.sh
. tests/e2e/prometheus.sh || exit
need_bpf

dashboard=share/txtrace/grafana/txtrace.json
program='' tracer='' prometheus=''
trap 'kill $program $tracer $prometheus 2>/dev/null; wait' EXIT

serves_spans() {
	curl -sf --noproxy '*' --max-time 20 "http://127.0.0.1:$port/metrics" >"$tmp/page" && grep -q '^txtrace_span_part_seconds_count{label="transfer",part="runnable"}' "$tmp/page"
}

start() {
	port=$(free_port)
	"$programs/bank" --wait-traced 60 >"$tmp/bank" &
	program=$!
	"$recorder" -q -p $program -o "$tmp/bank.txtrace" --metrics "127.0.0.1:$port" 2>"$tmp/err" &
	tracer=$!
	wait_for 60 serves_spans || fail "no metrics of the bank: $(cat "$tmp/err")"
}

has_answers() {
	python3 $e2e/dashboard_check.py queries $dashboard "http://$address" >"$tmp/answers" 2>&1
}

a_prometheus_answers() {
	start_prometheus data "$port"
	wait_for 90 has_answers || fail "$(cat "$tmp/answers")" "$(tail -n 5 "$tmp/prometheus.log")"
	kill -INT $tracer
	wait $tracer || fail "the recorder ended with $?: $(cat "$tmp/err")"
}

check "the bank is traced" start
check "the panels are sound" python3 $e2e/dashboard_check.py structure $dashboard "$tmp/page"
if command -v prometheus >/dev/null; then
	check "a Prometheus has an answer for each query" a_prometheus_answers
else
	number=$((number + 1))
	echo "ok $number - a Prometheus has an answer for each query # SKIP there is no Prometheus here"
fi
finish
