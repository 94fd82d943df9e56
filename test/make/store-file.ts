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

/** A job's record that no longer parses. */
export function makeUnreadable(path: string, job: number): void {
	withDatabase(path, (database) => {
		for (const table of ["job", "done"]) database.prepare(`UPDATE ${table} SET doc = '{"id": broken' WHERE id = ?`).run(job);
	});
}
