// The few programs that starting a run needs, by absolute path, so that no PATH decides what the daemon executes.

import { accessSync, constants, realpathSync } from "node:fs";
import { basename } from "node:path";

export const FOLDERS = ["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/run/current-system/sw/bin"];

export type Programs = ReturnType<typeof findPrograms>;

export function findPrograms() {
	const sh = find("sh");
	if (!sh) throw new Error(`no sh in ${FOLDERS.join(", ")}: runs cannot be started`);
	// Absent on macOS, where process groups take the place of sessions.
	const setsid = find("setsid");
	// Whether it has `-f`; busybox's does not.
	const setsidForks = setsid !== null && basename(realpathSync(setsid)) === "setsid";
	return { sh, setsid, setsidForks, env: find("env"), mkfifo: find("mkfifo"), ps: find("ps") };
}

function find(name: string): string | null {
	for (const folder of FOLDERS) {
		try {
			accessSync(`${folder}/${name}`, constants.X_OK);
			return `${folder}/${name}`;
		} catch {}
	}
	return null;
}
