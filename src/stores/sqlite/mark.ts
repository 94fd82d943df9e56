// The mark beside a SQLite store (`sluice.db-mark`): which numbers were given out at the last commit that is known to be on disk. It is written after the commit
// and not synced, so it may be older than the store, and is never newer: a store that holds less than its mark has lost acknowledged work.

import { closeSync, constants, existsSync, fstatSync, fsyncSync, lstatSync, openSync, readSync, statSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import { messageOf, SluiceError } from "../../core/errors.ts";
import { LOSS_HINT, lossOf, lossWords, type StoreFound, type StoreMark } from "../../core/trust/store-loss.ts";
import { type Database, select } from "./driver.ts";
import { openUntouched } from "./whose.ts";

/** Always as many bytes, written in place: the file never grows, so a full disk does not matter, and it fits into one sector. */
const SIZE = 256;
const markPath = (path: string) => `${path}-mark`;

export type MarkWriter = {
	/** After a commit that is on disk. A mark that cannot be written is only older than it could be. */
	write(mark: StoreMark): void;
	/** To disk. */
	sync(): void;
	close(): void;
};

const lineOf = (mark: StoreMark): Buffer => {
	const text = JSON.stringify(mark);
	return Buffer.from(`${crc32(text).toString(16).padStart(8, "0")} ${text}`.padEnd(SIZE - 1).concat("\n"));
};

/** Throws where it cannot be made or written. */
function openMark(path: string): MarkWriter {
	const file = openSync(markPath(path), constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600);
	if (!fstatSync(file).isFile()) {
		closeSync(file);
		throw new Error("it is not a plain file");
	}
	return {
		write(mark) {
			const line = lineOf(mark);
			if (line.length !== SIZE) return;
			try {
				writeSync(file, line, 0, SIZE, 0);
			} catch {
				// The next one may get through.
			}
		},
		sync() {
			try {
				fsyncSync(file);
			} catch {
				// As durable as this file system makes it.
			}
		},
		close: () => closeSync(file),
	};
}

/** `at`: when it was written. */
type MarkFound = { is: "missing" | "misplaced" | "unreadable"; why?: string } | { is: "usable"; mark: StoreMark; at: string };

/** `misplaced`: a folder, a pipe, a link, anything but a plain file. */
export function readMark(path: string): MarkFound {
	let file: number | undefined;
	try {
		const there = lstatSync(markPath(path), { throwIfNoEntry: false });
		if (there === undefined) return { is: "missing" };
		if (!there.isFile()) return { is: "misplaced" };
		file = openSync(markPath(path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
		const stat = fstatSync(file);
		if (!stat.isFile()) return { is: "misplaced" };
		const bytes = Buffer.alloc(SIZE);
		readSync(file, bytes, 0, SIZE, 0);
		const [, sum, text] = /^([0-9a-f]{8}) (\{.*\}) *\n$/.exec(bytes.toString("utf8")) ?? [];
		if (sum === undefined || text === undefined || crc32(text) !== Number.parseInt(sum, 16))
			return { is: "unreadable", why: stat.size === 0 ? "it is empty" : "its checksum is wrong" };
		return { is: "usable", mark: JSON.parse(text), at: stat.mtime.toISOString() };
	} catch (error) {
		return { is: "unreadable", why: messageOf(error) };
	} finally {
		if (file !== undefined) closeSync(file);
	}
}

type MarkProblem = { is: "missing" | "misplaced" | "unreadable"; message: string; hint: string };

/** Why lost jobs cannot be noticed; null: they can, or the store has none. `hasJobs` is asked only where there is no mark. */
export function markProblem(path: string, hasJobs: () => boolean): MarkProblem | null {
	const found = readMark(path);
	if (found.is === "usable" || (found.is === "missing" && !hasJobs())) return null;
	const what = { missing: "is not there", misplaced: "is not a plain file", unreadable: `cannot be used (${found.why ?? ""})` }[found.is];
	return {
		is: found.is,
		message: `${markPath(path)} ${what}, so it cannot be told whether acknowledged jobs are missing from the queue`,
		hint:
			found.is === "misplaced"
				? "move it away: a daemon that starts writes a new one"
				: "compare sluice list with what you expect; a daemon that starts writes a new one",
	};
}

function refuseMisplacedMark(problem: MarkProblem | null): void {
	if (problem?.is === "misplaced") throw new SluiceError("store", problem.message, { hint: problem.hint });
}

/** Must not be called while this process has the store open. A back-up that no daemon has opened yet needs no mark. */
export function holdsJobs(path: string, busyMs: number): boolean {
	const { holds, isBackup } = findStore(path, busyMs);
	return !isBackup && (holds?.job ?? 0) > 0;
}

/** Another store is about to be put in this place: what the old one held says nothing about it. */
export function dropMark(path: string): void {
	if (!existsSync(markPath(path))) return;
	refuseMisplacedMark(markProblem(path, () => false));
	const mark = openMark(path);
	mark.write({ id: null, seq: 0, job: 0, token: 0 });
	mark.sync();
	mark.close();
}

/** The numbers and the identity that a database holds. */
export function numbersIn(database: Database): StoreMark | null {
	const tables = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'record'");
	if (tables.all().length === 0) return null;
	const rows = select<[string, string]>(database, "SELECT key, body FROM record WHERE kind = 'meta' AND key IN ('ids', 'identity')");
	const {
		ids = {},
		identity = {},
	}: Record<string, Partial<StoreMark>> = Object.fromEntries(rows.map(([key, body]) => [key, JSON.parse(body)]));
	return { id: identity.id ?? null, seq: ids.seq ?? 0, job: ids.job ?? 0, token: ids.token ?? 0 };
}

/** The file's header says "no WAL": `VACUUM INTO` writes it so, and every daemon changes it when it opens the file. */
function isBackup(path: string): boolean {
	const file = openSync(path, "r");
	try {
		const header = Buffer.alloc(20);
		return readSync(file, header, 0, 20, 0) === 20 && header.toString("latin1", 0, 15) === "SQLite format 3" && header[18] === 1;
	} finally {
		closeSync(file);
	}
}

/** Looks without changing a byte, and before SQLite opens the file to write: that would delete the WAL of an emptied database, or cut off what is behind a damaged place. */
function findStore(path: string, busyMs: number): StoreFound {
	const stat = statSync(path, { throwIfNoEntry: false });
	const walBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? null;
	if (stat === undefined || stat.size === 0)
		return { database: stat === undefined ? "missing" : "empty", walBytes, isBackup: false, holds: null };
	const database = openUntouched(path, busyMs);
	try {
		return { database: "there", walBytes, isBackup: isBackup(path), holds: numbersIn(database) };
	} finally {
		database.close();
	}
}

/**
 * The mark of a store that is about to be opened; refuses one that has lost work, unless the owner accepts that. A whole store's mark is on disk before anything is written: after a
 * back-up was put back it must not say more than that. `seen`: the numbers that are not given out again.
 */
export function guardStore(
	path: string,
	{ loss: wanted, warn, busyMs = 5_000 }: { loss: "refuse" | "accept"; warn: (line: string) => void; busyMs?: number },
): { mark: MarkWriter | undefined; seen: StoreMark | undefined } {
	const problem = markProblem(path, () => holdsJobs(path, busyMs));
	refuseMisplacedMark(problem);
	if (problem !== null) warn(problem.message);
	const loss = lossAt(path, busyMs);
	if (loss !== null && wanted === "refuse") throw new SluiceError("store", loss.message, { hint: LOSS_HINT });
	if (loss !== null) warn(`${loss.message}. The owner accepts that: sluice up --accept-loss`);
	let mark: MarkWriter | undefined;
	try {
		mark = openMark(path);
	} catch (error) {
		// The daemon works without it.
		warn(`${markPath(path)} cannot be written (${messageOf(error)}): jobs that are lost from here on will not be noticed`);
	}
	if (loss === null) {
		mark?.write(findStore(path, busyMs).holds ?? { id: null, seq: 0, job: 0, token: 0 });
		mark?.sync();
	}
	return { mark, seen: loss?.known };
}

/** What is missing, in words, and the numbers that were given out; null while the store is whole. Must not be called while this process has the store open. */
export function lossAt(path: string, busyMs: number): { message: string; known: StoreMark } | null {
	const known = readMark(path);
	if (known.is !== "usable") return null;
	const loss = lossOf(known.mark, findStore(path, busyMs));
	return loss && { message: lossWords(loss, path, known.at), known: known.mark };
}
