// What is on record about a waiting job and its locks: the links of a ready job to the keys it could take, and reservations. Changes records only; what follows
// for other jobs goes on the worklist.

import type { LinkRole, LinkRow } from "../../contracts/store.ts";
import type { Job, LockMode } from "../../core/job.ts";
import type { Tx } from "../transaction/tx.ts";
import type { Reservation } from "./gate-facts.ts";

export const ROLE = { exclusive: "wants", shared: "shares" } as const satisfies Record<LockMode, LinkRole>;

/**
 * Links a ready job to the keys it could take, so that the job that takes one of them finds this one and evicts it. A running job does not need the link: the
 * lock records name the holders. It stays until the run ends all the same: eviction skips running jobs, a start has one row less to write, and a job that is
 * ready again when its run ends keeps its row.
 */
export function want(tx: Tx, job: Job): void {
	const { links, unlinks } = tx.changes;
	for (const { key, mode } of job.locks ?? []) {
		// The job's run ended and it became ready again in this transaction: keep the stored row.
		const left = lastOf(unlinks, job, key);
		if (left >= 0) unlinks.splice(left, 1);
		else links.push({ key, role: ROLE[mode], job: job.id });
		const rivals = tx.memory.rivals.get(key);
		if (mode === "exclusive") rivals?.wants.add(job.id);
		else if (rivals) rivals.shares = true;
	}
}

export function unwant(tx: Tx, job: Job): void {
	const { links, unlinks } = tx.changes;
	for (const { key, mode } of job.locks ?? []) {
		// A link made in this transaction is not stored yet: take it out of the changes instead.
		const fresh = lastOf(links, job, key);
		if (fresh >= 0) links.splice(fresh, 1);
		else unlinks.push({ key, role: ROLE[mode], job: job.id });
		if (mode === "exclusive") tx.memory.rivals.get(key)?.wants.delete(job.id);
	}
}

const lastOf = (links: readonly LinkRow[], job: Job, key: string): number =>
	links.findLastIndex((link) => link.job === job.id && link.key === key && (link.role === "wants" || link.role === "shares"));

export const reservationOf = (tx: Tx, key: string): Reservation | null => tx.memory.recall("reserve", key);

/** Ends a reservation: the next overdue waiter may reserve the key, and the jobs that it kept out may take it. */
export function unreserve(tx: Tx, key: string, { job, next = [] }: Reservation): void {
	tx.put("reserve", key, null);
	tx.event("unreserved", job, { key });
	tx.work.passOn(key, next);
	tx.work.wake(key);
}

/**
 * Ends the reservations of a job that something other than its locks keeps from starting. A job that became ready keeps its reservations until it starts.
 */
export function giveUpReservations(tx: Tx, job: Job): void {
	if (!job.locks || tx.memory.all("reserve").size === 0) return;
	for (const { key } of job.locks) {
		const reservation = reservationOf(tx, key);
		if (reservation?.job === job.id) unreserve(tx, key, reservation);
	}
}
