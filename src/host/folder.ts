// Makes a folder and its missing parents, accessible only for the owner. Node's own `recursive` never returns where the system answers ENOENT to the last
// step, as under /proc.

import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

export function makeFolder(path: string): void {
	if (isFolder(path)) return;
	if (dirname(path) !== path) makeFolder(dirname(path));
	try {
		mkdirSync(path, { mode: 0o700 });
	} catch (error) {
		if (!isFolder(path)) throw error;
	}
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
