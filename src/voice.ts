// Contract of what a run says of itself through the scheduler, and of what it is handed of the results of the jobs before it.

import type { Status } from "./core/job.ts";
import type { RunVerdict, VerdictWord } from "./core/verdict.ts";

type RunRef = { job: number; token: number };

/** A job that a prompt asks the result of. `result`: compact JSON; null where it left none. */
export type ResultView = { job: number; name: string | null; status: Status; result: string | null };

export interface Voice {
	/** The run's verdict on its own work; the last one counts. What it makes of the end: the table in core/verdict.ts. Without a `text` it counts, too. */
	verdict(run: RunRef, said: { verdict: VerdictWord; text?: string }, options?: { by?: string }): Promise<RunVerdict>;
	/** What the run reports to the jobs after it: any JSON of at most 64 KiB; the last one counts. It stays when the job has ended. */
	result(run: RunRef, result: unknown, options?: { by?: string }): Promise<{ bytes: number }>;
	/** The results that the prompt of a run asks for, as they stand now: for its host, when it starts the run. An event says what was handed over and what was missing. */
	takeResults(run: RunRef): Promise<ResultView[]>;
}
