#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --otel with Node.js and dd-trace, and OpenTelemetry's SDK for JavaScript through otlp-hop, all unmodified, against what the program measures.
# OTEL_NODEJS=FOLDER: where they are (docs/development.md).
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
# shellcheck source=tests/cli/otlp_receiver.sh
. tests/cli/otlp_receiver.sh || exit
need_bpf
folder=${OTEL_NODEJS:-build/setup/otel_nodejs}
if { [ ! -d "$folder/node_modules/dd-trace" ] && [ ! -d "$folder/node_modules/@opentelemetry/sdk-trace-node" ]; } || [ ! -x "$folder/node_modules/node/bin/node" ]; then
	echo "ok 1 - Node.js and dd-trace # SKIP they are not here: OTEL_NODEJS=FOLDER, see docs/development.md"
	echo "1..1"
	exit
fi

cat >"$tmp/app.js" <<'END'
const tracer = require('dd-trace').init({ url: 'http://127.0.0.1:9', service: 'shop', startupLogs: false, telemetry: false });
const shared = new Int32Array(new SharedArrayBuffer(4));
const sleep = ms => Atomics.wait(shared, 0, 0, ms);
const spin = ms => { const end = process.hrtime.bigint() + BigInt(ms * 1e6); while (process.hrtime.bigint() < end); };
const line = (span, slept) => { const c = span.context(); console.log(c.toTraceId(true), c.toSpanId(true), slept); };
let left = 40;
const timer = setInterval(() => {
	if (!require('fs').existsSync(process.argv[2]))
		return;
	tracer.trace('outer', (outer) => {
		sleep(4);
		spin(1);
		tracer.trace('inner', (inner) => {
			sleep(3);
			line(inner, 3);
		});
		sleep(2);
		line(outer, 6);
	});
	if (--left === 0) {
		clearInterval(timer);
		setTimeout(() => process.exit(0), 50);
	}
}, 25);
END

# Each span is there, off the CPU for as long as the program asked, blocked by the lock that Atomics.wait is unless others had the CPU; and no other context was.
as_measured() {
	NODE_PATH=$folder/node_modules DD_TRACE_OTEL_CTX_ENABLED=true "$recorder" --otel -f -o "$tmp/node.txtrace" -- "$folder/node_modules/node/bin/node" "$tmp/app.js" "$tmp/go" >"$tmp/node.out" 2>"$tmp/said" &
	wait_for 3 grep -q "publishes the contexts" "$tmp/said"
	touch "$tmp/go"
	wait $! || fail "$(cat "$tmp/said")" || return
	[ "$(grep -c "publishes the contexts of its threads" "$tmp/said")" = 1 ] || fail "$(cat "$tmp/said")" || return
	"$reader" export --format jsonl -o "$tmp/node.jsonl" "$tmp/node.txtrace" || return
	python3 - "$tmp/node.out" "$tmp/node.jsonl" <<-'END'
		import collections, json, sys
		asked = {tuple(line.split()[:2]): int(line.split()[2]) * 1_000_000 for line in open(sys.argv[1]) if len(line.split()) == 3 and len(line.split()[0]) == 32}
		spans, parents, blocked, off = {}, {}, collections.Counter(), collections.Counter()
		for line in open(sys.argv[2]):
		    record = json.loads(line)
		    if record["type"] == "span" and record["label"] == "otel":
		        spans[record["pid"], record["id"]] = record
		    elif record["type"] == "attribute" and record["name"] == "traceparent":
		        parents[record["pid"], record["span"]] = record["value"]
		for key, span in spans.items():
		    name = tuple(parents[key].split("-")[1:3])
		    blocked[name] += span["blocked"]["lock"]
		    off[name] += span["blocked_ns"] + span["runnable_ns"] + span.get("stolen_ns", 0) + span["unknown_ns"]
		assert len(asked) == 80, len(asked)
		for key, ns in asked.items():
		    assert off[key] >= ns - 300_000 and 0 < blocked[key] < ns + 20_000_000, (key, ns, blocked[key], off[key])
		others = [key for key, ns in blocked.items() if key not in asked and ns > 1_000_000]
		assert not others, others
		print(f"# {len(asked)} spans, blocked for {sum(asked.values()) / 1e6:.0f} ms, recorded {sum(blocked[k] for k in asked) / 1e6:.1f} ms")
	END
}

# The SDK sends its spans to the hop while they are recorded: each gets its ledger.
through_the_hop() { # through_the_hop FORM: of the SDK's exporter
	local hop pid
	rm -rf "$tmp/logs" "$tmp/go"
	mkdir "$tmp/logs"
	answers 200 || return
	"$reader" otlp-hop --listen 127.0.0.1:0 --to "$url" "$tmp/logs" >"$tmp/hop.out" 2>"$tmp/hop.said" &
	hop=$!
	wait_for 3 grep -q Ctrl-C "$tmp/hop.out" || return
	NODE_PATH=$folder/node_modules "$recorder" --otel -f -o "$tmp/logs/js.txtrace" -- "$folder/node_modules/node/bin/node" "$e2e/unmodified/otel_js.js" \
		"$tmp/go" "$1" "$(sed -n 's/^requests to \(.*\) go to .*/\1/p' "$tmp/hop.out")" >"$tmp/js.out" 2>"$tmp/said" &
	pid=$!
	wait_for 3 grep -q "publishes the contexts" "$tmp/said"
	touch "$tmp/go"
	wait $pid || fail "$(cat "$tmp/said")" || return
	kill -TERM $hop
	wait $hop || fail "the hop ended with $?: $(cat "$tmp/hop.said")" || return
	python3 "$e2e/check_otel_js.py" "$tmp/js.out" "$tmp/receiver/taken" || fail "$(cat "$tmp/hop.said" "$tmp/hop.out")"
}

[ ! -d "$folder/node_modules/dd-trace" ] || check "spans of Node.js and dd-trace" as_measured
if [ -d "$folder/node_modules/@opentelemetry/sdk-trace-node" ]; then
	check "the SDK for JavaScript, in protobuf" through_the_hop proto
	check "the SDK for JavaScript, in JSON" through_the_hop http
fi
stop_receiver
finish
