// Single adds on PostgreSQL, one after the other and 64 in flight, beside a bare loop of single inserts.

import { payload } from "../../engine.ts";
import { openFleet } from "../../fleet/open.ts";
import { bareSingle, makeBare } from "../../floor/postgres.ts";
import { interleave } from "../../interleave.ts";
import { inDatabase } from "../../postgres.ts";
import { atLeast, type Row } from "../../row.ts";
import { perSecond, ratio, sample } from "../../statistics.ts";

const IN_FLIGHT = 64;
/** So many, then the other. */
const TURN = 500;
/** Before each round, outside of what is measured: after 1,500 the compiler is still at work, on one of the processors that this wants. */
const WARM = 6000;

export const pgAdds: Row = {
	name: "pg-adds",
	title: "single adds on PostgreSQL over a bare insert loop",
	async run(bench) {
		const few = bench.size(3000, 200);
		const many = bench.size(12_800, 640);
		const warm = bench.size(WARM, 50);
		const turns = { one: [] as number[], bare: [] as number[] };
		const { flight } = await interleave(bench, [
			{
				name: "one, bare",
				async round() {
					const { one, bare } = await inTurns(few, warm);
					turns.one.push(one);
					turns.bare.push(bare);
					return one;
				},
			},
			{ name: "flight", round: () => inDatabase("flight", (url) => inFlight(url, many, warm)) },
		]);
		const [one, bare] = [sample(turns.one.slice(-bench.rounds)), sample(turns.bare.slice(-bench.rounds))];
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

/** Microseconds an add, ours and bare, some hundreds of each in turns: within seconds this machine is quick and slow, and so both find it alike. */
const inTurns = (adds: number, warm: number): Promise<{ one: number; bare: number }> =>
	inDatabase("one", (url) =>
		inDatabase("bare", async (other) => {
			const engine = await openFleet(url);
			const client = await makeBare(other);
			const sides = [
				{ us: 0, add: (n: number): Promise<unknown> => engine.add(payload(n)) },
				{ us: 0, add: (n: number) => bareSingle(client, n) },
			];
			for (const { add } of sides) for (let n = 0; n < warm; n++) await add(n);
			for (let turn = 0; turn < adds / TURN; turn++)
				for (const side of turn % 2 === 0 ? sides : [...sides].reverse()) {
					const start = performance.now();
					for (let n = 0; n < TURN; n++) await side.add(n);
					side.us += ((performance.now() - start) * 1000) / adds;
				}
			await engine.close();
			await client.end();
			const [one, bare] = sides.map(({ us }) => us) as [number, number];
			return { one, bare };
		}),
	);

async function inFlight(url: string, jobs: number, warm: number): Promise<number> {
	const engine = await openFleet(url);
	for (let n = 0; n < warm; n++) await engine.add(payload(n));
	let next = 0;
	const caller = async () => {
		while (next < jobs) await engine.add(payload(next++));
	};
	const start = performance.now();
	await Promise.all(Array.from({ length: IN_FLIGHT }, caller));
	const took = performance.now() - start;
	await engine.close();
	return (took * 1000) / jobs;
}
