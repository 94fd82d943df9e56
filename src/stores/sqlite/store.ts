// The store on SQLite: WAL, synchronous=FULL, one connection, statements prepared once for each SQL text. All calls are synchronous.

import { chmodSync, closeSync, openSync, statSync } from "node:fs";
import { Busy, type Changes, type Store, type StoreRead } from "../../contracts/store.ts";
import { messageOf, SluiceError } from "../../core/errors.ts";
import type { StoreMark } from "../../core/trust/store-loss.ts";
import { MIGRATIONS, SCHEMA_VERSION } from "../migrations/index.ts";
import { query, reply } from "../sql/reads.ts";
import { type Write, widen, writes } from "../sql/writes.ts";
import { type Database, openDatabase, type PreparedStatement } from "./driver.ts";
import { type MarkWriter, numbersIn } from "./mark.ts";
import { refuseOthers, versionIn } from "./whose.ts";

export type SqliteOptions = {
	/** How long a transaction waits for the write lock of another process. */
	busyMs?: number;
	/** Called at `begin`, `flush`, `commit` and `committed`; may throw, as a full disk or a crash would. For the simulator. */
	fault?: (point: string) => void;
	/** Receives the numbers of each commit once it is on disk. */
	mark?: MarkWriter;
};

/** Set on every connection: an acknowledged write survives power loss. */
export const PRAGMAS = `
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA foreign_keys = OFF;
PRAGMA cache_size = -32000;
PRAGMA temp_store = MEMORY;
PRAGMA wal_autocheckpoint = 1000;
`;

/** SQLite's lock is not fair: on a loaded machine with many processes, one of them may lose the race for it again and again. */
const PATIENCE_MS = 30_000;
/** How long one attempt to begin waits for the lock. It blocks the whole process, so it is short; the engine retries. */
const TRY_MS = 50;

const NAP_MS = 20;

/** Rows in one INSERT. */
const WIDE = 20;

const dialect = (sql: string) =>
	sql.includes("{")
		? sql
				.replaceAll("{ids}", "(SELECT value FROM json_each(?))")
				.replaceAll("{keys}", "(SELECT value FROM json_each(?))")
				.replaceAll("{texts}", "json_each(?) AS e")
				.replaceAll("{run_host}", "CASE WHEN json_valid(doc) THEN doc ->> '$.run.host' END")
		: sql;

/**
 * Retries a call that finds the file locked. While one of several processes switches a new file to WAL mode, SQLite fails in the others at once instead of
 * waiting for its busy timeout.
 */
function insist(call: () => void, patience: number): void {
	const nap = new Int32Array(new SharedArrayBuffer(4));
	for (let waited = 0; ; waited += NAP_MS) {
		try {
			call();
			return;
		} catch (error) {
			if (waited >= patience || !/locked|busy/i.test(String(error))) throw error;
			Atomics.wait(nap, 0, 0, NAP_MS);
		}
	}
}

/** Makes the file readable for its owner only, because it holds the jobs' environment variables. SQLite gives the files beside it the same mode. */
function keepPrivate(path: string): void {
	if (path === ":memory:" || path === "") return;
	try {
		closeSync(openSync(path, "a", 0o600));
	} catch {
		// SQLite meets the same error when it opens the file, and reports it better.
		return;
	}
	for (const file of [path, `${path}-wal`, `${path}-shm`]) {
		const stat = statSync(file, { throwIfNoEntry: false });
		if (stat !== undefined && (stat.mode & 0o077) !== 0 && stat.uid === process.getuid?.()) chmodSync(file, 0o600);
	}
}

/** Statements of one connection, prepared once for each SQL text. */
function createStatements(database: Database) {
	const [plain, wides] = [new Map<string, PreparedStatement>(), new Map<string, PreparedStatement>()];
	function prepare(sql: string): PreparedStatement {
		let statement = plain.get(sql);
		if (!statement) {
			statement = database.prepare(dialect(sql));
			statement.setReturnArrays(true);
			plain.set(sql, statement);
		}
		return statement;
	}
	function prepareWide(sql: string): PreparedStatement {
		let statement = wides.get(sql);
		if (!statement) {
			statement = database.prepare(widen(dialect(sql), WIDE));
			wides.set(sql, statement);
		}
		return statement;
	}
	return {
		prepare,
		writeRows({ sql, width, cells }: Write): void {
			const wide = WIDE * width;
			let at = 0;
			// Several rows for each call take about a quarter less time than single rows.
			if (cells.length >= wide && sql.startsWith("INSERT")) {
				const statement = prepareWide(sql);
				for (; at + wide <= cells.length; at += wide) statement.run(...cells.slice(at, at + wide));
			}
			if (at === cells.length) return;
			const statement = prepare(sql);
			for (; at < cells.length; at += width) statement.run(...cells.slice(at, at + width));
		},
		/** Statements that are not finalised would keep the connection open. */
		dispose(): void {
			for (const statement of [...plain.values(), ...wides.values()]) statement[Symbol.dispose]?.();
			plain.clear();
			wides.clear();
		},
	};
}

/** Calls whose errors name the file. */
function createGuards(path: string, patience: number) {
	const guarded = <T>(call: () => T): T => {
		try {
			return call();
		} catch (error) {
			throw storeError(error, path);
		}
	};
	/** Turns the error of a locked database into `Busy`, so that the caller can retry. */
	const locking = <T>(call: () => T): T => {
		try {
			return guarded(call);
		} catch (error) {
			if (!(error instanceof SluiceError) || !isLocked(error.cause)) throw error;
			throw new Busy(error.message, { hint: error.hint ?? "try again", cause: error.cause }, patience);
		}
	};
	return { guarded, locking };
}

