// Gate `spawn`: the host can start the job. Known beforehand is only how the last attempts went; the next one waits for its back-off.

import type { Job } from "../job.ts";
import type { Reason } from "../reason.ts";
import { pass, refuse } from "./gate.ts";

export function askSpawn(job: Job, now: number): Reason[] | null {
	const count = job.dispatch_failures ?? 0;
	if (count === 0 || job.backoff_until === undefined || job.backoff_until <= now) return pass;
	const detail = `start failed ${count === 1 ? "once" : `${count} times`}${job.last_failure ? `: ${job.last_failure}` : ""}`;
	return [refuse("spawn", "dispatch_failed", `job:${job.id}`, detail, { clears_at: job.backoff_until })];
}
