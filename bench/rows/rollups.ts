// A year of rollups: what 1,000 jobs a day leave in the store, and how long an answer about that year takes. The jobs go through the engine, by a clock of
// their own; then all else is taken out of a copy of the file, and its size is what the rollups take.
//
//   like each other   twenty kinds of jobs: what an ordinary queue has
//   all different     lanes, agents, models, owners, repos and accounts at random: the most cells that can be

import { copyFileSync, statSync } from "node:fs";
import type { Clock } from "../../src/contracts/host.ts";
import { type JobInput, openScheduler, type Scheduler } from "../../src/index.ts";
import { openDatabase } from "../../src/stores/sqlite/driver.ts";
import { success } from "../engine.ts";
import { atMost, type Bench, type Measure, type Row } from "../row.ts";
import { sample } from "../statistics.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const JOBS_A_DAY = 1000;
const ANSWERS = 9;
const BEGIN = Date.UTC(2026, 0, 1);

export const rollups: Row = {
	name: "rollups",
	title: "a year of rollups of 1,000 jobs a day",
	async run(bench) {
		const found: Measure[] = [];
		for (const [name, make] of Object.entries({ "like each other": alike, "all different": different }))
			found.push(...(await year(bench, name, make)));
		return found;
	},
};

async function year(bench: Bench, name: string, make: (n: number) => JobInput): Promise<Measure[]> {
	const days = bench.size(365, 6);
	const path = bench.freshFile(`rollups-${name.replaceAll(" ", "-")}`);
	const clock = new FastClock(BEGIN);
	const engine = await openScheduler({ path, config: CONFIG, by: "bench", clock, drive: "manual" });
	for (let hour = 0; hour < days * 24; hour++) {
		await anHour(engine, clock, make, Math.round((JOBS_A_DAY * (hour + 1)) / 24) - Math.round((JOBS_A_DAY * hour) / 24), hour);
		clock.set(BEGIN + (hour + 1) * HOUR_MS);
		if (hour % (24 * 7) !== 0) continue;
		await engine.gc({ days: 0 });
		bench.progress(`rollups, ${name}: day ${hour / 24} of ${days}`);
	}
	const until = clock.now();
	const inDays = await timed(() => engine.stats({ since: until - days * DAY_MS, by: "owner", bucket: "day" }));
	const inHours = await timed(() => engine.stats({ since: until - Math.min(30, days) * DAY_MS, by: "model", bucket: "hour" }));
	await engine.close();
	return [
		{ what: `store of ${days} days, jobs ${name}`, bar: atMost(50), unit: "MB", measured: sample([sizeOf(path)]) },
		{ what: `answer about ${days} days by owner, jobs ${name}`, bar: atMost(200), unit: "ms", measured: sample(inDays) },
		{
			what: `answer about ${Math.min(30, days) * 24} hours by model, jobs ${name}`,
			bar: atMost(200),
			unit: "ms",
			measured: sample(inHours),
		},
	];
}

const pick = (n: number, salt: number, of: number): number =>
	Math.floor(((n * 2_654_435_761 + salt * 40_503) % 4_294_967_296) / 65_536) % of;

const alike = (n: number): JobInput => {
	const kind = pick(n, 1, 20);
	return { command: ["true"], lane: `lane-${kind % 4}`, owner: `owner-${kind % 5}` };
};
const different = (n: number): JobInput => ({
	agent: `agent-${pick(n, 4, 3)}`,
	prompt: "x",
	model: `model-of-a-provider-${pick(n, 5, 6)}`,
	lane: `lane-${pick(n, 1, 5)}`,
	owner: `owner-with-a-long-name-${pick(n, 2, 200)}`,
	account: `account-${pick(n, 3, 4)}`,
	retry: { max: 0 },
});

const LANES = Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`lane-${index}`, { max: 1000 }]));
const ACCOUNTS = Object.fromEntries(Array.from({ length: 4 }, (_, index) => [`account-${index}`, {}]));
const CONFIG = { max_concurrent: 10_000, safety_cap: 0, lanes: { default: {}, ...LANES }, accounts: ACCOUNTS, timezone: "Europe/Berlin" };

/** Jobs come at the beginning of the hour, start after a minute and end after twenty. One in ten fails. */
async function anHour(engine: Scheduler, clock: FastClock, make: (n: number) => JobInput, jobs: number, hour: number): Promise<void> {
	await Promise.all(Array.from({ length: jobs }, (_, index) => engine.add(make(hour * 1000 + index))));
	clock.set(clock.now() + 60_000);
	const claimed = await engine.claim({ worker: "bench", max: 1000 });
	clock.set(clock.now() + 20 * 60_000);
	await Promise.all(
		claimed.map((one, index) =>
			engine.complete({
				...success(one),
				...(index % 10 === 0 ? { exit_kind: "failed" as const, exit_code: 1 } : {}),
				usage: { cost_micro: 1_234_567 + index, tokens: 45_678 },
			}),
		),
	);
}

async function timed(ask: () => Promise<unknown>): Promise<number[]> {
	const costs: number[] = [];
	for (let count = 0; count < ANSWERS; count++) {
		const start = performance.now();
		await ask();
		costs.push(performance.now() - start);
	}
	return costs;
}

/** Megabytes of a file with nothing in it but the rollups. */
function sizeOf(path: string): number {
	const alone = `${path}.alone`;
	copyFileSync(path, alone);
	const database = openDatabase(alone);
	for (const table of ["job", "done", "spec", "edge", "link", "run", "event"]) database.exec(`DELETE FROM ${table}`);
	database.exec("DELETE FROM record WHERE kind NOT LIKE 'rollup%'");
	database.exec("VACUUM");
	database.close();
	return statSync(alone).size / 1e6;
}

class FastClock implements Clock {
	private at: number;

	constructor(at: number) {
		this.at = at;
	}

	now(): number {
		return this.at;
	}

	monotonic(): number {
		return this.at;
	}

	set(at: number): void {
		this.at = at;
	}
}
