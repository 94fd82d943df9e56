// All rows of a store, for comparing two of them.

import pg from "pg";
import { TABLES } from "../../../src/stores/moving/tables.ts";
import { withDatabase } from "./store-file.ts";

export type Dump = Record<string, unknown[][]>;
const isMark = ([kind, key]: unknown[]) => kind === "meta" && key === "moved";
const sql = (at: (table: string) => string) =>
	TABLES.map(
		({ name, columns, key }) => [name, `SELECT ${Object.keys(columns).join(", ")} FROM ${at(name)} ORDER BY ${key.join(", ")}`] as const,
	);

/** Without the mark of a store that was moved. */
export const dumpFile = (path: string): Dump =>
	withDatabase(path, (database) =>
		Object.fromEntries(
			sql((name) => name).map(([name, text]) => {
				const statement = database.prepare(text);
				statement.setReturnArrays(true);
				return [name, (statement.all() as unknown[][]).filter((row) => !isMark(row))];
			}),
		),
	);

export async function dumpDatabase(url: string, schema = "sluice"): Promise<Dump> {
	const client = new pg.Client({
		connectionString: url,
		types: { getTypeParser: (type: number) => (type === 20 || type === 701 ? Number : String) } as unknown as pg.CustomTypesConfig,
	});
	await client.connect();
	try {
		const dump: Dump = {};
		await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
		for (const [name, text] of sql((name) => `"${schema}".${name}`))
			dump[name] = ((await client.query({ text, rowMode: "array" })).rows as unknown[][]).filter((row) => !isMark(row));
		return dump;
	} finally {
		await client.end();
	}
}
