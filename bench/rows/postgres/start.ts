// From add to the start of a payload job on PostgreSQL while all is idle: adder and worker each have connections of their own, so it goes by NOTIFY.

import { setTimeout as pause } from "node:timers/promises";
import { payload } from "../../engine.ts";
import { openFleet } from "../../fleet.ts";
import { bareListener } from "../../floor/postgres.ts";
import { collectGarbage } from "../../interleave.ts";
import { graphile } from "../../peer/graphile.ts";
import { pgBoss } from "../../peer/pg-boss.ts";
import type { Starter } from "../../peer/queue.ts";
import { dropDatabase, makeDatabase } from "../../postgres.ts";
import { atMost, type Bench, type Measure, type Row } from "../../row.ts";
import { quantile, ratio, type Sample, sample } from "../../statistics.ts";

type Open = [name: string, open: (url: string) => Promise<Starter>];

/** Between two adds, so that each finds everybody asleep. */
const IDLE_MS = 60;
/** Before each round, one after the other without a rest: everybody has been at work for a while, and his code is compiled. */
const WARM = 1500;

export const pgStart: Row = {
	name: "pg-start",
	title: "add → start of a payload job on an idle PostgreSQL, p50",
	async run(bench) {
		const [worker, boss] = [await graphile(), await pgBoss()];
		const starters: Open[] = [
			["another scheduler", (url) => ours(url, "two")],
			["the same scheduler", (url) => ours(url, "one")],
			["bare", bareListener],
		];
		if (worker?.plain.starter) starters.push([worker.plain.name, worker.plain.starter]);
		if (boss?.starter) starters.push([boss.name, boss.starter]);
		const found: Record<string, Sample> = {};
		const p95: Record<string, number[]> = {};
		const rounds: Record<string, number[]>[] = [];
		for (let round = 1; round <= bench.rounds; round++) {
			rounds.push(await inTurns(starters, bench));
			bench.progress(`round ${round}/${bench.rounds}`);
		}
		for (const [name] of starters) {
			const all = rounds.map((one) => one[name] as number[]);
			found[name] = sample(all.map((values) => quantile(values, 0.5)));
			p95[name] = all.map((values) => quantile(values, 0.95));
		}
		const of = (name: string) => found[name] as Sample;
		const ms = (name: string): Measure => ({
			what: `PostgreSQL: add → start, p50, ${name === "bare" ? "bare LISTEN loop" : name.includes("scheduler") ? `ours, added by ${name}` : name}`,
			unit: "ms",
			measured: of(name),
			note: `p95 ${(p95[name] ?? []).map((value) => value.toFixed(2)).join(", ")} ms`,
		});
		const bars: Measure[] = worker
			? [
					{
						what: "PostgreSQL: add → start, p50 ÷ graphile-worker",
						bar: atMost(1),
						unit: "×",
						measured: ratio(of("another scheduler"), of(worker.plain.name)),
						note: "ours: added by one scheduler, started by another, as between two hosts.",
					},
				]
			: [];
		return [
			...bars,
			{ what: "PostgreSQL: add → start, p50 ÷ bare LISTEN loop", unit: "×", measured: ratio(of("another scheduler"), of("bare")) },
			...starters.map(([name]) => ms(name)),
		];
	},
};

/**
 * Milliseconds from the call of add to the first line of the job's function. All are open together, and each adds one when its turn comes, behind another one
 * each time: within a minute this machine is quick and slow, and so all of them find it alike.
 */
async function inTurns(starters: readonly Open[], bench: Bench): Promise<Record<string, number[]>> {
	const urls: string[] = [];
	const open: { name: string; starter: Starter; found: number[] }[] = [];
	try {
		for (const [name, start] of starters) {
			const url = await makeDatabase("start");
			urls.push(url);
			open.push({ name, starter: await start(url), found: [] });
		}
		collectGarbage();
		for (const { starter } of open) for (let n = 0; n < bench.size(WARM, 5); n++) await one(starter, n);
		for (let n = 0; n < bench.size(100, 20); n++)
			for (let turn = 0; turn < open.length; turn++) {
				const { starter, found } = open[(turn * (1 + (n % (open.length - 1))) + n) % open.length] as (typeof open)[number];
				await pause(IDLE_MS);
				found.push(await one(starter, n));
			}
		return Object.fromEntries(open.map(({ name, found }) => [name, found]));
	} finally {
		await pause(IDLE_MS);
		for (const { starter } of open) await starter.end();
		for (const url of urls) await dropDatabase(url);
	}
}

async function one(starter: Starter, n: number): Promise<number> {
	const begun = new Promise<number>((resolve) => starter.onStart(() => resolve(performance.now())));
	const start = performance.now();
	const adding = starter.add(n);
	const took = (await begun) - start;
	await adding;
	return took;
}

async function ours(url: string, schedulers: "one" | "two"): Promise<Starter> {
	const worker = await openFleet(url, { name: "worker" });
	const adder = schedulers === "one" ? worker : await openFleet(url, { name: "adder" });
	let started = () => {};
	const working = worker.work("default", async () => started());
	return {
		add: (n) => adder.add(payload(n)),
		onStart(call) {
			started = call;
		},
		async end() {
			await working.stop();
			await worker.close();
			await adder.close();
		},
	};
}
