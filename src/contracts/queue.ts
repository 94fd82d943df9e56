// The queue as a list, what jobs cost, and all jobs that a filter finds: what the views of the scheduler answer.

import type { ReasonCode } from "../core/reason.ts";
import type { JobView, Scheduler } from "./scheduler.ts";

/** Ready jobs in the order of their starts: first those that nothing holds, then the held ones. */
export type QueueReport = {
	/** All ready jobs, also beyond `jobs`. */
	ready: number;
	/** `cause`: the index in `causes`; null if the job is about to start. */
	jobs: { id: number; cause: number | null }[];
	/**
	 * What keeps ready jobs from starting now: a hold, a budget, no host, a full cap. `jobs` counts all of them. And the jobs that people hold one by one, which
	 * are not among `jobs`: a cause for each person and reason, `ids` are a hundred of its jobs at most.
	 */
	causes: { kind: ReasonCode; subject: string; detail: string; jobs: number; clears_at?: number; ids?: number[] }[];
	/** By the number of a job that was asked about: how many active jobs come after it, directly or through others; counted up to 200. */
	behind: Record<number, number>;
};

/** What jobs cost, as their runs reported it. `complete`: all of them were looked at. */
export type Spent = { cost_micro: number; jobs: number; complete: boolean };

const PAGE = 1000;

type Filter = Omit<NonNullable<Parameters<Scheduler["list"]>[0]>, "after" | "limit">;

/** All jobs that a filter finds, page by page, so that no answer of the scheduler gets too long. */
export async function* everyJob({ list }: Pick<Scheduler, "list">, filter: Filter = {}): AsyncGenerator<JobView> {
	for (let after = 0; ; ) {
		const page = await list({ ...filter, after, limit: PAGE });
		yield* page;
		const last = page.at(-1);
		if (last === undefined || page.length < PAGE) return;
		after = last.id;
	}
}
