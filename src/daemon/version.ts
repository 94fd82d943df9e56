// The version of this program: the nearest package.json above this file is Sluice's, bundled or not.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export function packageFolder(): string {
	let folder = dirname(fileURLToPath(import.meta.url));
	while (!existsSync(join(folder, "package.json")) && folder !== dirname(folder)) folder = dirname(folder);
	return folder;
}

export const readVersion = (): string =>
	(JSON.parse(readFileSync(join(packageFolder(), "package.json"), "utf8")) as { version: string }).version;

/** The folder of the dashboard's bundle. */
export const webFolder = (): string => join(packageFolder(), "dist", "web");
