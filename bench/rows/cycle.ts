// Row 2: the whole life of a job in batches of 100, with its events, beside the same SQL in a bare loop.

import { openEngine, payload, success } from "../engine.ts";
import { bareCycle } from "../floor/cycle.ts";
import { bareRowCycle } from "../floor/cycle-rows.ts";
import { bareSetCycle } from "../floor/cycle-sets.ts";
import { interleave } from "../interleave.ts";
import { atLeast, type Row } from "../row.ts";
import { ratio } from "../statistics.ts";

const BATCH = 100;
/**
 * Jobs that go through before the clock starts, of each contender alike. The collection before a round finds no job alive and takes their shapes,
 * and with these the compiled code that knows them: what would be measured is how fast V8 compiles it again.
 */
const WARM = 4000;

export const cycle: Row = {
	name: "cycle",
	title: "add → claim → complete in batches of 100 over the floor",
	async run(bench) {
		const jobs = bench.size(10_000, 1000);
		const floorOf = { jobs, batch: BATCH, warm: bench.size(WARM, 500) };
		const { add, apply, floor, rows, sets } = await interleave(bench, [
			{ name: "add", round: (path) => ours(path, floorOf, "add") },
			{ name: "apply", round: (path) => ours(path, floorOf, "apply") },
			{ name: "floor", round: (path) => bareCycle(path, floorOf) },
			{ name: "rows", round: (path) => bareRowCycle(path, floorOf) },
			{ name: "sets", round: (path) => bareSetCycle(path, floorOf) },
		]);
		// Throughputs, so the time of the floor goes on top.
		return [
			{
				what: "full cycle, 100 adds a turn, throughput ÷ floor",
				bar: atLeast(0.6),
				unit: "×",
				measured: ratio(floor, add),
				note: "the floor runs the store's own statements; its documents are made before its clock starts: it is SQL and nothing else. Each has run 4,000 jobs before its clock starts.",
			},
			{ what: "full cycle, apply of 100, throughput ÷ floor", unit: "×", measured: ratio(floor, apply) },
			{ what: "full cycle, 100 adds a turn, throughput ÷ floor row by row", unit: "×", measured: ratio(rows, add) },
			{ what: "full cycle, 100 adds a turn, throughput ÷ floor with json_each", unit: "×", measured: ratio(sets, add) },
			{ what: "full cycle, 100 adds a turn", unit: "µs/job", measured: add },
			{ what: "full cycle, apply of 100", unit: "µs/job", measured: apply },
			{ what: "floor, the store's own statements", unit: "µs/job", measured: floor },
			{ what: "floor, strictly row by row", unit: "µs/job", measured: rows },
			{ what: "floor, one json_each statement a table", unit: "µs/job", measured: sets },
		];
	},
};

async function ours(path: string, { jobs, warm }: { jobs: number; warm: number }, way: "add" | "apply"): Promise<number> {
	const engine = await openEngine(path);
	let start = performance.now();
	for (let from = 0; from < warm + jobs; from += BATCH) {
		if (from === warm) start = performance.now();
		const batch = Array.from({ length: BATCH }, (_, i) => payload(from + i));
		if (way === "add") await Promise.all(batch.map((job) => engine.add(job)));
		else await engine.apply({ jobs: batch });
		const claimed = await engine.claim({ worker: "bench", max: BATCH });
		if (claimed.length !== BATCH) throw new Error(`claimed ${claimed.length} instead of ${BATCH}`);
		await Promise.all(claimed.map((one) => engine.complete(success(one))));
	}
	const took = performance.now() - start;
	await engine.close();
	return (took * 1000) / jobs;
}
