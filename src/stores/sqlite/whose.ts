// Finds out which program a SQLite file belongs to before changing it: switching it to WAL mode, or writing Sluice's schema version, would already be a change.
//
//   content of the file                            it is
//   no tables, version 0                           new: Sluice may make its tables
//   all of Sluice's tables, a known version        a store
//   all of Sluice's tables, a later version        a newer Sluice's store: refused
//   a kernel's tables                              refused, with the command that imports it
//   anything else                                  another program's: refused

import { existsSync, statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { nth, SluiceError } from "../../core/errors.ts";
import { MIGRATIONS, SCHEMA_VERSION } from "../migrations/index.ts";
import { type Database, openDatabase, select } from "./driver.ts";

const OURS = [...(MIGRATIONS[0]?.sql ?? "").matchAll(/CREATE TABLE (\w+)/g)].flatMap(([, name]) => name ?? []);
/** The table that all other tables of a `kernel.db` refer to. */
export const KERNEL_AGENTS = "agent_processes";

/** Quotes a path for a shell where necessary. */
const typed = (path: string): string => (/^[\w./~+@:-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);

/** The schema's version; 0 for an empty file. Refuses files of other programs and versions that are too new. */
export function versionIn(database: Database, path: string): number {
	// One statement reads both, because another process may be making the tables at this moment.
	const [found, names] = nth(
		select<[number, string]>(
			database,
			"SELECT (SELECT user_version FROM pragma_user_version), (SELECT json_group_array(name) FROM sqlite_master)",
		),
		0,
	);
	const version = Number(found);
	const parts: string[] = JSON.parse(names);
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

/** Opens an existing file for reading only, without creating any file beside it. */
export function openUntouched(path: string, busyMs: number): Database {
	// Without a WAL the file is complete. `immutable` then keeps SQLite from creating its own files beside it.
	const isWhole = !existsSync(`${path}-wal`);
	const database = openDatabase(isWhole ? `${pathToFileURL(path).href}?immutable=1` : path, { readOnly: true });
	database.exec(`PRAGMA busy_timeout = ${busyMs};`);
	return database;
}

/** Checks an existing file without changing a byte of it. A missing or empty file belongs to no program yet and passes. */
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
