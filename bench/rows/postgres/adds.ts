// Single adds on PostgreSQL, one after the other and 64 in flight, beside a bare loop of single inserts.

import { payload } from "../../engine.ts";
import { openFleet } from "../../fleet.ts";
import { bareSingles } from "../../floor/postgres.ts";
import { interleave } from "../../interleave.ts";
import { inDatabase } from "../../postgres.ts";
import { atLeast, type Row } from "../../row.ts";
import { perSecond, ratio } from "../../statistics.ts";

const IN_FLIGHT = 64;
/** Before each round, outside of what is measured: after 1,500 the compiler is still at work, on one of the processors that this wants. */
const WARM = 6000;

export const pgAdds: Row = {
	name: "pg-adds",
	title: "single adds on PostgreSQL over a bare insert loop",
	async run(bench) {
		const few = bench.size(3000, 200);
		const many = bench.size(12_800, 640);
		const warm = bench.size(WARM, 50);
		const { one, flight, bare } = await interleave(bench, [
			{ name: "one", round: () => inDatabase("one", (url) => adds(url, few, { callers: 1, warm })) },
			{ name: "flight", round: () => inDatabase("flight", (url) => adds(url, many, { callers: IN_FLIGHT, warm })) },
			{ name: "bare", round: () => inDatabase("bare", (url) => bareSingles(url, few, warm)) },
		]);
		return [
			{
				what: "PostgreSQL: single adds one at a time, throughput ÷ bare insert loop",
				bar: atLeast(0.7),
				unit: "×",
				measured: ratio(bare, one),
			},
			{
				what: "PostgreSQL: single adds, 64 in flight, throughput ÷ bare insert loop",
				bar: atLeast(3),
				unit: "×",
				measured: ratio(bare, flight),
			},
			{ what: "PostgreSQL: single adds one at a time", unit: "jobs/s", measured: perSecond(one) },
			{ what: "PostgreSQL: single adds, 64 in flight", unit: "jobs/s", measured: perSecond(flight) },
			{ what: "PostgreSQL: bare single inserts", unit: "jobs/s", measured: perSecond(bare) },
		];
	},
};

/** Microseconds an add. */
async function adds(url: string, jobs: number, { callers, warm }: { callers: number; warm: number }): Promise<number> {
	const engine = await openFleet(url);
	for (let n = 0; n < warm; n++) await engine.add(payload(n));
	let next = 0;
	const caller = async () => {
		while (next < jobs) await engine.add(payload(next++));
	};
	const start = performance.now();
	await Promise.all(Array.from({ length: callers }, caller));
	const took = performance.now() - start;
	await engine.close();
	return (took * 1000) / jobs;
}
