// Beside the bars: 8 processes claim and complete 10,000 jobs from one file; all distinct, none lost.

import { backlog } from "../backlog.ts";
import { runChild } from "../child.ts";
import { interleave } from "../interleave.ts";
import type { Row } from "../row.ts";

const PROCESSES = 8;

export const processes: Row = {
	name: "processes",
	title: "8 processes on one file",
	async run(bench) {
		const jobs = bench.size(10_000, 1000);
		const contender = <Name extends string>(name: Name, max: number) => ({
			name,
			async round(path: string) {
				await backlog(bench, path, jobs);
				const start = performance.now();
				const got = await Promise.all(
					Array.from({ length: PROCESSES }, (_, i) => runChild<number[]>("claimer", [path, `bench-${i}`, String(max)])),
				);
				const seconds = (performance.now() - start) / 1000;
				const all = got.flat();
				if (all.length !== jobs || new Set(all).size !== jobs)
					throw new Error(`${all.length} claims, ${new Set(all).size} distinct, of ${jobs} jobs`);
				return jobs / seconds;
			},
		});
		const { singles, tens } = await interleave(bench, [contender("singles", 1), contender("tens", 10)], {
			rounds: Math.min(3, bench.rounds),
			warmup: 0,
		});
		return [
			{
				what: "8 processes claim+complete 10,000, one by one",
				unit: "jobs/s",
				measured: singles,
				note: "includes the start of 8 node processes; 10,000 distinct, none lost, in each round.",
			},
			{ what: "8 processes claim+complete 10,000, ten at a time", unit: "jobs/s", measured: tens },
		];
	},
};
