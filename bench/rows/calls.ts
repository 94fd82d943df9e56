// Beside the bars: what single calls cost a single caller: add, why and status on a backlog, reading events.

import type { Scheduler } from "../../src/contracts/scheduler.ts";
import { backlog } from "../backlog.ts";
import { openEngine, payload } from "../engine.ts";
import { interleave } from "../interleave.ts";
import type { Measure, Row } from "../row.ts";
import { quantile, sample } from "../statistics.ts";

const CALLS = 300;

export const calls: Row = {
	name: "calls",
	title: "single calls of a single caller",
	async run(bench) {
		const jobs = bench.size(100_000, 5_000);
		const found: Record<string, number[]> = {};
		const keep = (what: string, value: number) => {
			found[what] ??= [];
			found[what].push(value);
		};
		await interleave(bench, [
			{
				name: "calls",
				async round(path) {
					await backlog(bench, path, jobs);
					const engine = await openEngine(path);
					for (const [name, call] of Object.entries(single(engine, jobs))) {
						const costs = await timed(call);
						keep(`${name}, p50`, quantile(costs, 0.5));
						keep(`${name}, p99`, quantile(costs, 0.99));
					}
					keep("events() from the beginning, a row", await readEvents(engine));
					await engine.close();
					return 0;
				},
			},
		]);
		return Object.entries(found).map(
			([what, values]): Measure => ({ what: `${what}, 100,000 queued`, unit: "µs", measured: sample(values.slice(-bench.rounds)) }),
		);
	},
};

const single = (engine: Scheduler, jobs: number): Record<string, (n: number) => Promise<unknown>> => ({
	"add()": (n) => engine.add(payload(n)),
	"why()": (n) => engine.why(1 + ((n * 7919) % jobs)),
	"why() of the first": () => engine.why(1),
	"show()": (n) => engine.show(1 + ((n * 7919) % jobs)),
	"list() of 100": () => engine.list({ limit: 100 }),
	"status()": () => engine.status(),
	"plan()": () => engine.plan(),
});

async function timed(call: (n: number) => Promise<unknown>): Promise<number[]> {
	const costs: number[] = [];
	for (let n = 0; n < CALLS; n++) {
		const start = performance.now();
		await call(n);
		costs.push((performance.now() - start) * 1000);
	}
	return costs;
}

/** As many as there are: a large apply tells of its jobs in one event. */
async function readEvents(engine: Scheduler): Promise<number> {
	const last = await engine.lastEvent();
	const start = performance.now();
	let read = 0;
	for await (const event of engine.events({ since: 0 })) {
		read++;
		if (event.seq >= last) break;
	}
	return ((performance.now() - start) * 1000) / read;
}
