// A thousand simulated hosts with a hundred runs of ten minutes each: how soon a run that ends is followed by the next, what an add takes, what the leader computes.

import { setTimeout as pause } from "node:timers/promises";
import { Crowd, type Observed } from "../../fleet/crowd.ts";
import { inDatabase } from "../../postgres.ts";
import { atMost, type Bench, type Measure, type Row } from "../../row.ts";
import { quantile, sample } from "../../statistics.ts";

const RUNS_EACH = 100;
const RUN_MS = 600_000;
/** Jobs that wait beyond those that run, so that there is always one to start. */
const WAITING = 5_000;
/** After the last host has filled up, before the first round: what filling left behind is over. */
const REST_MS = 15_000;

export const pgHosts: Row = {
	name: "pg-hosts",
	title: "1,000 simulated hosts × 100 runs of 10 minutes over 1,000 connections",
	run: (bench) => inDatabase("hosts", (url) => measureHosts(url, bench)),
};

async function measureHosts(url: string, bench: Bench): Promise<Measure[]> {
	const hosts = bench.size(1000, 40);
	// As many ends a second for each host as in ten minutes; in a quick run enough of them to see something.
	const runMs = bench.size(RUN_MS, RUN_MS / 20);
	const endsPerSecond = (hosts * RUNS_EACH * 1000) / runMs;
	const crowd = await Crowd.open(url, { hosts, runsEach: RUNS_EACH, jobs: hosts * RUNS_EACH + WAITING });
	try {
		await crowd.load({ runMs, addsPerSecond: 0, spread: true });
		await crowd.claim();
		await crowd.fill(hosts * RUNS_EACH * 0.99, WAITING, bench.progress);
		// Until the hosts have heard of what they were assigned.
		await pause(2000);
		await crowd.load({ runMs, addsPerSecond: endsPerSecond, spread: false });
		await pause(bench.size(REST_MS, 2000));
		const rounds: Observed[] = [];
		for (let round = 1; round <= bench.rounds; round++) {
			rounds.push(await crowd.observe(bench.size(30_000, 5000)));
			bench.progress(`round ${round}/${bench.rounds}`);
		}
		return measuresOf(rounds, { hosts, endsPerSecond });
	} finally {
		await crowd.end();
	}
}

function measuresOf(rounds: readonly Observed[], { hosts, endsPerSecond }: { hosts: number; endsPerSecond: number }): Measure[] {
	const of = (figure: (round: Observed) => number) => sample(rounds.map(figure));
	const what = (text: string) => `fleet of ${hosts.toLocaleString("en")} hosts: ${text}`;
	const ms = (text: string, values: (round: Observed) => readonly number[], share: number): Measure => ({
		what: what(`${text}, p${share * 100}`),
		unit: "ms",
		measured: of((round) => quantile(values(round), share)),
	});
	return [
		{
			...ms("end of a run → next start on its host", ({ sinceEnd }) => sinceEnd, 0.99),
			bar: atMost(250),
			note: `${endsPerSecond.toFixed(0)} ends and as many adds a second are asked for; rounds follow each other in one fleet`,
		},
		{ ...ms("add on any host", ({ adds }) => adds, 0.99), bar: atMost(100) },
		{ what: what("processor of the leader"), bar: atMost(0.5), unit: "cores", measured: of(({ leaderCores }) => leaderCores) },
		ms("end of a run → next start on its host", ({ sinceEnd }) => sinceEnd, 0.5),
		ms("add on any host", ({ adds }) => adds, 0.5),
		ms("end of a run → acknowledged", ({ ends }) => ends, 0.99),
		{ what: what("starts"), unit: "1/s", measured: of(({ starts, ms }) => (starts * 1000) / ms) },
		{ what: what("processor of the database"), unit: "cores", measured: of(({ databaseCores }) => databaseCores) },
		{ what: what("processor of all simulated hosts"), unit: "cores", measured: of(({ hostCores }) => hostCores) },
	];
}
