// The queue as a list, and what jobs cost: what the views of the scheduler answer.

import type { ReasonCode } from "../core/reason.ts";

/** Ready jobs in the order of their starts: first those that nothing holds, then the held ones. */
export type QueueReport = {
	/** All ready jobs, also beyond `jobs`. */
	ready: number;
	/** `cause`: the index in `causes`; null if the job is about to start. */
	jobs: { id: number; cause: number | null }[];
	/** What keeps ready jobs from starting now: a hold, a budget, no host, a full cap. `jobs` counts all of them. */
	causes: { kind: ReasonCode; subject: string; detail: string; jobs: number; clears_at?: number }[];
	/** By the number of a job that was asked about: how many active jobs come after it, directly or through others; counted up to 200. */
	behind: Record<number, number>;
};

/** What jobs cost, as their runs reported it. `complete`: all of them were looked at. */
export type Spent = { cost_micro: number; jobs: number; complete: boolean };
