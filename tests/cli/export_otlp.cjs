// SPDX-License-Identifier: BSD-2-Clause
//
// node export_otlp.cjs FOLDER FILE
//
// Decodes OTLP with what OpenTelemetry generates of its messages (FOLDER holds otlp_root.js), and prints the message as JSON, in the names and forms of OTLP's own.
const { readFileSync } = require("node:fs");
const { resolve } = require("node:path");

const [folder, file] = process.argv.slice(2);
const modules = resolve(folder, "node_modules");
const protobuf = require(resolve(modules, "protobufjs/minimal.js"));

protobuf.util.Long = require(resolve(modules, "long/index.js")); // numbers above 2^53
protobuf.configure();

const root = require(resolve(folder, "otlp_root.js"));
const Message = root.opentelemetry.proto.trace.v1.TracesData ?? root.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
const message = Message.toObject(Message.decode(readFileSync(file)), { longs: String, enums: Number, bytes: Buffer });

console.log(JSON.stringify(message, function (name, value) {
	const bytes = this[name];

	if (typeof value === "number" && !Number.isFinite(value)) return String(value);
	if (Buffer.isBuffer(bytes)) return bytes.toString(name === "bytesValue" ? "base64" : "hex"); // ids are in hex, unlike JSON of Protobuf's own
	return value;
}));
