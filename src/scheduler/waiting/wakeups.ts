// Re-evaluates the jobs that a change concerns: dependents of an ended job, jobs linked to a fact, jobs of a batch. Work that does not fit into one
// transaction leaves a durable continuation, which the next transactions go on with piece by piece: table in continuation.ts.

import { ask, type Op } from "../../contracts/store.ts";
import { at } from "../../core/errors.ts";
import { fits } from "../../core/gates/after.ts";
import { isWaiting, type Job, type Policy } from "../../core/job.ts";
import { isOnLock, READY } from "../../core/parked.ts";
import { queuePolicy } from "../../core/queue-policy.ts";
import { uncountSerial } from "../limits/backlog.ts";
import { cancelMore } from "../operations/cancel.ts";
import { loseRuns } from "../operations/hosts.ts";
import { dropName } from "../operations/names.ts";
import type { Tx } from "../transaction/tx.ts";
import { type Continuation, continuationOf, continueLater, dropContinuation } from "./continuation.ts";
import { evictMore, isOverdue, reserveAll, wakeShared } from "./locks.ts";
import { endJob, reevaluate } from "./park.ts";

const PIECE = 200;
/** Maximum number of dependents that one transaction re-evaluates because other jobs ended; at about 50 µs each this stays well under 50 ms. */
const CASCADE = 500;

/** Re-evaluates the dependents of all jobs that ended in this transaction, and of jobs that end as a result. */
export function* cascade(tx: Tx): Op<void> {
	let left = CASCADE;
	while (tx.ended.length > 0) {
		const preds = tx.ended.splice(0, PIECE);
		if (left > 0) left -= yield* tellAll(tx, preds, left);
		else for (const pred of preds) later(tx, pred, 0);
	}
}

/** Leaves the dependents of `pred` with ids above `after` to the next transactions. */
function later(tx: Tx, pred: Job, after: number): void {
	continueLater(tx, { do: "edges", of: pred.id, after });
	tx.unsettled.delete(pred.id);
}

function* tellAll(tx: Tx, preds: Job[], limit: number): Op<number> {
	const edges = yield* ask({ read: "fan", preds: preds.map((pred) => pred.id), limit });
	yield* tx.load(edges.map((edge) => edge.job));
	const last = edges.length === limit ? edges[edges.length - 1] : undefined;
	let next = 0;
	for (const pred of [...preds].sort((a, b) => a.id - b.id)) {
		// `limit` cut the answer off at this predecessor or before it.
		const cut = last && pred.id >= last.pred;
		for (let edge = edges[next]; edge?.pred === pred.id; edge = edges[++next]) yield* tell(tx, pred, edge.job, edge.policy);
		if (cut) later(tx, pred, pred.id === last.pred ? last.job : 0);
		tx.unsettled.delete(pred.id);
	}
	return Math.max(1, edges.length);
}

/** Applies the end of a predecessor to one dependent: counts its edge down and re-evaluates it, or ends it as blocked. */
function* tell(tx: Tx, pred: Job, id: number, policy: Policy): Op<void> {
	const job = tx.peek(id);
	if (!job || !isWaiting(job.status)) return;
	if (job.broken !== undefined) {
		yield* reevaluate(tx, job);
		return;
	}
	const fit = fits(policy, pred.status, pred.merge_status);
	if (fit === "open") return;
	if (fit === "never") {
		const end_reason = `dependency failed for job ${pred.id} (${pred.status})`;
		yield* endJob(tx, job, { status: "blocked_by_dependency", exit_code: null, end_reason });
		return;
	}
	const subject = `job:${pred.id}`;
	job.deps_left = (job.deps_left ?? 1) - 1;
	tx.touch(job);
	// If the job's time has come as well, it was this predecessor that it waited for last: clear `due_at`, so that the job counts as ready since now, not
	// since then.
	if (job.deps_left === 0 && job.parked_on === "time" && job.due_at !== undefined && job.due_at <= tx.now) job.due_at = undefined;
	const named = job.parked_on === "after" && (job.waits_for_pred ?? subject) === subject;
	if (job.deps_left > 0 && !named) return;
	// Take the predecessor out of `unsettled` while this dependent is re-evaluated: otherwise it would still count as running.
	const pending = tx.unsettled.delete(pred.id);
	yield* reevaluate(tx, job);
	if (pending) tx.unsettled.add(pred.id);
}

/** Applies the end or the merge of a predecessor to its next dependents. Returns the last id that was processed, or null when there are no more. */
function* tellSome(tx: Tx, pred: Job, after: number, news: "edges" | "merge"): Op<number | null> {
	const edges = yield* ask({ read: "edges", pred: pred.id, after, limit: PIECE });
	yield* tx.load(edges.map((edge) => edge.job));
	for (const { job, policy } of edges) if (news === "edges" || policy === "merged") yield* tell(tx, pred, job, policy);
	const last = edges[edges.length - 1];
	return edges.length < PIECE || !last ? null : last.job;
}

/** Maximum number of continuation pieces in one transaction. */
const PIECES = 8;

/** Runs the next pieces of the open continuations, and of the continuations that these create. Returns whether any is left. */
export function* runPendingWakeups(tx: Tx): Op<boolean> {
	const open = tx.memory.all("settle");
	for (let left = PIECES; left > 0 && open.size > 0; )
		for (const [key, state] of [...open]) {
			if (left <= 0) break;
			const work = continuationOf(key, state);
			if (work === null) {
				tx.put("settle", key, null);
				continue;
			}
			// One piece of a cancel already ends as many jobs as one transaction should.
			left -= work.do === "cancel" ? PIECES : 1;
			const next = yield* piece(tx, work);
			if (next === null) dropContinuation(tx, work);
			else continueLater(tx, { ...work, after: next });
			yield* cascade(tx);
		}
	return open.size > 0;
}

/** Does the next piece. Returns how far it has got, or null when nothing is left. */
function* piece(tx: Tx, work: Continuation): Op<number | null> {
	switch (work.do) {
		case "edges":
		case "merge": {
			const pred = yield* tx.find(work.of);
			return pred ? yield* tellSome(tx, pred, work.after, work.do) : null;
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
		if (job && isWaiting(job.status)) yield* reevaluate(tx, job);
	}
	return ids.length < PIECE ? null : at(ids, PIECE - 1);
}

/** Re-evaluates the next waiting jobs of a batch that was held or released. */
function* decideBatch(tx: Tx, batch: string, after: number): Op<number | null> {
	const stored = yield* ask({ read: "active", filter: { batch }, after, limit: PIECE });
	for (const { id } of stored) {
		const job = yield* tx.find(id);
		if (job && isWaiting(job.status)) yield* reevaluate(tx, job);
	}
	return stored.length < PIECE ? null : at(stored, PIECE - 1).id;
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
	for (const batch of tx.memory.recall("stage", String(from))?.batches ?? []) tx.closing.add(batch);
	tx.put("stage", String(from), null);
	return null;
}
