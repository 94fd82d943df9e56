// Lives of jobs (add, start, end) through one leader from a hundred hosts: how many a second at a p99 of 250 ms at most, and at which rate that breaks.

import { setTimeout as pause } from "node:timers/promises";
import { Crowd, type Observed } from "../../fleet/crowd.ts";
import { inDatabase } from "../../postgres.ts";
import { atLeast, type Bench, type Measure, type Row } from "../../row.ts";
import { quantile, sample } from "../../statistics.ts";

const HOSTS = 100;
const RUNS_EACH = 20;
const P99_MS = 250;
/** Rates that are tried one after the other, until one breaks. */
const RATES = [200, 400, 500, 600, 700, 800, 1000, 1200, 1500, 2000];
/** A rate is kept up if at least this share of it is done. */
const KEPT_UP = 0.97;

export const pgLives: Row = {
	name: "pg-lives",
	title: "lives of jobs a second through one leader from 100 hosts at p99 ≤ 250 ms",
	run: (bench) => inDatabase("lives", (url) => measureLives(url, bench)),
};

async function measureLives(url: string, bench: Bench): Promise<Measure[]> {
	const crowd = await Crowd.open(url, { hosts: HOSTS, runsEach: RUNS_EACH, jobs: 0 });
	try {
		await crowd.load({ runMs: 0, addsPerSecond: RATES[0] as number, spread: false });
		await crowd.claim();
		await pause(bench.size(10_000, 2000));
		const tried: { rate: number; round: Observed }[] = [];
		for (const rate of RATES) {
			await crowd.load({ runMs: 0, addsPerSecond: rate, spread: false });
			await pause(bench.size(5000, 2000));
			const round = await crowd.observe(bench.size(20_000, 4000));
			tried.push({ rate, round });
			bench.progress(`${rate} a second: ${worstOf(round).toFixed(0)} ms`);
			if (!isKept(rate, round)) break;
		}
		return measuresOf(tried);
	} finally {
		await crowd.end();
	}
}

const p99 = (values: readonly number[]) => quantile(values, 0.99);
/** The slowest step of a life: add → its reply, add → start, end → its reply. */
const worstOf = ({ adds, sinceAdd, ends }: Observed): number => Math.max(p99(adds), p99(sinceAdd), p99(ends));
const done = ({ ends, ms }: Observed): number => (ends.length * 1000) / ms;
const isKept = (rate: number, round: Observed): boolean => worstOf(round) <= P99_MS && done(round) >= KEPT_UP * rate;

function measuresOf(tried: readonly { rate: number; round: Observed }[]): Measure[] {
	const kept = tried.filter(({ rate, round }) => isKept(rate, round)).at(-1);
	const broke = tried.find(({ rate, round }) => !isKept(rate, round));
	const cores = ({ leaderCores, databaseCores, hostCores }: Observed) =>
		`leader ${leaderCores.toFixed(2)}, database ${databaseCores.toFixed(2)}, hosts ${hostCores.toFixed(2)} cores`;
	const steps = tried.map(
		({ rate, round }) =>
			`${rate}: add ${p99(round.adds).toFixed(0)}, add → start ${p99(round.sinceAdd).toFixed(0)}, end ${p99(round.ends).toFixed(0)} ms, ${done(round).toFixed(0)} done (${cores(round)})`,
	);
	return [
		{
			what: `fleet of ${HOSTS} hosts: lives of jobs a second, every step p99 ≤ ${P99_MS} ms`,
			bar: atLeast(600),
			unit: "1/s",
			measured: sample([kept ? done(kept.round) : 0]),
			note: `p99 at each rate: ${steps.join("; ")}`,
		},
		{
			what: `fleet of ${HOSTS} hosts: lives of jobs a second that were asked for when it broke`,
			unit: "1/s",
			measured: sample([broke?.rate ?? Number.POSITIVE_INFINITY]),
		},
	];
}
