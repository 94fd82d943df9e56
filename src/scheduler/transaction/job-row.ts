// The row of an active job: its document with the columns that the store finds it by.

import type { JobRow } from "../../contracts/store.ts";
import type { Job } from "../../core/job.ts";
import { READY } from "../../core/parked.ts";
import type { Tx } from "./tx.ts";

/** Also notes when the first job is due. */
export function rowOf(tx: Tx, job: Job): JobRow {
	const { id, parked_on: line, bucket, status, lane, batch = null, due_at: due = null } = job;
	const { rank, level, age_at, ready_at } = tx.headOf(job);
	const { memory } = tx;
	if (due !== null && (memory.nextDue === null || (memory.nextDue !== undefined && due < memory.nextDue))) memory.nextDue = due;
	const since = line === READY ? ready_at : null;
	return { id, line, bucket, rank, level, age_at, ready_at: since, due_at: due, status, lane, batch, job };
}
