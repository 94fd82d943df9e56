// Contract of what a run reports about itself through the scheduler, and of the results of earlier jobs that it gets.

import type { Status } from "../core/job.ts";
import type { RunVerdict, VerdictWord } from "../core/runs/verdict.ts";

type RunRef = { job: number; token: number };

/** A job whose result a prompt refers to. `result`: compact JSON; null if it left none. */
export type ResultView = { job: number; name: string | null; status: Status; result: string | null };

export interface Voice {
	/** Records the run's verdict on its own work; the last one counts, also without a `text`. Its effect on the end of the run: the table in core/runs/verdict.ts. */
	verdict(run: RunRef, said: { verdict: VerdictWord; text?: string }, options?: { by?: string }): Promise<RunVerdict>;
	/** Records the run's result for later jobs: any JSON of at most 64 KiB; the last one counts. It stays when the job has ended. */
	result(run: RunRef, result: unknown, options?: { by?: string }): Promise<{ bytes: number }>;
	/**
	 * The results that a run's prompt refers to, as they are now; its host calls this when it starts the run. An event records which results were handed over and
	 * which were missing.
	 */
	takeResults(run: RunRef): Promise<ResultView[]>;
}
