// A look into a store, and damage to it, behind the scheduler's back: through a connection of its own.

import { type Database, openDatabase } from "../../src/stores/sqlite/driver.ts";

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
let change: (path: string, sql: (table: string) => string) => Promise<void> = async (path, sql) =>
	withDatabase(path, (database) => {
		for (const table of ["job", "done"]) database.exec(sql(table));
	});
export const changeBy = (next: typeof change): void => {
	change = next;
};

/** A job's record that no longer parses. */
export const makeUnreadable = (path: string, job: number): Promise<void> =>
	change(path, (table) => `UPDATE ${table} SET doc = '{"id": broken' WHERE id = ${job}`);
