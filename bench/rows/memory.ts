// Row 6: resident memory of a process with a million queued jobs over one with none, each in a process of its own.

import { backlog } from "../backlog.ts";
import { runChild } from "../child.ts";
import { interleave } from "../interleave.ts";
import { atMost, type Row } from "../row.ts";
import { type Sample, sample } from "../statistics.ts";

export type Memory = { rssMb: number; peakMb: number };

export const memory: Row = {
	name: "memory",
	title: "resident memory with 1,000,000 queued over an empty one",
	async run(bench) {
		const jobs = bench.size(1_000_000, 20_000);
		const peaks = { empty: [] as number[], full: [] as number[] };
		const contender = (name: "empty" | "full", queued: number) => ({
			name,
			async round(path: string) {
				if (queued > 0) await backlog(bench, path, queued);
				const { rssMb, peakMb } = await runChild<Memory>("memory", [path]);
				peaks[name].push(peakMb);
				return rssMb;
			},
		});
		const { empty, full } = await interleave(bench, [contender("empty", 0), contender("full", jobs)], { warmup: 0 });
		const filler = await runChild<Memory>("memory", [bench.freshFile("filler"), String(jobs)]);
		const above = (value: number): Sample => sample([value - empty.median]);
		return [
			{
				what: "resident memory with 1,000,000 queued, above an empty one",
				bar: atMost(200),
				unit: "MB",
				measured: difference(full, empty),
			},
			{
				what: "the same, in the process that has just applied them",
				bar: atMost(200),
				unit: "MB",
				measured: above(filler.rssMb),
				note: "applied 20,000 at a time; after a claim, a complete and a garbage collection. Page cache of SQLite included in all of these.",
			},
			{
				what: "peak resident memory with 1,000,000 queued, above an empty one",
				unit: "MB",
				measured: difference(sample(peaks.full), sample(peaks.empty)),
			},
			{ what: "peak resident memory while applying 1,000,000, above an empty one", unit: "MB", measured: above(filler.peakMb) },
			{ what: "resident memory of an empty one", unit: "MB", measured: empty },
		];
	},
};

function difference(over: Sample, under: Sample): Sample {
	const pairs = over.values.map((value, i) => value - (under.values[i] ?? Number.NaN));
	return { ...sample(pairs), median: over.median - under.median };
}
