// A bare connection to a database that the store has made, with the store's driver and pragmas: what the floors run on.

import { type Database, openDatabase, type PreparedStatement } from "../../src/stores/sqlite/driver.ts";
import { openSqlite, PRAGMAS } from "../../src/stores/sqlite/store.ts";

export type Bare = Database;

export function openBare(path: string): Bare {
	const db = openDatabase(path);
	db.exec(`PRAGMA busy_timeout = 10000; ${PRAGMAS}`);
	return db;
}

/** With the store's own tables and indexes, made by its migrations. */
export function createBare(path: string): Bare {
	void openSqlite(path).close();
	return openBare(path);
}

/** Rows as arrays, which is the faster way, and the store's. */
export function prepare(db: Bare, sql: string): PreparedStatement {
	const statement = db.prepare(sql);
	statement.setReturnArrays(true);
	return statement;
}

export function transaction(db: Bare, work: () => void): void {
	db.exec("BEGIN IMMEDIATE");
	work();
	db.exec("COMMIT");
}

/** `warm`: jobs that go through before the clock starts. */
export type Floor = { jobs: number; batch: number; warm?: number };

/** Microseconds a job over slices of a batch each. */
export function clocked({ jobs, batch, warm = 0 }: Floor, each: (from: number, to: number) => void): number {
	slices(warm, batch, each);
	const start = performance.now();
	slices(jobs, batch, (from, to) => each(warm + from, warm + to));
	return ((performance.now() - start) * 1000) / jobs;
}

/** Cuts 0 … count − 1 into slices and hands out each one's borders. */
export function slices(count: number, size: number, each: (from: number, to: number) => void): void {
	for (let from = 0; from < count; from += size) each(from, Math.min(count, from + size));
}
