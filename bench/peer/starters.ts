// Other programs that start many programs, where they are installed: xargs, GNU parallel, task-spooler, pueue. Each runs COUNT × /bin/true, CAP at a time.

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ENV } from "../daemon.ts";

export type Starter = {
	name: string /** What it does less than ours. */;
	keeps: string;
	run(folder: string, count: number, cap: number): Promise<number>;
};

/** Milliseconds from its first call until all have ended; what has to be there before, and goes afterwards, is not counted. */
const STARTERS: Record<string, Starter> = {
	xargs: {
		name: "xargs -P",
		keeps: "no state, no logs",
		run: (_folder, count, cap) => timed(`seq ${count} | xargs -P ${cap} -n 1 /bin/true`, {}),
	},
	tsp: {
		name: "tsp",
		keeps: "no durable state",
		async run(folder, count, cap) {
			const env = { TS_SOCKET: join(folder, "socket"), TMPDIR: folder, TS_MAXFINISHED: String(count) };
			await timed(`tsp -S ${cap}`, env);
			// Jobs end about in their order: when the last ones have, all have.
			const all = `i=0; while [ $i -lt ${count} ]; do tsp /bin/true; i=$((i+1)); done >ids; for id in $(tail -n ${cap} ids); do tsp -w $id; done`;
			const ms = await timed(`cd ${folder}; ${all}`, env);
			await timed("tsp -K", env);
			return ms;
		},
	},
	parallel: {
		name: "GNU parallel",
		keeps: "no durable state",
		run: (folder, count, cap) => timed(`seq ${count} | parallel -j ${cap} --results out -n 1 /bin/true`, { HOME: folder }, folder),
	},
	pueue: {
		name: "pueue",
		keeps: "state that is not synced",
		async run(folder, count, cap) {
			const env = { HOME: folder, XDG_RUNTIME_DIR: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
			await timed(`pueued -d && sleep 1 && pueue parallel ${cap}`, env);
			const ms = await timed(`i=0; while [ $i -lt ${count} ]; do pueue add -- /bin/true; i=$((i+1)); done; pueue wait -q`, env);
			await timed("pueue shutdown", env);
			return ms;
		},
	},
};

export function installedStarters(): { there: Starter[]; absent: string[] } {
	const there = Object.entries(STARTERS).filter(([program]) => isThere(program));
	return { there: there.map(([, one]) => one), absent: Object.keys(STARTERS).filter((program) => !isThere(program)) };
}

function isThere(program: string): boolean {
	try {
		execFileSync("sh", ["-c", `command -v ${program}`], { stdio: "ignore" });
		return true;
	} catch {
		return false;
	}
}

function timed(script: string, env: Record<string, string>, cwd = "/"): Promise<number> {
	mkdirSync(cwd, { recursive: true });
	const start = performance.now();
	const child = spawn("/bin/sh", ["-c", script], { stdio: "ignore", env: { ...ENV, ...env }, cwd });
	return new Promise((resolve, reject) => {
		child.on("error", reject);
		child.on("exit", (code) => (code === 0 ? resolve(performance.now() - start) : reject(new Error(`ended with ${code}: ${script}`))));
	});
}
