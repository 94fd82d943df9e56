// The part of gates `holds` and `budget` that concerns a job's batch. Batches are many and short-lived, so they are checked for each job instead of splitting buckets.

import type { Job } from "../../job.ts";
import type { LimitsView } from "../../limits-view.ts";
import { type GateAnswer, pass } from "../gate.ts";
import { budgetReasons } from "./budget.ts";
import { pausedReason } from "./holds.ts";

export function askBatch(job: Job, world: LimitsView): GateAnswer | null {
	if (job.batch === undefined) return pass;
	const scope = `batch:${job.batch}` as const;
	const paused = pausedReason(scope, world);
	const reasons = [...(paused ? [paused] : []), ...budgetReasons(scope, world)];
	if (reasons.length === 0) return pass;
	const times = reasons.flatMap((reason) => (reason.clears_at === undefined ? [] : [reason.clears_at]));
	return { reasons, parked_on: scope, ...(times.length > 0 ? { until: Math.min(...times) } : {}) };
}
