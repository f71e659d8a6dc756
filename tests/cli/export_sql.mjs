// SPDX-License-Identifier: BSD-2-Clause
//
// node export_sql.mjs FOLDER TRACE [SQL]...
//
// Loads a trace into Perfetto's own trace_processor (as WebAssembly: FOLDER holds engine.mjs, engine_bundle.node.js and trace_processor.wasm) and
// prints the rows of each query, the columns separated by "|"; a line "--" ends each result. Queries are arguments, or lines of stdin if there is none.
// Exit status 1: the trace could not be read, or a query is wrong.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { runInThisContext } from "node:vm";

const [folder, trace, ...queries] = process.argv.slice(2);
if (queries.length === 0)
	queries.push(...readFileSync(0, "utf8").split("\n").filter((line) => line.trim() !== ""));

// The bundle is made for a browser's worker: it looks for one, fetches the .wasm by URL, and keeps the bridge to itself.
function replaceOnce(text, from, to) {
	if (!text.includes(from))
		throw new Error(`the trace_processor bundle has changed: no '${from}' in it`);
	return text.replace(from, to);
}

function startBridge() {
	globalThis.self ??= globalThis;
	globalThis.WorkerGlobalScope ??= class {};
	globalThis.location ??= { href: pathToFileURL(resolve(folder)).href + "/" };
	globalThis.traceProcessorBytes = new Uint8Array(readFileSync(join(folder, "trace_processor.wasm")));
	let source = readFileSync(join(folder, "engine_bundle.node.js"), "utf8");
	source = replaceOnce(source, "this.useMemory64 = hasMemory64Support();", "this.useMemory64 = false;");
	source = replaceOnce(source, "locateFile: (s) => s,", "locateFile: (s) => s, wasmBinary: globalThis.traceProcessorBytes,");
	source = replaceOnce(source, "const wasmBridge = new wasm_bridge_1.WasmBridge();",
		"const wasmBridge = globalThis.traceProcessorBridge = new wasm_bridge_1.WasmBridge();");
	runInThisContext(source);
	return globalThis.traceProcessorBridge;
}

async function until(condition, what) {
	for (let tries = 0; !condition(); tries++) {
		if (tries > 3000)
			throw new Error(`trace_processor: waited 60 s for ${what}`);
		await new Promise((done) => setTimeout(done, 20));
	}
}

async function openEngine() {
	const { EngineBase } = await import(pathToFileURL(resolve(folder, "engine.mjs")).href);
	const bridge = startBridge();
	const { port1, port2 } = new MessageChannel();

	class Engine extends EngineBase {
		mode = "WASM";
		id = "txtrace";
		rpcSendRequestBytes(data) { port2.postMessage(data); }
		[Symbol.dispose]() { port2.close(); }
	}
	const engine = new Engine();
	port2.onmessage = (message) => engine.onRpcResponseBytes(message.data);
	await until(() => bridge.reqBufferAddr !== 0, "its start");
	bridge.initialize(port1);
	return engine;
}

function show(value) {
	if (value instanceof Uint8Array)
		return Buffer.from(value).toString("hex");
	return value === null ? "NULL" : String(value);
}

async function main() {
	const engine = await openEngine();
	await engine.parse(new Uint8Array(readFileSync(trace)));
	await engine.notifyEof();
	for (const sql of queries) {
		const result = await engine.query(sql);
		if (result.error())
			throw new Error(result.error());
		const columns = result.columns();
		for (const row = result.iter({}); row.valid(); row.next())
			console.log(columns.map((column) => show(row.get(column))).join("|"));
		console.log("--");
	}
}

const warn = console.warn;
console.warn = (...args) => String(args[0]).includes("Unexpected QueryResult field") || warn(...args);
process.on("uncaughtException", (error) => { console.error(error.message ?? error); process.exit(1); });
main().then(() => process.exit(0), (error) => { console.error(error.message ?? error); process.exit(1); });
