// Row 3: one call at a time from 64 concurrent callers (group commit), beside a bare loop with a transaction for each call.

import type { Scheduler } from "../../src/contracts/scheduler.ts";
import { openEngine, payload, success } from "../engine.ts";
import { bareCycle } from "../floor/cycle.ts";
import { interleave } from "../interleave.ts";
import { atLeast, type Row } from "../row.ts";
import { ratio } from "../statistics.ts";

const CALLERS = 64;

export const callers: Row = {
	name: "callers",
	title: "64 concurrent callers over a transaction each",
	async run(bench) {
		const jobs = bench.size(8_000, 640);
		const bareJobs = bench.size(1_000, 100);
		const { ours, bare, one } = await interleave(bench, [
			{ name: "ours", round: (path) => run(path, jobs, CALLERS) },
			{ name: "bare", round: (path) => bareCycle(path, { jobs: bareJobs, batch: 1 }) },
			{ name: "one", round: (path) => run(path, bareJobs, 1) },
		]);
		return [
			{ what: "64 callers, throughput ÷ bare loop with a transaction each", bar: atLeast(5), unit: "×", measured: ratio(bare, ours) },
			{ what: "1 caller, throughput ÷ bare loop with a transaction each", unit: "×", measured: ratio(bare, one) },
			{ what: "64 callers, add → claim → complete", unit: "µs/job", measured: ours },
			{ what: "1 caller, add → claim → complete", unit: "µs/job", measured: one },
			{ what: "bare loop, three transactions a job", unit: "µs/job", measured: bare },
		];
	},
};

async function run(path: string, jobs: number, callers: number): Promise<number> {
	const engine = await openEngine(path);
	const each = Math.floor(jobs / callers);
	const start = performance.now();
	await Promise.all(Array.from({ length: callers }, (_, i) => caller(engine, `bench-${i}`, each)));
	const took = performance.now() - start;
	const { queued_total, running } = await engine.status();
	if (queued_total + running !== 0) throw new Error(`${queued_total} queued and ${running} running jobs are left`);
	await engine.close();
	return (took * 1000) / (each * callers);
}

/** Whoever has added a job finds one to claim: at any time there are at least as many queued as callers between the two calls. */
async function caller(engine: Scheduler, worker: string, jobs: number): Promise<void> {
	for (let n = 0; n < jobs; n++) {
		await engine.add(payload(n));
		const [claimed] = await engine.claim({ worker, max: 1 });
		if (claimed === undefined) throw new Error("nothing to claim");
		await engine.complete(success(claimed));
	}
}
