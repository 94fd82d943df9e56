// One daemon a home: an exclusive SQLite transaction on lock.db, held for life. The kernel lets go of it when the process dies, however it dies, so
// nothing that is left behind (a socket, daemon.json, lock.db itself) can be in the way of the next one.
//
// Nothing else in this process may open lock.db: closing any descriptor of a file gives up the locks that its process has on it.

import { readFileSync, rmSync, truncateSync } from "node:fs";
import { HOME_TAKEN } from "../api/auto-start.ts";
import { SluiceError } from "../core/errors.ts";
import { type Database, openDatabase } from "../stores/sqlite/driver.ts";
import { writeWhole } from "./write-file.ts";

export type DaemonRecord = { pid: number; version: string; port: number | null; started_at: string };
export type DaemonLock = { release(): void };

/** Throws `conflict` and says who holds it. */
export function takeLock(lock: string, record: string): DaemonLock {
	let database: Database;
	try {
		database = hold(lock);
	} catch (error) {
		// What is not a database holds no lock of a daemon. Emptied, not replaced: two that come at once still meet on the same file.
		if (!/not a database|malformed/i.test(String(error))) throw refused(error, lock, record);
		truncateSync(lock);
		try {
			database = hold(lock);
		} catch (again) {
			throw refused(again, lock, record);
		}
	}
	held.add(database);
	return {
		release() {
			if (held.delete(database)) database.close();
		},
	};
}

/** A connection that nobody refers to is closed by the garbage collector, and its lock is gone. */
const held = new Set<Database>();

/** Not 0: two that come in the same instant can each be in the other's way for a moment, and then neither would get it. */
const PATIENCE_MS = 500;

function hold(path: string): Database {
	const database = openDatabase(path);
	try {
		database.exec(`PRAGMA busy_timeout = ${PATIENCE_MS}; BEGIN EXCLUSIVE;`);
		return database;
	} catch (error) {
		database.close();
		throw error;
	}
}

function refused(error: unknown, lock: string, record: string): SluiceError {
	if (error instanceof SluiceError) return error;
	const message = error instanceof Error ? error.message : String(error);
	if (!/locked|busy/i.test(message)) return new SluiceError("store", `the lock ${lock} cannot be taken: ${message}`, { cause: error });
	const holder = readRecord(record);
	const who = holder ? `pid ${holder.pid}, version ${holder.version}, since ${holder.started_at}` : "it has not said its pid yet";
	return new SluiceError("conflict", `${HOME_TAKEN} (${who})`, {
		field: "lock",
		hint: "`sluice status` talks to it, `sluice down` stops it",
	});
}

export function readRecord(path: string): DaemonRecord | null {
	try {
		const record = JSON.parse(readFileSync(path, "utf8")) as DaemonRecord;
		return typeof record?.pid === "number" ? record : null;
	} catch {
		return null;
	}
}

export const writeRecord = (path: string, record: DaemonRecord): void => writeWhole(path, `${JSON.stringify(record)}\n`);

/** Written now; the returned function removes it, unless a daemon of a home that was made anew in the same place has its own record there. */
export function keepRecord(path: string, record: DaemonRecord): () => void {
	writeRecord(path, record);
	return () => {
		if (readRecord(path)?.pid === record.pid) rmSync(path, { force: true });
	};
}
