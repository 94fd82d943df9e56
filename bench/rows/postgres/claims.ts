// What a claim costs, and the complete after it: measured alike by the rows that compare two queues.

import type { Scheduler } from "../../../src/index.ts";
import { addAll, claimExactly, completeAll } from "../../fleet.ts";

/** Microseconds a job. */
export type ClaimCost = { single: number; singleCycle: number; batch: number; batchCycle: number };

export const SINGLES = 200;
export const BATCHES = 5;
export const BATCH = 100;

/** The queue is as long afterwards as before: what was worked off is added again when the clock has stopped. */
export async function claimCost(engine: Scheduler, input?: (n: number) => object): Promise<ClaimCost> {
	await cycles(engine, 20, 1);
	const [single, singleCycle] = await cycles(engine, SINGLES, 1);
	const [batch, batchCycle] = await cycles(engine, BATCHES, BATCH);
	await addAll(engine, 20 + SINGLES + BATCHES * BATCH, BATCH, input);
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
