// Databases with many queued jobs: each size is filled once, kept closed, and copied for every round that wants it.

import { closeSync, copyFileSync, existsSync, fsyncSync, openSync } from "node:fs";
import type { Scheduler } from "../src/contracts/scheduler.ts";
import { openEngine, payload } from "./engine.ts";
import type { Bench } from "./row.ts";

const CHUNK = 20_000;

export async function fill(engine: Scheduler, jobs: number, progress: (line: string) => void = () => {}): Promise<void> {
	for (let from = 0; from < jobs; from += CHUNK) {
		const to = Math.min(jobs, from + CHUNK);
		await engine.apply({ jobs: Array.from({ length: to - from }, (_, i) => payload(from + i)) });
		if ((to / CHUNK) % 10 === 0) progress(`filled ${to.toLocaleString("en")}`);
	}
}

const filled = new Map<number, string>();

/** Makes `path` a database with so many queued jobs. */
export async function backlog(bench: Bench, path: string, jobs: number): Promise<void> {
	let template = filled.get(jobs);
	if (template === undefined) {
		template = bench.freshFile(`template-${jobs}`);
		const engine = await openEngine(template);
		await fill(engine, jobs, bench.progress);
		await engine.close();
		filled.set(jobs, template);
	}
	for (const suffix of ["", "-wal"]) {
		if (existsSync(template + suffix)) copyDurably(template + suffix, path + suffix);
	}
}

/** Without the fsync, the copy's dirty pages would be written during somebody's commit. */
function copyDurably(from: string, to: string): void {
	copyFileSync(from, to);
	const file = openSync(to, "r+");
	fsyncSync(file);
	closeSync(file);
}
