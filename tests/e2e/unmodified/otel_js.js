// SPDX-License-Identifier: BSD-2-Clause
//
// otel_js.js GO FORM URL: spans of the JavaScript SDK, of which a context manager publishes the present one; prints the id of each, and for how many ms it and those
// below it slept. FORM: proto or http, the exporters of that name.
const { NodeTracerProvider, BatchSpanProcessor } = require('@opentelemetry/sdk-trace-node');
const { AsyncLocalStorageContextManager } = require('@opentelemetry/context-async-hooks');
const { trace, context } = require('@opentelemetry/api');
const { ThreadContext } = require('@datadog/pprof/out/src/otel-thread-ctx');
const [go, form, url] = process.argv.slice(2);
const { OTLPTraceExporter } = require('@opentelemetry/exporter-trace-otlp-' + form);
const bytes = hex => Uint8Array.from(Buffer.from(hex, 'hex'));
class Manager extends AsyncLocalStorageContextManager {
	with(ctx, fn, self, ...args) {
		const span = trace.getSpanContext(ctx);
		const run = () => super.with(ctx, fn, self, ...args);
		return span ? new ThreadContext(bytes(span.traceId), bytes(span.spanId), 1).run(run) : run();
	}
}
const exporter = new OTLPTraceExporter({ url: url + '/v1/traces', headers: { 'x-scope-orgid': 'team' } });
const processor = new BatchSpanProcessor(exporter, { scheduledDelayMillis: 200 });
new NodeTracerProvider({ spanProcessors: [processor] }).register({ contextManager: new Manager() });
const tracer = trace.getTracer('shop');
const shared = new Int32Array(new SharedArrayBuffer(4));
const sleep = ms => Atomics.wait(shared, 0, 0, ms);
let left = 40;
tracer.startActiveSpan('warm', s => s.end());
const timer = setInterval(() => {
	if (!require('fs').existsSync(go))
		return;
	tracer.startActiveSpan('outer', outer => {
		sleep(4);
		tracer.startActiveSpan('inner', inner => {
			sleep(3);
			console.log(inner.spanContext().traceId, inner.spanContext().spanId, 3);
			inner.end();
		});
		sleep(2);
		console.log(outer.spanContext().traceId, outer.spanContext().spanId, 9);
		outer.end();
	});
	if (--left === 0) {
		clearInterval(timer);
		processor.shutdown().then(() => process.exit(0));
	}
}, 25);
