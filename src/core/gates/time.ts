// Gate 1: not before its time, nor before its back-off is over.

import { type JobGate, pass, refuse } from "../answer.ts";
import type { Job } from "../job.ts";

export const time: JobGate = {
	name: "time",
	ask(job, { now }) {
		// A clock that is set back delays nobody whose time has been seen to come.
		const delayed = job.runnable_at > now && !job.timely && (job.kind === "kernel" ? !isPast(job, now) : job.runnable_at > job.created_at);
		const backoff = job.backoff_until !== undefined && job.backoff_until > now;
		if (!delayed && !backoff) return pass;
		const reasons = [];
		if (delayed) reasons.push(refuse("time", "delayed", "time", `not before ${stamp(job.runnable_at)}`, { clears_at: job.runnable_at }));
		if (backoff) {
			const until = job.backoff_until as number;
			const after = job.last_failure ? ` after: ${job.last_failure}` : "";
			reasons.push(
				refuse("time", "backoff", "time", `attempt ${job.attempt + 1} not before ${stamp(until)}${after}`, { clears_at: until }),
			);
		}
		return { reasons, line: "time", until: Math.max(delayed ? job.runnable_at : 0, job.backoff_until ?? 0) };
	},
};

/** A kernel entry may have a deadline before its time: from then on it waits for gc_expired alone. */
const isPast = (job: Job, now: number): boolean => job.deadline !== undefined && job.deadline <= now;

/** Out of Date's range there is nothing to print but the number. */
export const stamp = (at: number): string => (Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : String(at));
