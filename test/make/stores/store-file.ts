// A look into a store, and damage to it, behind the scheduler's back: through a connection of its own.

import { type Database, openDatabase } from "../../../src/stores/sqlite/driver.ts";

export function withDatabase<T>(path: string, use: (database: Database) => T): T {
	const database = openDatabase(path);
	database.exec("PRAGMA busy_timeout = 10000");
	try {
		return use(database);
	} finally {
		database.close();
	}
}

/** The first value that a pragma answers. */
export const pragma = (path: string, name: string): unknown =>
	withDatabase(path, (database) => {
		const statement = database.prepare(`PRAGMA ${name}`);
		statement.setReturnArrays(true);
		return (statement.all()[0] as unknown[])[0];
	});

/** Where stands have another store than a file, whoever placed them there says how to change it by hand. */
let change: (path: string, tables: readonly string[], sql: (table: string) => string) => Promise<void> = async (path, tables, sql) =>
	withDatabase(path, (database) => {
		for (const table of tables) database.exec(sql(table));
	});
export const changeBy = (next: typeof change): void => {
	change = next;
};

/** A job's record that no longer parses. */
export const makeUnreadable = (path: string, job: number): Promise<void> =>
	change(path, ["job", "done"], (table) => `UPDATE ${table} SET doc = '{"id": broken' WHERE id = ${job}`);

/** The record of what a job runs, as it is given. */
export const writeSpec = (path: string, job: number, body: string): Promise<void> =>
	change(path, ["spec"], (table) => `UPDATE ${table} SET body = '${body}' WHERE id = ${job}`);

/** What is told of a job, no longer to be read. */
export const makeEventsUnreadable = (path: string, job: number): Promise<void> =>
	change(path, ["event"], (table) => `UPDATE ${table} SET data = '{nope' WHERE job = ${job}`);
