// SPDX-License-Identifier: BSD-2-Clause
//
// node export_pprof.mjs FOLDER PROFILE
//
// Decodes a profile with npm's pprof-format (FOLDER holds pprof_format.mjs): a line "TYPE UNIT SUM" for each type of sample.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";

const [folder, path] = process.argv.slice(2);
const { Profile } = await import(pathToFileURL(resolve(join(folder, "pprof_format.mjs"))));
const profile = Profile.decode(gunzipSync(readFileSync(path)));
const text = (index) => profile.stringTable.strings[Number(index)];

profile.sampleType.forEach((type, index) => {
	const sum = profile.sample.reduce((total, sample) => total + BigInt(sample.value[index]), 0n);
	console.log(text(type.type), text(type.unit), String(sum));
});
