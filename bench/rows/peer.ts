// Row 4: 20,000 no-op jobs added and worked off, beside plainjob. Ours is durable at every call (FULL), plainjob's is not (NORMAL).

import { openEngine, payload } from "../engine.ts";
import { type Contender, interleave } from "../interleave.ts";
import { betterLike } from "../peer/better-like.ts";
import { realBetter, runPlainjob, runPlainjobForked } from "../peer/plainjob.ts";
import { atLeast, type Bench, type Measure, type Row } from "../row.ts";
import { perSecond, ratio, type Sample } from "../statistics.ts";

const IN_FLIGHT = 64;

type Name = "ours" | "plainjob, 1 worker" | "plainjob, 64 workers" | "plainjob, 2 processes" | "plainjob on better-sqlite3, 1 worker";

export const peer: Row = {
	name: "peer",
	title: "20,000 no-op jobs beside plainjob",
	async run(bench) {
		const jobs = bench.size(20_000, 1000);
		const contenders: Contender<Name>[] = [
			{ name: "ours", round: (path) => ours(path, jobs) },
			{ name: "plainjob, 1 worker", round: async (path) => (await runPlainjob(betterLike(path), { jobs, workers: 1 })).totalUs },
			{ name: "plainjob, 64 workers", round: async (path) => (await runPlainjob(betterLike(path), { jobs, workers: IN_FLIGHT })).totalUs },
			{ name: "plainjob, 2 processes", round: async (path) => (await runPlainjobForked(betterLike(path), { jobs, processes: 2 })).totalUs },
		];
		if (await betterIsThere(bench)) {
			contenders.push({
				name: "plainjob on better-sqlite3, 1 worker",
				async round(path) {
					const connection = await realBetter(path);
					if (connection === null) throw new Error("better-sqlite3 has gone");
					return (await runPlainjob(connection, { jobs, workers: 1 })).totalUs;
				},
			});
		}
		const { ours: mine, ...peers } = await interleave(bench, contenders);
		const rivals = Object.entries(peers) as [Name, Sample][];
		const best = rivals.filter(([name]) => !name.includes("better-sqlite3")).reduce((a, b) => (b[1].median < a[1].median ? b : a));
		const beside: Measure[] = rivals.flatMap(([name, sample]) => [
			{ what: `throughput ÷ ${name}`, unit: "×", measured: ratio(sample, mine) },
			{ what: name, unit: "jobs/s", measured: perSecond(sample) },
		]);
		return [
			{
				what: "add + work of 20,000 no-ops, throughput ÷ plainjob at its best",
				bar: atLeast(1),
				unit: "×",
				measured: ratio(best[1], mine),
				note: `its best here: ${best[0]}, on our SQLite driver, synchronous=NORMAL; ours: FULL, 64 callers of add, then work() with concurrency 64.`,
			},
			{ what: "add + work of 20,000 no-ops, ours", unit: "jobs/s", measured: perSecond(mine) },
			...beside,
		];
	},
};

async function betterIsThere(bench: Bench): Promise<boolean> {
	const connection = await realBetter(bench.freshFile("better"));
	connection?.close();
	return connection !== null;
}

async function ours(path: string, jobs: number): Promise<number> {
	const engine = await openEngine(path);
	const start = performance.now();
	let next = 0;
	const caller = async () => {
		while (next < jobs) await engine.add(payload(next++));
	};
	await Promise.all(Array.from({ length: IN_FLIGHT }, caller));
	let called = 0;
	let allCalled = () => {};
	const all = new Promise<void>((resolve) => {
		allCalled = resolve;
	});
	const worker = engine.work(
		"default",
		async () => {
			called++;
			if (called === jobs) allCalled();
		},
		{ concurrency: IN_FLIGHT },
	);
	await all;
	// Stopping waits until the last outcomes are durable, so they are in the time.
	await worker.stop();
	const took = performance.now() - start;
	const { queued_total, running } = await engine.status();
	if (queued_total + running !== 0) throw new Error(`${queued_total} queued and ${running} running jobs are left`);
	await engine.close();
	return (took * 1000) / jobs;
}
