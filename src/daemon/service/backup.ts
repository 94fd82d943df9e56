// A back-up of a home's queue while it is in use: a consistent snapshot of the database as a separate file. Needs no daemon and disturbs none.

import { closeSync, existsSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { BackupDocument } from "../../api/daemon-module.ts";
import { codeOf, messageOf, SluiceError } from "../../core/errors.ts";
import { isDatabase } from "../../core/text/store-address.ts";
import { openDatabase } from "../../stores/sqlite/driver.ts";
import { storeError } from "../../stores/sqlite/store.ts";
import { versionIn } from "../../stores/sqlite/whose.ts";
import { sync } from "./write-file.ts";

/** `store`: as in the settings; null is the home's own file. */
export function backUp({ home, store, file }: { home: string; store: string | null; file: string }): BackupDocument {
	if (store !== null && isDatabase(store))
		throw new SluiceError("invalid", "this home's queue is in a PostgreSQL database", {
			field: "store",
			hint: "pg_dump makes a back-up of it: docs/fleet.md",
		});
	const path = store ?? join(home, "sluice.db");
	if (!existsSync(path)) throw new SluiceError("not_found", `there is no store at ${path}`, { hint: "name the home: --home FOLDER" });
	if (existsSync(file)) throw new SluiceError("conflict", `${file} is there already`, { hint: "name another file, or remove it" });
	const part = `${file}.part-${process.pid}`;
	try {
		// Create the file before writing to it, so that it is readable only for its owner from the start.
		closeSync(openSync(part, "wx", 0o600));
		copy(path, part);
		sync(part);
		renameSync(part, file);
		sync(dirname(file));
	} catch (error) {
		rmSync(part, { force: true });
		const code = codeOf(error);
		if (code === "ENOENT" || code === "EACCES" || code === "ENOTDIR" || code === "EROFS")
			throw new SluiceError("store", `${file} cannot be written: ${messageOf(error)}`, {
				hint: "name a file in a folder that is there",
				cause: error,
			});
		throw storeError(error, file);
	}
	return { schema_version: 1, store: path, file, bytes: statSync(file).size };
}

function copy(path: string, to: string): void {
	const database = openDatabase(path);
	try {
		database.exec("PRAGMA busy_timeout = 30000;");
		versionIn(database, path);
		database.prepare("VACUUM INTO ?").run(to);
	} finally {
		database.close();
	}
}
