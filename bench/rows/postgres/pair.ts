// Two queues on PostgreSQL that stay open, measured in turns: the cost of a claim on one over that on the other.

import type { Scheduler } from "../../../src/index.ts";
import { interleave } from "../../interleave.ts";
import type { Bar, Bench, Measure } from "../../row.ts";
import { ratio, type Sample, sample } from "../../statistics.ts";
import { type ClaimCost, claimCost } from "./claims.ts";

export type Side = { name: string; engine: Scheduler; input?: (n: number) => object };

const PARTS = {
	single: "claim, one by one",
	batch: "claim, 100 at a time",
	singleCycle: "claim + complete, one by one",
	batchCycle: "claim + complete, 100 at a time",
} as const satisfies Record<keyof ClaimCost, string>;

/** `what` names the comparison; the bar is for claims, alone and in batches; claims with their completes are shown beside. */
export async function comparePair(
	bench: Bench,
	what: string,
	bar: Bar | undefined,
	over: Side,
	under: Side,
	note?: string,
): Promise<Measure[]> {
	const found: Record<string, ClaimCost[]> = { [over.name]: [], [under.name]: [] };
	const contender = ({ name, engine, input }: Side) => ({
		name,
		async round() {
			const cost = await claimCost(engine, bench.quick, input);
			found[name]?.push(cost);
			return cost.single;
		},
	});
	await interleave(bench, [contender(under), contender(over)]);
	const of = (side: Side, part: keyof ClaimCost): Sample => sample((found[side.name] ?? []).slice(-bench.rounds).map((cost) => cost[part]));
	const parts = Object.keys(PARTS) as (keyof ClaimCost)[];
	return [
		...parts.map((part) => ({
			what: `PostgreSQL: ${PARTS[part]}, ${what}`,
			...(bar && (part === "single" || part === "batch") ? { bar } : {}),
			unit: "×",
			measured: ratio(of(over, part), of(under, part)),
			...(note !== undefined && part === "single" ? { note } : {}),
		})),
		...parts.flatMap((part) =>
			[under, over].map((side) => ({ what: `PostgreSQL: ${PARTS[part]}, ${side.name}`, unit: "µs/job", measured: of(side, part) })),
		),
	];
}
