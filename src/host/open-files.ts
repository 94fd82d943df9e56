// The maximum number of files and sockets that this process may have open.

import { readFileSync } from "node:fs";

/** Null when the system does not say, or sets no limit. Node raises its soft limit to the hard limit at start. */
export function openFilesLimit(read = () => readFileSync("/proc/self/limits", "utf8")): number | null {
	try {
		const found = /^Max open files\s+(\d+)/m.exec(read())?.[1];
		return found === undefined ? null : Number(found);
	} catch {
		return null;
	}
}
