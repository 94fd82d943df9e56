// From add to the start of a payload job on PostgreSQL while all is idle: adder and worker each have connections of their own, so it goes by NOTIFY.

import { setTimeout as pause } from "node:timers/promises";
import { payload } from "../../engine.ts";
import { openFleet } from "../../fleet.ts";
import { bareListener } from "../../floor/postgres.ts";
import { type Contender, interleave } from "../../interleave.ts";
import { graphile } from "../../peer/graphile.ts";
import { pgBoss } from "../../peer/pg-boss.ts";
import type { Starter } from "../../peer/queue.ts";
import { inDatabase } from "../../postgres.ts";
import { atMost, type Measure, type Row } from "../../row.ts";
import { quantile, ratio, type Sample } from "../../statistics.ts";

/** Between two adds, so that each finds everybody asleep. */
const IDLE_MS = 60;
/** Before each round, one after the other without a rest: everybody has been at work for a while, and his code is compiled. */
const WARM = 1500;

export const pgStart: Row = {
	name: "pg-start",
	title: "add → start of a payload job on an idle PostgreSQL, p50",
	async run(bench) {
		const count = bench.size(100, 20);
		const [worker, boss] = [await graphile(), await pgBoss()];
		const starters: [string, (url: string) => Promise<Starter>][] = [
			["another scheduler", (url) => ours(url, "two")],
			["the same scheduler", (url) => ours(url, "one")],
			["bare", bareListener],
		];
		if (worker?.plain.starter) starters.push([worker.plain.name, worker.plain.starter]);
		if (boss?.starter) starters.push([boss.name, boss.starter]);
		const p95: Record<string, number[]> = {};
		const contenders: Contender[] = starters.map(([name, open]) => ({
			name,
			round: () =>
				inDatabase("start", async (url) => {
					const found = await starts(await open(url), { count, warm: bench.size(WARM, 5) });
					p95[name] = [...(p95[name] ?? []), quantile(found, 0.95)];
					return quantile(found, 0.5);
				}),
		}));
		const found = await interleave(bench, contenders);
		const of = (name: string) => found[name] as Sample;
		const ms = (name: string): Measure => ({
			what: `PostgreSQL: add → start, p50, ${name === "bare" ? "bare LISTEN loop" : name.includes("scheduler") ? `ours, added by ${name}` : name}`,
			unit: "ms",
			measured: of(name),
			note: `p95 ${(p95[name] ?? [])
				.slice(-bench.rounds)
				.map((value) => value.toFixed(2))
				.join(", ")} ms`,
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

/** Milliseconds from the call of add to the first line of the job's function. */
async function starts(starter: Starter, { count, warm }: { count: number; warm: number }): Promise<number[]> {
	const found: number[] = [];
	for (let n = 0; n < warm + count; n++) {
		if (n >= warm) await pause(IDLE_MS);
		const begun = new Promise<number>((resolve) => starter.onStart(() => resolve(performance.now())));
		const start = performance.now();
		const adding = starter.add(n);
		const took = (await begun) - start;
		await adding;
		if (n >= warm) found.push(took);
	}
	await pause(IDLE_MS);
	await starter.end();
	return found;
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
