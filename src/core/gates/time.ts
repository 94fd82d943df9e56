// Gate `time`: neither before the job's time, nor before its back-off is over.

import { type ClockGate, pass, refuse } from "./gate.ts";

export const time: ClockGate = {
	name: "time",
	ask(job, { now }) {
		// If the clock is set back, a job whose time was seen to come is not delayed again.
		const delayed = job.runnable_at > now && !job.timely && job.runnable_at > job.created_at;
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
		return { reasons, parked_on: "time", until: Math.max(delayed ? job.runnable_at : 0, job.backoff_until ?? 0) };
	},
};

/** Outside Date's range, prints the number. */
export const stamp = (at: number): string => (Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : String(at));
