// What a claim costs, and the complete after it: measured alike by the rows that compare two queues.

import type { Scheduler } from "../../../src/index.ts";
import { addAll, claimExactly, completeAll } from "../../fleet.ts";

/** Microseconds a job. */
export type ClaimCost = { single: number; singleCycle: number; batch: number; batchCycle: number };

export const SINGLES = 200;
export const BATCHES = 20;
export const BATCH = 100;
/** Before the clock starts: whoever had his turn before has taken compiled code along. */
const WARM_SINGLES = 100;
const WARM_BATCHES = 10;
/** How many are worked off in a round. */
export const TAKEN = WARM_SINGLES + SINGLES + (WARM_BATCHES + BATCHES) * BATCH;

/** The queue is as long afterwards as before: what was worked off is added again when the clock has stopped. */
export async function claimCost(engine: Scheduler, input?: (n: number) => object): Promise<ClaimCost> {
	await cycles(engine, WARM_SINGLES, 1);
	const [single, singleCycle] = await cycles(engine, SINGLES, 1);
	await cycles(engine, WARM_BATCHES, BATCH);
	const [batch, batchCycle] = await cycles(engine, BATCHES, BATCH);
	await addAll(engine, TAKEN, BATCH, input);
	return { single, singleCycle, batch, batchCycle };
}

/** Of the claims alone, and with their completes. */
async function cycles(engine: Scheduler, count: number, max: number): Promise<[number, number]> {
	let claiming = 0;
	const start = performance.now();
	for (let i = 0; i < count; i++) {
		const asked = performance.now();
		const claimed = await claimExactly(engine, max);
		claiming += performance.now() - asked;
		await completeAll(engine, claimed);
	}
	const us = (ms: number) => (ms * 1000) / (count * max);
	return [us(claiming), us(performance.now() - start)];
}
