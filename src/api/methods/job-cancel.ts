// Ending several jobs: all must exist before the first is touched, and one that cannot be ended does not keep the others from it.

import { SluiceError } from "../../core/errors.ts";
import { isTerminal } from "../../core/job.ts";
import type { Context } from "../context.ts";
import type { Cancelled } from "../protocol/job.ts";

type How = { by: string; subtree: boolean; reason?: string };

/** A refusal of the only one is the caller's error; of one among several it is part of the answer. */
export async function cancelAll(jobs: readonly number[], how: How, { scheduler }: Context): Promise<Cancelled> {
	const open = new Set<number>();
	for (const job of jobs) if (!isTerminal((await scheduler.show(job)).status)) open.add(job);
	const cancelled = new Set<number>();
	const requested = new Set<number>();
	const ended: number[] = [];
	const refused: Cancelled["refused"] = [];
	for (const job of jobs) {
		// Cancelled with the subtree of one before it, or blocked by its end.
		if (cancelled.has(job) || requested.has(job)) continue;
		if (open.has(job) && isTerminal((await scheduler.show(job)).status)) {
			ended.push(job);
			continue;
		}
		try {
			const report = await scheduler.cancel(job, how);
			for (const one of report.cancelled) cancelled.add(one);
			for (const one of report.requested) requested.add(one);
		} catch (error) {
			if (jobs.length === 1 || !(error instanceof SluiceError) || error.code !== "illegal_transition") throw error;
			refused.push({ job, code: error.code, message: error.message });
		}
	}
	return { cancelled: [...cancelled], requested: [...requested], ended, refused };
}
