// From add to the start of a payload job on PostgreSQL while all is idle: in the leader's process, and between the leader and another member. Few processes
// listen, so NOTIFY tells of requests and replies.

import { setTimeout as pause } from "node:timers/promises";
import { payload } from "../../engine.ts";
import { openFleet } from "../../fleet/open.ts";
import { bareListener } from "../../floor/postgres.ts";
import { collectGarbage } from "../../interleave.ts";
import { graphile } from "../../peer/graphile.ts";
import { pgBoss } from "../../peer/pg-boss.ts";
import type { Starter } from "../../peer/queue.ts";
import { dropDatabase, makeDatabase } from "../../postgres.ts";
import { atMost, type Bench, type Measure, type Row } from "../../row.ts";
import { quantile, ratio, type Sample, sample } from "../../statistics.ts";

type Open = [name: string, open: (url: string) => Promise<Starter>];

const SAME = "ours, the leader adds and starts";
const TO_LEADER = "ours, a member adds, the leader starts";
const FROM_LEADER = "ours, the leader adds, a member starts";

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
			[SAME, (url) => ours(url, "same")],
			[TO_LEADER, (url) => ours(url, "member adds")],
			[FROM_LEADER, (url) => ours(url, "leader adds")],
			["ours, one member adds, another starts", (url) => ours(url, "neither leads")],
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
			what: `PostgreSQL: add → start, p50, ${name === "bare" ? "bare LISTEN loop" : name}`,
			unit: "ms",
			measured: of(name),
			note: `p95 ${(p95[name] ?? []).map((value) => value.toFixed(2)).join(", ")} ms`,
		});
		const against = (name: string, most: number): Measure[] =>
			worker
				? [
						{
							what: `PostgreSQL: add → start, p50, ${name} ÷ graphile-worker`,
							bar: atMost(most),
							unit: "×",
							measured: ratio(of(name), of(worker.plain.name)),
						},
					]
				: [];
		return [
			...against(SAME, 1.2),
			...against(TO_LEADER, 2),
			...against(FROM_LEADER, 2),
			{
				what: "PostgreSQL: add → start, p50, the leader adds and starts ÷ bare LISTEN loop",
				unit: "×",
				measured: ratio(of(SAME), of("bare")),
			},
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

async function ours(url: string, who: "same" | "member adds" | "leader adds" | "neither leads"): Promise<Starter> {
	const leader = await openFleet(url, { name: "leader" });
	const member = who === "same" ? leader : await openFleet(url, { name: "member", lead: "never" });
	const third = who === "neither leads" ? await openFleet(url, { name: "third", lead: "never" }) : leader;
	const [adder, worker] = who === "member adds" ? [member, leader] : who === "neither leads" ? [third, member] : [leader, member];
	let started = () => {};
	const working = worker.work("default", async () => started());
	return {
		add: (n) => adder.add(payload(n)),
		onStart(call) {
			started = call;
		},
		async end() {
			await working.stop();
			await member.close();
			await third.close();
			await leader.close();
		},
	};
}
