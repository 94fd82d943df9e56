// Gate 14: the host can start it. What is known of that beforehand is how the last tries went; the next one waits for its back-off.

import { pass, refuse } from "../answer.ts";
import type { Job } from "../job.ts";
import type { Reason } from "../reason.ts";

export function askSpawn(job: Job, now: number): Reason[] | null {
	const count = job.dispatch_failures ?? 0;
	if (count === 0 || job.backoff_until === undefined || job.backoff_until <= now) return pass;
	const detail = `start failed ${count === 1 ? "once" : `${count} times`}${job.last_failure ? `: ${job.last_failure}` : ""}`;
	return [refuse("spawn", "dispatch_failed", `job:${job.id}`, detail, { clears_at: job.backoff_until })];
}
