// What a transaction has to count in the rollups: operations note starts and ends here, and `countNotes` (count.ts) adds them to the open cells before the commit.
// A note is only a reference and a few numbers, because each start and each end of a job makes one.

import type { Job, Run, Terminal } from "../../core/job.ts";
import { queuePolicy } from "../../core/queue-policy.ts";
import type { Tx } from "../transaction/tx.ts";
import type { Waits } from "./held.ts";
import { forgetWaits } from "./wait-time.ts";

export type RollupNote =
	| { of: "start"; job: Job; run: Run; waits: Waits | undefined; ready_ms: number }
	| { of: "run"; job: Job; run: Run; usage: Record<string, number> | undefined; after: "end" | "wait" | "retry"; waits?: undefined }
	| { of: "end"; job: Job; run: Run | undefined; status: Terminal; waits: Waits | undefined };

/** Kernel entries have no lane, cap or cost of their own; jobs of an apply that is still coming in do not exist yet, and may never do. */
const isRolledUp = (tx: Tx, job: Job): boolean => queuePolicy(job.kind).isCounted && !tx.isComing(job.id);

/** `waits`: what the job waited for before. */
export function noteStart(tx: Tx, job: Job, run: Run, { waits, ready_ms }: { waits: Waits | undefined; ready_ms: number }): void {
	if (isRolledUp(tx, job)) tx.rollupNotes.push({ of: "start", job, run, waits, ready_ms });
}

/** Call it when the run has taken back what it lent, before its job goes on. */
export function noteRunEnd(
	tx: Tx,
	job: Job,
	run: Run,
	{ usage, after }: Pick<Extract<RollupNote, { of: "run" }>, "usage" | "after">,
): void {
	if (isRolledUp(tx, job)) tx.rollupNotes.push({ of: "run", job, run, usage, after });
}

/** `run`: the run that ended the job. Takes the waiting time off the job. */
export function noteEnd(tx: Tx, job: Job, run: Run | undefined, status: Terminal): void {
	if (isRolledUp(tx, job)) tx.rollupNotes.push({ of: "end", job, run, status, waits: job.waited });
	forgetWaits(job);
}
