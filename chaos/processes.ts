// Every live process that belongs to a home, found by what it carries in its environment: an opinion independent of the supervisor's own sweep.

import { readdirSync, readFileSync, readlinkSync } from "node:fs";

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
				// The watchers beside shims name their home nowhere else.
				const watches = command.includes("lease-watcher") && readlinkSync(`/proc/${pid}/cwd`) === home;
				if (!watches && !command.includes(`${home}/`)) continue;
			}
			const state = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]?.[0];
			if (state !== "Z") found.push({ pid, command: readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ").trim() });
		} catch {
			// It went while we looked.
		}
	}
	return found;
}

type Row = { pid: number; parent: number; session: number };

function rowOf(pid: number): Row | undefined {
	try {
		const [, state, parent, , session] = /\) (\S) (\d+) (\d+) (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, "latin1")) ?? [];
		return state === undefined || state === "Z" ? undefined : { pid, parent: Number(parent), session: Number(session) };
	} catch {
		return undefined;
	}
}

/** The strays of a home with everything that belongs to them: what they have started, and the shells that lead their sessions and carry no mark. */
export function family(home: string): Stray[] {
	const found = new Map(strays(home).map((stray) => [stray.pid, stray]));
	const rows = readdirSync("/proc").flatMap((entry) => (/^\d+$/.test(entry) ? (rowOf(Number(entry)) ?? []) : []));
	const own = rowOf(process.pid)?.session;
	const sessions = new Set(rows.filter(({ pid, session }) => found.has(pid) && session !== own).map(({ session }) => session));
	for (let before = -1; before !== found.size; ) {
		before = found.size;
		for (const { pid, parent } of rows)
			if (!found.has(pid) && (found.has(parent) || sessions.has(pid))) found.set(pid, { pid, command: commandOf(pid) });
	}
	return [...found.values()];
}

function commandOf(pid: number): string {
	try {
		return readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ").trim();
	} catch {
		return "";
	}
}
