// The part of gates 10 and 11 that looks at a job's batch: batches are many and short-lived, so they are no trait of a bucket.

import { type Answer, pass } from "../answer.ts";
import type { Job } from "../job.ts";
import type { World } from "../world.ts";
import { budgetReasons } from "./budget.ts";
import { pausedReason } from "./holds.ts";

export function askBatch(job: Job, world: World): Answer | null {
	if (job.batch === undefined || job.kind === "kernel") return pass;
	const scope = `batch:${job.batch}`;
	const paused = pausedReason(scope, world);
	const reasons = [...(paused ? [paused] : []), ...budgetReasons(scope, world)];
	if (reasons.length === 0) return pass;
	const times = reasons.flatMap((reason) => (reason.clears_at === undefined ? [] : [reason.clears_at]));
	return { reasons, line: scope, ...(times.length > 0 ? { until: Math.min(...times) } : {}) };
}