function connect(path: string, patience: number): Database {
	try {
		refuseOthers(path, patience);
		keepPrivate(path);
		const database = openDatabase(path);
		database.exec(`PRAGMA busy_timeout = ${patience};`);
		insist(() => database.exec(PRAGMAS), patience);
		bringUpToDate(database, path);
		database.exec(`PRAGMA busy_timeout = ${Math.min(patience, TRY_MS)};`);
		return database;
	} catch (error) {
		throw storeError(error, path);
	}
}

export function openSqlite(path: string, options: SqliteOptions = {}): Store {
	const patience = options.busyMs ?? PATIENCE_MS;
	const database = connect(path, patience);
	const { prepare, writeRows, dispose } = createStatements(database);
	const fault = options.fault ?? (() => {});
	const { guarded, locking } = createGuards(path, patience);
	let dataVersion = -1;
	let isLook = false;
	const { mark } = options;
	let known = (mark && numbersIn(database)) ?? NOTHING_GIVEN;
	let next = known;
	const currentVersion = () => Number(prepare("PRAGMA data_version").all<[number]>()[0]?.[0]);

	return {
		begin(intent = "change") {
			// Outside `locking`: the simulator throws here to pretend that the lock could not be had within the whole patience.
			guarded(() => fault("begin"));
			return locking(() => {
				isLook = intent === "look";
				prepare(isLook ? "BEGIN" : "BEGIN IMMEDIATE").run();
				// The first read fixes the snapshot of a read transaction; without it, the version read below could be older than the snapshot.
				if (isLook) prepare("SELECT 1 FROM record LIMIT 1").all();
				// data_version counts commits of other connections only: if it is unchanged, the engine's cache is still valid.
				const version = currentVersion();
				const fresh = version === dataVersion;
				dataVersion = version;
				return { fresh };
			});
		},
		read<R extends StoreRead>(request: R) {
			return guarded(() => {
				const { sql, params } = query(request);
				return reply(request, prepare(sql).all<unknown[]>(...params));
			});
		},
		write(changes: Changes) {
			// A read transaction that writes after all takes the write lock here, without waiting for it.
			(isLook ? locking : guarded)(() => {
				fault("flush");
				if (mark) next = numbersAfter(next, changes);
				for (const write of writes(changes)) writeRows(write);
			});
		},
		commit() {
			guarded(() => {
				fault("commit");
				prepare("COMMIT").run();
				fault("committed");
				if (mark && next !== known) mark.write(next);
				known = next;
			});
		},
		rollback() {
			try {
				prepare("ROLLBACK").run();
			} catch {
				// SQLite has rolled back by itself (disk full, I/O error), so there is no transaction left to end.
			}
			dataVersion = -1;
			next = known;
		},
		isStale() {
			return guarded(() => currentVersion() !== dataVersion);
		},
		close() {
			// A transaction left open would hold the write lock as long as this process lives.
			try {
				database.exec("ROLLBACK");
			} catch {
				// No transaction was open.
			}
			emptyWal(database);
			mark?.close();
			dispose();
			database.close();
		},
	};
}

/**
 * Moves everything from the WAL into the database file, so that a copy of that file alone is complete. Closing is not enough: some drivers keep the
 * connection open while statements are not finalised.
 */
export function emptyWal(database: Database): void {
	try {
		database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
	} catch {
		// The disk is full, or the file was deleted: acknowledged commits stay in the WAL.
	}
}

const NOTHING_GIVEN: StoreMark = { id: null, seq: 0, job: 0, token: 0 };

/** The numbers that the store will hold once the changes are written. */
function numbersAfter(before: StoreMark, { records, fresh }: Changes): StoreMark {
	let after = before;
	for (const [kind, key, value] of [...records, ...fresh]) {
		if (kind !== "meta" || value === null) continue;
		const { seq, job, token, id } = value as StoreMark;
		if (key === "ids") after = { ...after, seq, job, token };
		else if (key === "identity") after = { ...after, id };
	}
	return after;
}

export function bringUpToDate(database: Database, path: string): void {
	if (versionIn(database, path) === SCHEMA_VERSION) return;
	database.exec("BEGIN IMMEDIATE");
	try {
		// Another process may have migrated the file while this one waited for the lock.
		for (const step of MIGRATIONS.slice(versionIn(database, path))) database.exec(step.sql);
		database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
		database.exec("COMMIT");
	} catch (error) {
		database.exec("ROLLBACK");
		throw error;
	}
}

const HINTS: [RegExp, string, string][] = [
	[/disk is full|SQLITE_FULL/i, "the disk is full", "free some space: nothing was lost, the last transaction was not acknowledged"],
	[/readonly|read-only/i, "the file cannot be written", "check the permissions of the file and its folder"],
	[/locked|busy/i, "the file is busy: another process has held its lock for too long", "try again; if it stays, look for a stuck process"],
	[/not a database|malformed|corrupt/i, "the file is not a Sluice database, or is damaged", "restore a back-up, or use another file"],
	[/unable to open/i, "the file cannot be opened", "check that its folder exists and can be written"],
];

const isLocked = (error: unknown): boolean => error instanceof Error && /locked|busy/i.test(error.message);

export function storeError(error: unknown, path: string): Error {
	if (error instanceof SluiceError) return error;
	const message = messageOf(error);
	for (const [pattern, what, hint] of HINTS)
		if (pattern.test(message)) return new SluiceError("store", `${path}: ${what} (${message})`, { hint, cause: error });
	return error instanceof Error ? error : new Error(message);
}
