// Whose SQLite file it is, found out before anything of it is changed. Making a file a WAL, or stamping it with our version, would already change it.
//
//   nothing in it, version 0         new: ours to make
//   all our tables, a version we know ours
//   all our tables, a later version  a newer Sluice's
//   a kernel's tables                refused, with the command that imports it
//   anything else                    another program's

import { existsSync, statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { SluiceError } from "../../core/errors.ts";
import { MIGRATIONS, SCHEMA_VERSION } from "../migrations/index.ts";
import { type Database, openDatabase } from "./driver.ts";

const OURS = [...(MIGRATIONS[0]?.sql ?? "").matchAll(/CREATE TABLE (\w+)/g)].map(([, name]) => name as string);
/** The table that every other one of a `kernel.db` refers to. */
export const KERNEL_AGENTS = "agent_processes";

/** As a shell reads it. */
const typed = (path: string): string => (/^[\w./~+@:-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);

/** The schema's version; 0: nothing is there yet. Refuses what is not ours, or too new. */
export function versionIn(database: Database, path: string): number {
	// One statement, so one moment: another process may just be making the tables.
	const statement = database.prepare(
		"SELECT (SELECT user_version FROM pragma_user_version), (SELECT json_group_array(name) FROM sqlite_master)",
	);
	statement.setReturnArrays(true);
	const [found, names] = statement.all()[0] as [unknown, string];
	const version = Number(found);
	const parts = JSON.parse(names) as string[];
	if (version === 0 && parts.length === 0) return 0;
	if (parts.includes(KERNEL_AGENTS))
		throw new SluiceError("store", `${path} is a kernel.db (schema ${version}), not a store of Sluice; nothing of it was changed`, {
			hint: `use another store; there sluice kernel import ${typed(path)} takes over its agents, ledgers and queue`,
		});
	if (version === 0 || !OURS.every((name) => parts.includes(name)))
		throw new SluiceError("store", `${path} is a database of another program; nothing of it was changed`, { hint: "use another file" });
	if (version > SCHEMA_VERSION)
		throw new SluiceError("store", `${path} was written by a newer Sluice (schema ${version}, this one knows ${SCHEMA_VERSION})`, {
			hint: "upgrade this Sluice, or use another file",
		});
	return version;
}

/** Opens a file that is there for reading only, and makes nothing beside it. */
export function openUntouched(path: string, busyMs: number): Database {
	// Without a log beside it all of it is in the file: read as one that cannot change, SQLite makes no files of its own.
	const isWhole = !existsSync(`${path}-wal`);
	const database = openDatabase(isWhole ? `${pathToFileURL(path).href}?immutable=1` : path, { readOnly: true });
	database.exec(`PRAGMA busy_timeout = ${busyMs};`);
	return database;
}

/** Looks into a file that is there without changing a byte of it. A new or empty file, or none at all, belongs to no program yet. */
export function refuseOthers(path: string, busyMs: number): void {
	const file = statSync(path, { throwIfNoEntry: false });
	if (!file?.isFile() || file.size === 0) return;
	const database = openUntouched(path, busyMs);
	try {
		versionIn(database, path);
	} finally {
		database.close();
	}
}
