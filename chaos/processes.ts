// Every live process that belongs to a home, found by what it carries in its environment: an opinion independent of the supervisor's own sweep.

import { readdirSync, readFileSync } from "node:fs";

export type Stray = { pid: number; command: string };

export function strays(home: string): Stray[] {
	const found: Stray[] = [];
	for (const entry of readdirSync("/proc")) {
		const pid = Number(entry);
		if (!Number.isInteger(pid) || pid === process.pid) continue;
		try {
			const environment = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
			if (
				!environment.includes(`SLUICE_HOME=${home}`) &&
				!environment.some((one) => one.startsWith("SLUICE_MARK=") && one.includes(home))
			) {
				const command = readFileSync(`/proc/${pid}/cmdline`, "latin1");
				if (!command.includes(`${home}/`)) continue;
			}
			const state = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]?.[0];
			if (state !== "Z") found.push({ pid, command: readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ").trim() });
		} catch {
			// It went while we looked.
		}
	}
	return found;
}
