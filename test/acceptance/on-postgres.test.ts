// What the five documents promise, once more, on PostgreSQL: the same tests, with every stand on a schema of its own.

import pg from "pg";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { isLong } from "../make/long.ts";
import { placeStands } from "../make/stand.ts";
import { type Server, startServer } from "../make/stores/postgres-server.ts";
import { changeBy } from "../make/stores/store-file.ts";

let server: Server;
let admin: pg.Client;
/** Schemas that are there and empty: to empty one is quicker than to make one. */
const free: string[] = [];
let made = 0;

beforeAll(async () => {
	server = await startServer();
	admin = new pg.Client({ connectionString: server.url() });
	await admin.connect();
});
afterAll(async () => {
	await admin?.end();
	server?.end();
});

const TABLES = ["job", "done", "spec", "edge", "link", "run", "event", "record"];

async function emptied(schema: string): Promise<void> {
	await admin.query(`TRUNCATE ${TABLES.map((table) => `"${schema}".${table}`).join(", ")}`);
	free.push(schema);
}

/** By path: who opens a file again finds what was there. */
const byPath = new Map<string, string>();
placeStands(async (path) => {
	let schema = byPath.get(path);
	if (schema === undefined) {
		schema = free.pop() ?? `stand_${++made}`;
		const own = schema;
		if (path !== ":memory:") byPath.set(path, own);
		onTestFinished(async () => {
			byPath.delete(path);
			await emptied(own);
		});
	}
	return { url: `${server.url()}?schema=${schema}` };
});

changeBy(async (path, tables, sql) => {
	for (const table of tables) await admin.query(sql(`"${byPath.get(path)}".${table}`));
	// The leader goes by its memory: a raised epoch ends its term, and the next one reads everything.
	await admin.query(`UPDATE "${byPath.get(path)}".head SET epoch = epoch + 1`);
});

await import("./000-cards.test.ts");
await import("./002-dag.test.ts");
await import("./operators.test.ts");
await import("./reasons.test.ts");
await import("../../src/scheduler/operations/verdicts.test.ts");
await import("../../src/scheduler/operations/within.test.ts");
if (isLong) {
	await import("./001-town.test.ts");
	await import("./003-loops.test.ts");
	await import("./004-kernel.test.ts");
	await import("./004-python.test.ts");
}
