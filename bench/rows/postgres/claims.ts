// What a claim costs, and the complete after it: measured alike by the rows that compare two queues.

import type { Scheduler } from "../../../src/index.ts";
import { addAll, claimExactly, completeAll } from "../../fleet/open.ts";

/** Microseconds a job. */
export type ClaimCost = { single: number; singleCycle: number; batch: number; batchCycle: number };

export const BATCH = 100;
/** So many in a row, then the queue is filled up again; the first times only warm up: whoever had his turn before has taken compiled code along. */
const SINGLES = { count: 100, max: 1, warm: 2, times: 2 };
/** A tenth of a second, as it was with 6 times, is what one collection of garbage or one vacuum can double. */
const BATCHES = { count: 5, max: BATCH, warm: 8, times: 24 };
const QUICKLY = { count: 5, warm: 0, times: 1 };

/** The queue is as long afterwards as before: what was worked off is added again when the clock has stopped. */
export async function claimCost(engine: Scheduler, quick: boolean, input?: (n: number) => object): Promise<ClaimCost> {
	const [single, singleCycle] = await cost(engine, quick ? { ...SINGLES, ...QUICKLY } : SINGLES, input);
	const [batch, batchCycle] = await cost(engine, quick ? { ...BATCHES, ...QUICKLY } : BATCHES, input);
	return { single, singleCycle, batch, batchCycle };
}

/** Of the claims alone, and with their completes. */
async function cost(
	engine: Scheduler,
	{ count, max, warm, times }: typeof SINGLES,
	input?: (n: number) => object,
): Promise<[number, number]> {
	let [claiming, all] = [0, 0];
	for (let time = -warm; time < times; time++) {
		const [claims, cycles] = await cycle(engine, count, max);
		await addAll(engine, count * max, BATCH, input);
		if (time < 0) continue;
		claiming += claims;
		all += cycles;
	}
	const us = (ms: number) => (ms * 1000) / (times * count * max);
	return [us(claiming), us(all)];
}

async function cycle(engine: Scheduler, count: number, max: number): Promise<[number, number]> {
	let claiming = 0;
	const start = performance.now();
	for (let i = 0; i < count; i++) {
		const asked = performance.now();
		const claimed = await claimExactly(engine, max);
		claiming += performance.now() - asked;
		await completeAll(engine, claimed);
	}
	return [claiming, performance.now() - start];
}
