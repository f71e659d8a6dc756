// SPDX-License-Identifier: BSD-2-Clause
// export_sui_bcs.mjs FOLDER FILE: a line for each event of a file of Sui's transaction trace, "NS DIGEST TYPE", as @mysten/bcs in FOLDER reads it. Each payload has to be
// what the library writes of it.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, path] = process.argv.slice(2);
const { bcs } = await import(pathToFileURL(resolve(folder, 'node_modules/@mysten/bcs/dist/index.mjs')));

const time = bcs.struct('Time', { seconds: bcs.u64(), nanos: bcs.u32() });
const type = bcs.enum('Type', { 0: null, 1: null, 2: null, 3: null });
const event = bcs.struct('Event', { digest: bcs.fixedArray(32, bcs.u8()), type });
const batch = bcs.vector(bcs.enum('Record', { absolute: time, delta: bcs.u16(), large: time, event }));

const data = readFileSync(path);
let clock = 0n;
for (let at = 0; at < data.length;) {
	const length = data.readUInt32LE(at), payload = data.subarray(at + 4, at + 4 + length);
	at += 4 + length;
	const records = batch.parse(new Uint8Array(payload));
	if (Buffer.compare(payload, Buffer.from(batch.serialize(records).toBytes())) !== 0)
		throw new Error(`the payload before byte ${at} is written otherwise`);
	for (const record of records) {
		const ns = (of) => BigInt(of.seconds) * 1000000000n + BigInt(of.nanos);
		if (record.absolute)
			clock = ns(record.absolute);
		else if (record.large)
			clock += ns(record.large);
		else if (record.event)
			console.log(`${clock} ${Buffer.from(record.event.digest).toString('hex')} ${record.event.type.$kind}`);
		else
			clock += BigInt(record.delta) * 1000n;
	}
}
