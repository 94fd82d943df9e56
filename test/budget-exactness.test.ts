// Budgets are exact: however the starts, ends and grants of several engines on one store interleave, an owner is never taken past its limit by more than
// what the runs used that were in flight when it was reached. Judged from the events alone, in the order in which they were committed.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Claimed, type EventRow, openScheduler, type Scheduler } from "../src/index.ts";
import { FakeClock, FakeHost } from "./make/fakes.ts";

type Grant = { dim: string; limit: number; reserve?: number };
const ENDS = ["completed", "completed", "failed", "rate_limited", "launch_failed"] as const;
type Deed =
	| { do: "claim"; engine: number; max: number }
	| { do: "end"; engine: number; which: number; cost: number; as: (typeof ENDS)[number] }
	| { do: "grant"; engine: number; limit: number };

const engine = fc.nat(2);
const claims = fc.record({ do: fc.constant("claim" as const), engine, max: fc.integer({ min: 1, max: 6 }) });
const ends = fc.record({
	do: fc.constant("end" as const),
	engine,
	which: fc.nat(20),
	cost: fc.integer({ min: 0, max: 60 }),
	as: fc.constantFrom(...ENDS),
});
const grants = fc.record({ do: fc.constant("grant" as const), engine, limit: fc.integer({ min: 0, max: 200 }) });
/** The deeds of one turn are called at once. */
const turnsOf = (deed: fc.Arbitrary<Deed>) => fc.array(fc.array(deed, { minLength: 1, maxLength: 5 }), { minLength: 5, maxLength: 30 });
const working = turnsOf(fc.oneof(claims, ends));
const regranted = turnsOf(fc.oneof({ weight: 4, arbitrary: claims }, { weight: 4, arbitrary: ends }, { weight: 1, arbitrary: grants }));

const JOBS = 30;

async function play(turns: Deed[][], grant: Grant): Promise<EventRow[]> {
	const folder = mkdtempSync(join(tmpdir(), "sluice-budget-"));
	const clock = new FakeClock();
	const config = {
		max_concurrent: 12,
		safety_cap: 0,
		retry: { max: 50, base_ms: 1, cap_ms: 1 },
		dispatch_breaker: "off",
		dispatch_backoff_ms: 1,
	};
	const engines: Scheduler[] = [];
	try {
		for (let n = 0; n < 3; n++)
			engines.push(
				await openScheduler({ path: join(folder, "q.db"), clock, host: new FakeHost(), chance: () => 0.5, drive: "manual", config }),
			);
		const [first] = engines as [Scheduler];
		await first.apply({ jobs: Array.from({ length: JOBS }, () => ({ command: ["true"], owner: "ann" })) });
		const { dim, ...terms } = grant;
		await first.grant("owner:ann", dim, terms);
		let live: Claimed[] = [];
		for (const turn of turns) {
			clock.pass(10);
			const free = [...live];
			const claimed = await Promise.all(
				turn.map(async (deed): Promise<Claimed[]> => {
					const one = engines[deed.engine] as Scheduler;
					if (deed.do === "claim") return one.claim({ worker: `w${deed.engine}`, max: deed.max });
					if (deed.do === "grant") {
						await one.grant("owner:ann", grant.dim, { limit: deed.limit });
						return [];
					}
					const [run] = free.splice(deed.which % Math.max(1, free.length), 1);
					if (!run) return [];
					live = live.filter((other) => other !== run);
					const usage = grant.dim === "runs" ? {} : { usage: { [grant.dim]: deed.cost } };
					await one.complete({ job: run.job.id, token: run.run.token, exit_kind: deed.as, ...usage });
					return [];
				}),
			);
			live.push(...claimed.flat());
		}
		const [ledger] = await first.ledgers("owner:ann");
		const events: EventRow[] = [];
		const last = await first.lastEvent();
		for await (const event of first.events({ since: 0 })) {
			events.push(event);
			if (event.seq >= last) break;
		}
		expect({ used: ledger?.used, reserved: ledger?.reserved }).toEqual({
			used: events.reduce((sum, event) => sum + costOf(event, grant.dim), 0),
			reserved: live.length * (ledger?.reserve ?? 0),
		});
		return events;
	} finally {
		for (const one of engines) await one.close();
		rmSync(folder, { recursive: true, force: true });
	}
}

/** What the end of a run costs, as its event tells it; a launch that failed costs nothing. */
function costOf({ kind, data }: EventRow, dim: string): number {
	if ((kind !== "ended" && kind !== "requeued") || data.exit_kind === "launch_failed") return 0;
	return dim === "runs" ? 1 : ((data.usage as Record<string, number> | undefined)?.[dim] ?? 0);
}

/** Goes through what was committed, in order. Returns what was used, and what the runs used that were in flight when the limit was reached. */
function judge(events: EventRow[], { dim, limit: granted, reserve = dim === "runs" ? 1 : 0 }: Grant): { used: number; inFlight: number } {
	let [limit, used, inFlight] = [granted, 0, 0];
	const live = new Set<number>();
	let reached: Set<number> | undefined;
	for (const event of events) {
		if (event.kind === "granted") limit = event.data.limit as number;
		if (event.kind === "started") {
			expect({ event: event.seq, used, limit, fits: used < limit && used + live.size * reserve < limit }).toMatchObject({ fits: true });
			live.add(event.job as number);
		}
		if (event.kind !== "ended" && event.kind !== "requeued") continue;
		const cost = costOf(event, dim);
		if (used < limit && used + cost >= limit) {
			reached = new Set(live);
			inFlight = 0;
		}
		used += cost;
		if (reached?.has(event.job as number)) inFlight += cost;
		live.delete(event.job as number);
		reached?.delete(event.job as number);
	}
	return { used, inFlight };
}

const runs = { numRuns: 20, endOnFailure: true } as const;

describe("an owner's budget, with three engines on one store", () => {
	test.each<[string, Grant]>([
		["runs", { dim: "runs", limit: 7 }],
		["cost, nothing set aside", { dim: "cost_micro", limit: 150 }],
		["cost, set aside", { dim: "cost_micro", limit: 150, reserve: 40 }],
	])("%s: never past its limit by more than what was in flight", { timeout: 120_000 }, async (_, grant) => {
		let most = 0;
		await fc.assert(
			fc.asyncProperty(working, async (turns) => {
				const { used, inFlight } = judge(await play(turns, grant), grant);
				most = Math.max(most, used);
				expect(used).toBeLessThanOrEqual(Math.max(grant.limit, grant.limit - 1 + inFlight));
				if (grant.dim === "runs") expect(used).toBeLessThanOrEqual(grant.limit);
			}),
			runs,
		);
		// The limit was met, or nothing was tried.
		expect(most).toBeGreaterThanOrEqual(grant.limit);
	});

	test("grants that come and go: each start was within the limit of its moment", { timeout: 120_000 }, async () => {
		for (const grant of [
			{ dim: "runs", limit: 7 },
			{ dim: "cost_micro", limit: 150, reserve: 40 },
		])
			await fc.assert(
				fc.asyncProperty(regranted, async (turns) => void judge(await play(turns, grant), grant)),
				runs,
			);
	});
});
