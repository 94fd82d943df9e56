// Goes on with the durable continuations that earlier transactions left, piece by piece: table in continuation.ts.

import { ask, type Op } from "../../contracts/store.ts";
import { nth } from "../../core/errors.ts";
import { isWaiting, type Job } from "../../core/job.ts";
import { isOnLock, READY } from "../../core/parked.ts";
import { queuePolicy } from "../../core/queue-policy.ts";
import { uncountSerial } from "../limits/backlog.ts";
import { cancelMore } from "../operations/cancel/cancel.ts";
import { loseRuns } from "../operations/hosts.ts";
import { dropName } from "../operations/names.ts";
import type { Tx } from "../transaction/tx.ts";
import { type Continuation, continuationOf, continueLater, dropContinuation } from "./continuation.ts";
import { tellMore } from "./dependents.ts";
import { drain } from "./drain.ts";
import { evictMore, wakeShared } from "./locks.ts";
import { reevaluate } from "./park.ts";
import { isOverdue, reserveAll } from "./reservations.ts";

const PIECE = 200;
/** Maximum number of jobs that one transaction re-evaluates for continuations. */
const MOST_JOBS = 8 * PIECE;
/** What a piece for a fact counts at least, in jobs, because each piece is a read. An estimate: only that it is small against MOST_JOBS matters. */
const READ_COST = 20;

/** Runs the next pieces of the open continuations, and of the continuations that these create. Returns whether any is left. */
export function* runPendingWakeups(tx: Tx): Op<boolean> {
	const open = tx.memory.all("settle");
	for (let left = MOST_JOBS; left > 0 && open.size > 0; )
		for (const [key, state] of [...open]) {
			if (left <= 0) break;
			const work = continuationOf(key, state);
			if (work === null) {
				tx.put("settle", key, null);
				continue;
			}
			const next = yield* piece(tx, work);
			left -= costOf(tx, work);
			if (next === null) dropContinuation(tx, work);
			else continueLater(tx, { ...work, after: next });
			yield* drain(tx);
		}
	return open.size > 0;
}

/** What the piece that was just done counts, in jobs. */
function costOf(tx: Tx, { do: what }: Continuation): number {
	// One piece of a cancel already ends as many jobs as one transaction should.
	if (what === "cancel") return MOST_JOBS;
	// Most facts concern one job or none: if each counted as a full piece, a call would be answered before the ninth fact has been heard.
	return what === "fact" ? Math.max(READ_COST, tx.work.jobCount) : PIECE;
}

/** Does the next piece. Returns how far it has got, or null when nothing is left. */
function* piece(tx: Tx, work: Continuation): Op<number | null> {
	switch (work.do) {
		case "edges":
		case "merge": {
			const pred = yield* tx.find(work.of);
			return pred ? yield* tellMore(tx, pred, work.after, work.do) : null;
		}
		case "fact":
			return yield* decideLinked(tx, work.of, work.after);
		case "evict":
			return yield* evictMore(tx, work.of, "exclusive", work.after);
		case "evict_shared":
			return yield* evictMore(tx, work.of, "shared", work.after);
		case "pump":
			return (yield* wakeShared(tx, work.of)) ? null : 0;
		case "batch":
			return yield* decideBatch(tx, work.of, work.after);
		case "rekey":
			return yield* rekey(tx, work.after);
		case "host":
			return yield* loseRuns(tx, work.of, work);
		case "cancel":
			return yield* cancelMore(tx, work);
		case "stage":
			return yield* unstage(tx, work);
	}
}

function* decideLinked(tx: Tx, key: string, after: number): Op<number | null> {
	const ids = yield* ask({ read: "links", key, role: "needs", after, limit: PIECE });
	yield* tx.load(ids);
	for (const id of ids) {
		const job = tx.peek(id);
		if (job) tx.work.reevaluate(job);
	}
	return ids.length < PIECE ? null : nth(ids, PIECE - 1);
}

/** Re-evaluates the next waiting jobs of a batch that was held or released. */
function* decideBatch(tx: Tx, batch: string, after: number): Op<number | null> {
	const stored = yield* ask({ read: "active", filter: { batch }, after, limit: PIECE });
	for (const { id } of stored) {
		const job = yield* tx.find(id);
		if (job) tx.work.reevaluate(job);
	}
	return stored.length < PIECE ? null : nth(stored, PIECE - 1).id;
}

/** Recomputes level and order of the next waiting jobs after the order's settings changed. */
function* rekey(tx: Tx, after: number): Op<number | null> {
	const jobs = yield* ask({ read: "active", filter: {}, after, limit: PIECE });
	const overdue: Job[] = [];
	for (const stored of jobs) {
		const job = yield* tx.find(stored.id);
		if (!job) continue;
		tx.touch(job);
		// The old settings decided which waiters are awake for a free key and which are overdue: decide it again.
		if (!isOnLock(job.parked_on)) continue;
		yield* reevaluate(tx, job);
		if (isOverdue(tx, job)) overdue.push(job);
	}
	yield* reserveAll(tx, overdue);
	tx.memory.windows.clear();
	const last = jobs[jobs.length - 1];
	return jobs.length < PIECE || !last ? null : last.id;
}

/** Takes a job of an abandoned apply out of the counts: descendants of its root, jobs of its batch. */
function* uncount(tx: Tx, job: Job): Op<void> {
	const root = job.path?.[0];
	if (root !== undefined) {
		const family = yield* tx.get("family", String(root));
		if (family !== null) tx.put("family", String(root), family > 1 ? family - 1 : null);
	}
	if (job.batch === undefined) return;
	const batch = yield* tx.get("batch", job.batch);
	if (!batch) return;
	const total = batch.total - 1;
	const open = batch.open - (isWaiting(job.status) ? 1 : 0);
	tx.put("batch", job.batch, total > 0 ? { ...batch, open, total } : null);
}

/** Removes the next jobs of an apply that was never completed, as if it had not begun. */
function* unstage(tx: Tx, { from, to }: { from: number; to: number }): Op<number | null> {
	const ids = yield* ask({ read: "range", from, to, limit: PIECE });
	for (const id of ids) {
		const job = yield* tx.find(id);
		if (job) yield* dropName(tx, job);
		if (job && isWaiting(job.status)) {
			if (job.parked_on === READY) tx.leave(job);
			uncountSerial(tx, job);
			if (queuePolicy(job.kind).isCounted) tx.count("depth", job.lane, -1);
			if (job.item !== undefined) tx.put("chain", job.item, null);
		}
		if (job) yield* uncount(tx, job);
		tx.forget(id);
	}
	if (ids.length === PIECE) return 0;
	for (const batch of tx.memory.recall("stage", String(from))?.batches ?? []) tx.work.close(batch);
	tx.put("stage", String(from), null);
	return null;
}
