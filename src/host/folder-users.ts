// Which live processes have their working directory in a folder, so that it is not removed while they use it. Finds none where there is no /proc.

import { readdirSync, readlinkSync, realpathSync } from "node:fs";

export function usersOf(folder: string): number[] {
	let root: string;
	let names: string[];
	try {
		root = realpathSync(folder);
		names = readdirSync("/proc");
	} catch {
		return [];
	}
	return names
		.filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
		.filter((pid) => {
			try {
				const cwd = readlinkSync(`/proc/${pid}/cwd`);
				return cwd === root || cwd.startsWith(`${root}/`);
			} catch {
				return false;
			}
		})
		.map(Number);
}
