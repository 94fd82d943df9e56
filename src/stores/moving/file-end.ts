// A SQLite file as an end of a move.

import { existsSync, rmSync } from "node:fs";
import { SluiceError } from "../../core/errors.ts";
import { type Database, openDatabase, type Statement } from "../sqlite/driver.ts";
import { bringUpToDate, PRAGMAS, storeError } from "../sqlite/store.ts";
import { refuseOthers, versionIn } from "../sqlite/whose.ts";
import type { End, Row, Table } from "./tables.ts";

/** Whoever is in the middle of a transaction needs no longer than this; a process that has the lock for longer is not waited for. */
const PATIENCE_MS = 5_000;

/** `look` makes nothing: null where there is no store yet. `make`: made where it is missing. `use`: must be there. */
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
		return fileEnd(database, path, isNew ? "ours" : "there before", now);
	} catch (error) {
		database?.close();
		if (isNew) removeFile(path);
		throw storeError(error, path);
	}
}

function fileEnd(database: Database, path: string, made: "ours" | "there before", now: () => number): End {
	const statements = new Map<string, Statement>();
	const prepare = (sql: string): Statement => {
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
		select: async (sql, params = []) => guarded(() => prepare(sql).all(...params) as Row[]),
		append: async (table: Table, rows) =>
			guarded(() => {
				const names = Object.keys(table.columns);
				const statement = prepare(`INSERT INTO ${table.name} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`);
				for (const row of rows) statement.run(...row);
			}),
		clear: async ({ name }) => guarded(() => database.exec(`DELETE FROM ${name}`)),
		async commit() {
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
					// SQLite has done it by itself: the disk was full, say.
				}
			database.close();
			// What nothing came of is as if it had never been.
			if (made === "ours" && state !== "committed") removeFile(path);
			state = "closed";
		},
	};
}

function removeFile(path: string): void {
	for (const end of ["", "-wal", "-shm"]) rmSync(`${path}${end}`, { force: true });
}
