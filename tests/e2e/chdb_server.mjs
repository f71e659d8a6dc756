// SPDX-License-Identifier: BSD-2-Clause
// chdb_server.mjs CHDB_FOLDER DATA_FOLDER: the current ClickHouse, as a library in npm's chdb, behind HTTP as its server has it: a POST with a statement,
// or, of an INSERT, with the statement in the URL and the rows as RowBinary in the body. Prints the port.
import { createRequire } from "node:module";
import { createServer } from "node:http";
import { writeFileSync, unlinkSync } from "node:fs";
import { join } from "node:path";

const [folder, data] = process.argv.slice(2);
const { Session } = createRequire(join(folder, "package.json"))("chdb");
const session = new Session(data);
let waiting = Promise.resolve();

// As the text of a statement says: that a library is asked for a format is another argument.
const run = async (statement) => {
	const found = /\sFORMAT\s+(\w+)\s*$/.exec(statement);

	return session.queryAsync(found ? statement.slice(0, found.index) : statement, { format: found ? found[1] : "TabSeparated" });
};

const insert = async (statement, rows) => {
	const [, table, names] = /^INSERT INTO (\w+) \((.*)\) FORMAT RowBinary$/s.exec(statement);
	const described = (await run(`DESCRIBE TABLE ${table} FORMAT JSONEachRow`)).text().trim().split("\n").map((line) => JSON.parse(line));
	const types = new Map(described.map((column) => [column.name, column.type]));
	const structure = names.split(", ").map((name) => `${name} ${types.get(name.replaceAll("`", ""))}`).join(", ");
	const path = join(data, "rows");

	writeFileSync(path, rows);
	try {
		await run(`INSERT INTO ${table} (${names}) SELECT * FROM file('${path}', 'RowBinary', '${structure.replaceAll("'", "\\'")}')`);
	} finally {
		unlinkSync(path);
	}
	return Buffer.alloc(0);
};

const answer = async (url, body) => {
	if (url.searchParams.has("database"))
		await run(`USE \`${url.searchParams.get("database")}\``);
	if (url.searchParams.has("query"))
		return insert(url.searchParams.get("query"), body);
	return Buffer.from((await run(body.toString())).bytes());
};

createServer((request, response) => {
	const pieces = [];

	request.on("data", (piece) => pieces.push(piece));
	request.on("end", () => {
		waiting = waiting.then(async () => {
			try {
				response.end(await answer(new URL(request.url, "http://localhost"), Buffer.concat(pieces)));
			} catch (error) {
				response.statusCode = 500;
				response.end(error.message);
			}
		});
	});
}).listen(0, "127.0.0.1", function () { console.log(this.address().port); });
