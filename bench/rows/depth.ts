// Row 1: what a claim and a complete cost with a million queued jobs, over what they cost with a thousand.

import type { Scheduler } from "../../src/contracts/scheduler.ts";
import { backlog } from "../backlog.ts";
import { openEngine, success } from "../engine.ts";
import { interleave } from "../interleave.ts";
import { atMost, type Row } from "../row.ts";
import { ratio, type Sample, sample } from "../statistics.ts";

const WARM = 50;
const SINGLES = 400;
const BATCHES = 4;
const BATCH = 100;

export const depth: Row = {
	name: "depth",
	title: "claim and complete at 1,000,000 queued over 1,000 queued",
	async run(bench) {
		const deep = bench.size(1_000_000, 20_000);
		const batched = { shallow: [] as number[], deep: [] as number[] };
		const contender = (name: "shallow" | "deep", jobs: number) => ({
			name,
			async round(path: string) {
				await backlog(bench, path, jobs);
				const engine = await openEngine(path);
				await cycles(engine, WARM, 1);
				const single = await cycles(engine, SINGLES, 1);
				batched[name].push(await cycles(engine, BATCHES, BATCH));
				await engine.close();
				return single;
			},
		});
		const { shallow, deep: million } = await interleave(bench, [contender("shallow", 1000), contender("deep", deep)]);
		const measured = (values: number[]): Sample => sample(values.slice(-bench.rounds));
		const shallowBatch = measured(batched.shallow);
		const deepBatch = measured(batched.deep);
		return [
			{ what: "claim+complete at 1,000,000 queued ÷ at 1,000, one by one", bar: atMost(1.5), unit: "×", measured: ratio(million, shallow) },
			{
				what: "claim+complete at 1,000,000 queued ÷ at 1,000, batches of 100",
				bar: atMost(1.5),
				unit: "×",
				measured: ratio(deepBatch, shallowBatch),
				note: "one by one, two fsyncs a job hide what the processor does; in batches they do not.",
			},
			{ what: "claim+complete at 1,000, one by one", unit: "µs/job", measured: shallow },
			{ what: "claim+complete at 1,000,000, one by one", unit: "µs/job", measured: million },
			{ what: "claim+complete at 1,000, batches of 100", unit: "µs/job", measured: shallowBatch },
			{ what: "claim+complete at 1,000,000, batches of 100", unit: "µs/job", measured: deepBatch },
		];
	},
};

/** Microseconds a job. */
async function cycles(engine: Scheduler, count: number, max: number): Promise<number> {
	const start = performance.now();
	for (let i = 0; i < count; i++) {
		const claimed = await engine.claim({ worker: "bench", max });
		if (claimed.length !== max) throw new Error(`claimed ${claimed.length} instead of ${max}`);
		await Promise.all(claimed.map((one) => engine.complete(success(one))));
	}
	return ((performance.now() - start) * 1000) / (count * max);
}
