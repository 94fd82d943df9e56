// Replaces a file atomically: after a crash or power cut it is either the old one or the new one, never half of it.

import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export function writeWhole(path: string, text: string, mode = 0o600): void {
	const fresh = `${path}.new-${process.pid}`;
	try {
		writeFileSync(fresh, text, { mode, flush: true });
		renameSync(fresh, path);
	} catch (error) {
		rmSync(fresh, { force: true });
		throw error;
	}
	try {
		sync(dirname(path));
	} catch {
		// Some file systems cannot sync a folder; the rename is then as durable as they make it.
	}
}

/** Makes what was written to a file, or the entries of a folder, durable. */
export function sync(path: string): void {
	const file = openSync(path, "r");
	try {
		fsyncSync(file);
	} finally {
		closeSync(file);
	}
}
