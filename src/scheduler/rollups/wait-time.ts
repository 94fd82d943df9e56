// How long a waiting job waited for what: charged to a code of reason whenever the job leaves its place, and kept in the job until it starts or ends.
//
//   the job was parked   the code that it was parked with
//   it was ready         what held its bucket meanwhile (held.ts); `turn` if nothing did

import type { Job } from "../../core/job.ts";
import { READY } from "../../core/parked.ts";
import type { Tx } from "../transaction/tx.ts";
import { add, TURN, type Waits } from "./held.ts";

/** Charges the time since the last charge. Call it while the job is still at its place. */
export function chargeWait(tx: Tx, job: Job): void {
	const { parked_on } = job;
	if (parked_on === "new" || parked_on === "end" || parked_on === "run") return;
	const since = job.charged_at ?? job.created_at;
	if (since >= tx.now) return;
	job.charged_at = tx.now;
	job.waited ??= {};
	if (parked_on === READY) tx.held.charge(job.waited, job.bucket, since, tx.now);
	else add(job.waited, job.wait_reason?.kind ?? TURN, tx.now - since);
}

/** Ends the wait of a ready job that starts: what it waited for, with the time since the last charge. The job itself keeps nothing of it. */
export function takeWaits(tx: Tx, job: Job): Waits | undefined {
	const since = job.charged_at ?? job.created_at;
	let { waited } = job;
	if (since < tx.now) {
		waited ??= {};
		tx.held.charge(waited, job.bucket, since, tx.now);
	}
	forgetWaits(job);
	return waited;
}

export function forgetWaits(job: Job): void {
	if (job.waited !== undefined) job.waited = undefined;
	if (job.charged_at !== undefined) job.charged_at = undefined;
}

/** The job waits from now on, after a run or a rewind: what was charged before is over. */
export function beginWaiting(tx: Tx, job: Job): void {
	job.charged_at = tx.now;
	if (job.waited !== undefined) job.waited = undefined;
}
