// Finds a program by its name on the PATH.

import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

export type Env = Record<string, string | undefined>;

export function isProgram(path: string): boolean {
	try {
		accessSync(path, constants.X_OK);
		return statSync(path).isFile();
	} catch {
		return false;
	}
}

/** The path of the program, or null. */
export function find(name: string, env: Env): string | null {
	for (const folder of (env.PATH ?? "").split(delimiter)) {
		if (folder === "") continue;
		const path = join(folder, name);
		if (isProgram(path)) return path;
	}
	return null;
}
