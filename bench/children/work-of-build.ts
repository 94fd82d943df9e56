// One round of engine work by the library of a build: `work-of-build.js BUILD FILE`, where BUILD is a checkout with its dist/. Prints microseconds a job, by kind.

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Scheduler } from "../../src/index.ts";
import { CONFIG, payload, success } from "../engine.ts";
import { dagEdges } from "../floor/dag.ts";

const JOBS = 6_000;
const BATCH = 100;
const CALLERS = 64;
const LOCKS = 40;

const [build = "", file = ""] = process.argv.slice(2);
const { openScheduler } = (await import(pathToFileURL(join(build, "dist/src/index.js")).href)) as typeof import("../../src/index.ts");

async function runThrough(engine: Scheduler, jobs: number): Promise<void> {
	for (let done = 0; done < jobs; ) {
		const claimed = await engine.claim({ worker: "bench", max: BATCH });
		if (claimed.length === 0) throw new Error(`stuck at ${done} of ${jobs}`);
		await Promise.all(claimed.map((one) => engine.complete(success(one))));
		done += claimed.length;
	}
}

async function caller(engine: Scheduler, worker: string, jobs: number): Promise<void> {
	for (let n = 0; n < jobs; n++) {
		await engine.add(payload(n));
		const [claimed] = await engine.claim({ worker, max: 1 });
		if (!claimed) throw new Error("nothing to claim");
		await engine.complete(success(claimed));
	}
}

/** Each returns how many jobs it has run. */
const KINDS: Record<string, (engine: Scheduler) => Promise<number>> = {
	async cycle(engine) {
		for (let from = 0; from < JOBS; from += BATCH) {
			await Promise.all(Array.from({ length: BATCH }, (_, i) => engine.add(payload(from + i))));
			await runThrough(engine, BATCH);
		}
		return JOBS;
	},
	async callers(engine) {
		const each = Math.floor(JOBS / CALLERS);
		await Promise.all(Array.from({ length: CALLERS }, (_, i) => caller(engine, `bench-${i}`, each)));
		return each * CALLERS;
	},
	async dag(engine) {
		const edges = dagEdges(JOBS);
		await engine.apply({ jobs: edges.map((after, i) => ({ ...payload(i), name: `n${i}`, after: after.map((before) => `n${before}`) })) });
		await runThrough(engine, JOBS);
		return JOBS;
	},
	/** Each lock is wanted by many waiting jobs, shared and exclusive: every end wakes waiters. */
	async locks(engine) {
		const jobs = JOBS / 3;
		const lockOf = (i: number) => ({ key: `lock-${i % LOCKS}`, mode: i % 3 === 0 ? ("exclusive" as const) : ("shared" as const) });
		await engine.apply({ jobs: Array.from({ length: jobs }, (_, i) => ({ ...payload(i), locks: [lockOf(i)] })) });
		await runThrough(engine, jobs);
		return jobs;
	},
};

const took: Record<string, number> = {};
for (const [kind, work] of Object.entries(KINDS)) {
	const engine = await openScheduler({ path: `${file}-${kind}.db`, config: CONFIG, by: "bench" });
	// The first pass compiles; the second one is measured.
	await work(engine);
	globalThis.gc?.();
	const start = performance.now();
	const jobs = await (kind === "dag" ? workElsewhere(work) : work(engine));
	took[kind] = ((performance.now() - start) * 1000) / jobs;
	await engine.close();
}
console.log(JSON.stringify(took));

/** A manifest's names are taken by its first pass: the second one has a queue of its own. */
async function workElsewhere(work: (engine: Scheduler) => Promise<number>): Promise<number> {
	const engine = await openScheduler({ path: `${file}-again.db`, config: CONFIG, by: "bench" });
	const jobs = await work(engine);
	await engine.close();
	return jobs;
}
