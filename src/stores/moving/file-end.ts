// A SQLite file as source or target of a move.

import { existsSync, rmSync } from "node:fs";
import { SluiceError } from "../../core/errors.ts";
import { type Database, openDatabase, type PreparedStatement } from "../sqlite/driver.ts";
import { dropMark } from "../sqlite/mark.ts";
import { bringUpToDate, emptyWal, PRAGMAS, storeError } from "../sqlite/store.ts";
import { refuseOthers, versionIn } from "../sqlite/whose.ts";
import type { End, MovedRow, Table } from "./tables.ts";

/** Longer than a transaction of a daemon takes. A process that holds the lock for longer has the store in use, and the move fails. */
const PATIENCE_MS = 5_000;

/** `look`: creates nothing, null when there is no store. `make`: creates the store if it is missing. `use`: the store must exist. */
export function openFileEnd(path: string, purpose: "look" | "use" | "make", now: () => number): End | null {
	const isNew = !existsSync(path);
	if (isNew && purpose === "look") return null;
	if (isNew && purpose === "use")
		throw new SluiceError("not_found", `there is no store at ${path}`, { hint: "name a home, a SQLite file or a postgres:// URL" });
	let database: Database | undefined;
	try {
		refuseOthers(path, PATIENCE_MS);
		database = openDatabase(path);
		database.exec(`PRAGMA busy_timeout = ${PATIENCE_MS};`);
		if (purpose === "look") {
			if (versionIn(database, path) === 0) {
				database.close();
				return null;
			}
		} else {
			database.exec(PRAGMAS);
			bringUpToDate(database, path);
		}
		return fileEnd(database, path, isNew ? "ours" : "there before", purpose, now);
	} catch (error) {
		database?.close();
		if (isNew) removeFile(path);
		throw storeError(error, path);
	}
}

function fileEnd(
	database: Database,
	path: string,
	made: "ours" | "there before",
	purpose: "look" | "use" | "make",
	now: () => number,
): End {
	const statements = new Map<string, PreparedStatement>();
	const prepare = (sql: string): PreparedStatement => {
		let statement = statements.get(sql);
		if (!statement) {
			statement = database.prepare(sql);
			statement.setReturnArrays(true);
			statements.set(sql, statement);
		}
		return statement;
	};
	const guarded = <T>(call: () => T): T => {
		try {
			return call();
		} catch (error) {
			throw storeError(error, path);
		}
	};
	let state: "idle" | "begun" | "committed" | "closed" = "idle";
	return {
		display: path,
		async begin() {
			guarded(() => database.exec("BEGIN IMMEDIATE"));
			state = "begun";
			return "locked";
		},
		now: async () => now(),
		select: async (sql, params = []) => guarded(() => prepare(sql).all<MovedRow>(...params)),
		append: async (table: Table, rows) =>
			guarded(() => {
				const names = Object.keys(table.columns);
				const statement = prepare(`INSERT INTO ${table.name} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`);
				for (const row of rows) statement.run(...row);
			}),
		clear: async ({ name }) => guarded(() => database.exec(`DELETE FROM ${name}`)),
		async commit() {
			// The mark describes the store that was in this place before, not the one that is about to be committed.
			if (purpose === "make") dropMark(path);
			guarded(() => database.exec("COMMIT"));
			state = "committed";
			return "committed";
		},
		async close() {
			if (state === "closed") return;
			for (const statement of statements.values()) statement[Symbol.dispose]?.();
			if (state === "begun")
				try {
					database.exec("ROLLBACK");
				} catch {
					// SQLite has rolled back by itself, on a full disk for example.
				}
			emptyWal(database);
			database.close();
			// Remove a file that this move created and did not commit.
			if (made === "ours" && state !== "committed") removeFile(path);
			state = "closed";
		},
	};
}

function removeFile(path: string): void {
	for (const end of ["", "-wal", "-shm"]) rmSync(`${path}${end}`, { force: true });
}
