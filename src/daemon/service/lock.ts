// One daemon for each home: an exclusive SQLite transaction on lock.db, held for the daemon's whole life. The kernel releases it when the process dies, however it
// dies, so no leftover (a socket, daemon.json, lock.db itself) can block the next daemon.
//
// Nothing else in this process may open lock.db: closing any descriptor of a file releases the locks that the process has on it.

import { chmodSync, closeSync, openSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { HOME_TAKEN } from "../../api/daemon-process.ts";
import { messageOf, SluiceError } from "../../core/errors.ts";
import { type Database, openDatabase } from "../../stores/sqlite/driver.ts";
import { writeWhole } from "./write-file.ts";

export type DaemonRecord = { pid: number; version: string; port: number | null; started_at: string };
export type DaemonLock = { release(): void };

/** Throws `conflict` with the pid of the daemon that holds the lock. */
export function takeLock(lock: string, record: string): DaemonLock {
	let database: Database;
	try {
		database = hold(lock);
	} catch (error) {
		// A file that is not a database holds no daemon's lock. It is emptied, not replaced, so that two daemons that start at once still compete for the
		// same file.
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

/** A connection without a reference is closed by the garbage collector, which would release its lock. */
const held = new Set<Database>();

/** Not 0: two processes that start in the same instant can block each other for a moment, and then neither would get the lock. */
const PATIENCE_MS = 500;

/** Makes the lock and its journal readable for their owner only. SQLite gives a new journal the mode of the file. */
function keepPrivate(path: string): void {
	try {
		// `wx` never opens a file that is there, whose lock this process may have.
		closeSync(openSync(path, "wx", 0o600));
	} catch {
		// The file is there; any other error is met by SQLite, too, and reported there.
	}
	for (const file of [path, `${path}-journal`])
		try {
			const stat = statSync(file);
			if ((stat.mode & 0o077) !== 0 && stat.uid === process.getuid?.()) chmodSync(file, 0o600);
		} catch {
			// It is not there, or another process has just removed it.
		}
}

function hold(path: string): Database {
	keepPrivate(path);
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
	const message = messageOf(error);
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

/** Writes the record; the returned function removes it, unless it belongs by then to the daemon of a home that was made anew in the same place. */
export function keepRecord(path: string, record: DaemonRecord): () => void {
	writeRecord(path, record);
	return () => {
		if (readRecord(path)?.pid === record.pid) rmSync(path, { force: true });
	};
}
