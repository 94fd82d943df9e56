// Reservations: a lock is kept free for a job that has waited for its locks for too long.

import type { Op } from "../../contracts/store.ts";
import { isWaiting, type Job } from "../../core/job.ts";
import { isOnLock } from "../../core/parked.ts";
import type { Tx } from "../transaction/tx.ts";
import { isHeldBack, lockStates } from "./gate-facts.ts";
import { reservationOf, unreserve } from "./lock-records.ts";
import { setDue } from "./park.ts";

/** Maximum number of overdue jobs that queue for one reservation. */
const QUEUED = 200;

/** The job has waited for its locks for so long (`order.overdue_after_ms`) that they are reserved for it. */
export const isOverdue = (tx: Tx, job: Job): boolean => {
	const after = tx.config.order.overdue_after_ms;
	return after > 0 && isOnLock(job.parked_on) && job.ready_at !== undefined && job.ready_at + after <= tx.now;
};

/**
 * Reserves the keys of an overdue waiter, in the order of its locks. Stops at the first key that is reserved for another job, so two reservers can never wait
 * for each other. Stops also after the first key that another job holds exclusively: the waiter needs that one next, and the keys after it may still be used by
 * other jobs.
 */
export function* reserve(tx: Tx, job: Job): Op<void> {
	const after = tx.config.order.overdue_after_ms;
	const retryIn = Math.max(1000, Math.min(60_000, after));
	job.reserve_at = tx.now + retryIn;
	setDue(tx, job, undefined);
	tx.touch(job);
	if (isHeldBack(tx, job)) return;
	const states = yield* lockStates(
		tx,
		(job.locks ?? []).map((lock) => lock.key),
	);
	for (const lock of job.locks ?? []) {
		const kept = reservationOf(tx, lock.key);
		if (kept?.job === job.id) continue;
		if (kept) {
			const next = kept.next ?? [];
			if (!next.includes(job.id) && next.length < QUEUED) tx.put("reserve", lock.key, { ...kept, next: [...next, job.id] });
			return;
		}
		tx.put("reserve", lock.key, { job: job.id, since: tx.now, mode: lock.mode });
		tx.event("reserved", job.id, { key: lock.key });
		const heldAlone = states(lock.key).holders.some((holder) => holder.mode === "exclusive");
		if (heldAlone) return;
		tx.work.evict(lock.key, lock.mode);
	}
}

/** Reserves the keys of overdue jobs, the job that has been ready longest first. */
export function* reserveAll(tx: Tx, overdue: readonly Job[]): Op<void> {
	const inOrder = [...overdue].sort((a, b) => (a.ready_at as number) - (b.ready_at as number) || a.id - b.id);
	for (const job of inOrder) yield* reserve(tx, job);
}

/** Passes an ended reservation on to the next queued job that is still overdue, before a job that came later can take the key. */
export function* passOn(tx: Tx, key: string, overdue: readonly number[]): Op<void> {
	for (const [index, id] of overdue.entries()) {
		const job = yield* tx.find(id);
		if (!job || !isWaiting(job.status) || !isOverdue(tx, job)) continue;
		yield* reserve(tx, job);
		const kept = reservationOf(tx, key);
		if (kept?.job !== id) continue;
		tx.put("reserve", key, { ...kept, next: overdue.slice(index + 1) });
		return;
	}
}

/** Ends the reservations of jobs that something other than locks keeps from starting: their keys would lie idle. */
export function* dropIdleReservations(tx: Tx): Op<void> {
	for (const [key, reservation] of [...tx.memory.all("reserve")]) {
		const job = yield* tx.find(reservation.job);
		if (!job || !isWaiting(job.status) || isHeldBack(tx, job)) unreserve(tx, key, reservation);
	}
}
