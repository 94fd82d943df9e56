// The live processes of this machine, found by their command lines.

import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export function findProcesses(wanted: (words: string[], pid: number) => boolean): number[] {
	return readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name))
		.map(Number)
		.filter((pid) => {
			try {
				// A zombie has no command line.
				return wanted(readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0"), pid);
			} catch {
				// It went meanwhile.
				return false;
			}
		});
}

/** The watchers beside the shims of a home, which is their working folder. */
export const watchersOf = (home: string): number[] =>
	findProcesses((words, pid) => words.includes("lease-watcher") && readlinkSync(`/proc/${pid}/cwd`) === home);
