// Timers: delays and back-offs that are over, deadlines, leases, overdue locks. Runs before anything else in a transaction.

import { ask, type Op } from "../../contracts/store.ts";
import { isWaiting, type Job } from "../../core/job.ts";
import { isTaken, refillsAt, reservedKey } from "../../core/ledger.ts";
import { outsideHours } from "../../core/time/window.ts";
import { hasCycles } from "../limits/cycle.ts";
import { finish } from "../operations/finish.ts";
import { nextHostAt } from "../operations/hosts.ts";
import type { Tx } from "../transaction/tx.ts";
import { drain } from "./drain.ts";
import { reevaluate } from "./park.ts";
import { dropIdleReservations, isOverdue, reserve } from "./reservations.ts";

const PIECE = 200;

/**
 * Runs the timers that are due. `leases`: after a jump of the clock, leases are renewed instead of expired, so that live workers have time to report.
 * Returns whether more is due.
 */
export function* sweep(tx: Tx, leases: "expire" | "renew"): Op<boolean> {
	if (tx.memory.all("reserve").size > 0) {
		yield* dropIdleReservations(tx);
		yield* drain(tx);
	}
	if (tx.memory.nextDue === undefined) tx.memory.nextDue = yield* ask({ read: "next_due" });
	if (tx.memory.nextDue === null || tx.memory.nextDue > tx.now) return false;
	const ids = yield* ask({ read: "due", now: tx.now, limit: PIECE });
	yield* tx.load(ids);
	for (const id of ids) {
		const job = tx.peek(id);
		if (job && job.due_at !== undefined && job.due_at <= tx.now) yield* due(tx, job, leases);
		yield* drain(tx);
	}
	tx.memory.nextDue = undefined;
	return ids.length === PIECE;
}

function* due(tx: Tx, job: Job, leases: "expire" | "renew"): Op<void> {
	if (job.run) {
		if (leases === "renew") {
			job.run.lease_until = tx.now + tx.config.lease_ms;
			job.due_at = job.run.lease_until;
			tx.touch(job);
		} else
			yield* finish(tx, {
				job: job.id,
				token: job.run.token,
				exit_kind: "lost",
				message: "the worker has not been heard of since its lease ended",
			});
		return;
	}
	if (!isWaiting(job.status)) return;
	yield* reevaluate(tx, job);
	if (isOverdue(tx, job) && (job.reserve_at ?? 0) <= tx.now) yield* reserve(tx, job);
}

/** The next moment at which something may start or change by itself; null if only an event can cause that. */
export function* nextWake(tx: Tx): Op<number | null> {
	const { memory, config, now } = tx;
	// Jobs that this transaction put back into the queue count too.
	if (memory.nextDue === undefined || tx.pending()) memory.nextDue = yield* ask({ read: "next_due" });
	let wake = memory.nextDue ?? Number.POSITIVE_INFINITY;
	const at = (time: number | undefined) => {
		if (time !== undefined && time > now && time < wake) wake = time;
	};
	for (const hold of memory.holds.values()) {
		if ("until" in hold) at(hold.until);
		if (hold.kind === "rate_limited") at(hold.next_at);
		// From then on jobs with a session on this account may go to another account.
		if (hold.kind === "outage") at(hold.since + config.rate_limit.failover_after_ms + 1);
	}
	at(nextHostAt(tx));
	const pace = tx.getPace();
	if (hasCycles(tx)) at(pace.last_cycle_at + config.cycle_interval_ms);
	if (config.spawn_delay_ms > 0) at(pace.last_start_at + config.spawn_delay_ms);
	for (const ledgers of memory.ledgers.values())
		for (const ledger of ledgers)
			if (isTaken(ledger, memory.usage.get(reservedKey(ledger)) ?? 0, now, config.timezone)) at(refillsAt(ledger, now, config.timezone));
	for (const lane of Object.values(config.lanes))
		if (lane.active_hours.length > 0) at(outsideHours(lane.active_hours, now, config.timezone) ?? undefined);
	return Number.isFinite(wake) ? wake : null;
}
