// Ends jobs: cancel of one, of several, of a subtree; clear. No job of a call starts once the call's first transaction is committed.
//
//   up to a piece       all end in that transaction
//   more than a piece   the rest goes into a durable note `cancel/<n>` with their numbers: settle.ts ends them piece by piece,
//                       and no job is claimed until it is done
//   ten pieces          the jobs are read in slices before that: cancel-many.ts

import type { CancelReport } from "../../../contracts/scheduler.ts";
import { ask, type Op } from "../../../contracts/store.ts";
import { nth, SluiceError } from "../../../core/errors.ts";
import { isTerminal, isWaiting, type Job, nothingToCancel } from "../../../core/job.ts";
import { queuePolicy } from "../../../core/queue-policy.ts";
import { addTo } from "../../../core/text/lists-by-key.ts";
import { mustFind } from "../../transaction/find-job.ts";
import type { Tx } from "../../transaction/tx.ts";
import { type Cancelling, continuationKey, continueLater } from "../../waiting/continuation.ts";
import { edgesFrom } from "../../waiting/gate-facts.ts";
import { endJob } from "../../waiting/park.ts";

type What = { reason: string; subtree: boolean; piece: number };

/** Jobs that one transaction ends; the rest is left to a note. */
export const CANCEL_PIECE = 200;

/** Jobs that one transaction reads; a call that has to read more goes in slices. */
export const readAtOnce = (piece: number): number => 10 * piece;

/** Refuses a job that has already ended; in a call with several jobs it is listed in `refused`. */
export function* cancel(
	tx: Tx,
	ids: readonly number[],
	{ reason, subtree: whole, piece }: What,
): Op<(CancelReport & { note?: string }) | "too many"> {
	const report: CancelReport = { cancelled: [], requested: [], ended: [], refused: [] };
	const jobs = new Map<number, Job>();
	yield* tx.load(ids);
	for (const id of ids) jobs.set(id, yield* mustFind(tx, id));
	const waiting: number[] = [];
	const all = whole ? yield* subtree(tx, [...jobs.values()], readAtOnce(piece)) : [...jobs.values()];
	if (all === null) return "too many";
	for (const job of all) {
		if (isWaiting(job.status)) waiting.push(job.id);
		else if (job.run) {
			askToStop(tx, job, reason);
			report.requested.push(job.id);
		} else if (!whole && isTerminal(job.status)) {
			const error = nothingToCancel(job.id, job.status);
			if (ids.length === 1) throw error;
			report.refused.push({ job: job.id, code: error.code, message: error.message });
		}
	}
	report.cancelled = waiting;
	// Newest first: a dependent is thus cancelled itself before the end of its predecessor could block it.
	const order = [...waiting].sort((a, b) => b - a);
	for (const id of order.slice(0, piece)) yield* endNow(tx, id, reason);
	if (order.length <= piece) return report;
	const rest = { do: "cancel", of: String(tx.nextId("token")) } as const;
	continueLater(tx, { ...rest, after: 0, ids: order.slice(piece), reason, by: tx.by, piece });
	return { ...report, note: continuationKey(rest) };
}

/** Records the intent to stop. If the run's outcome was recorded before, that wins; from here on the run ends as cancelled. */
function askToStop(tx: Tx, job: Job, reason: string): void {
	if (!job.run || (job.run.intent && !job.run.intent.resumes)) return;
	job.run.intent = { kind: "cancelled", reason, by: tx.by, at: tx.now };
	tx.touch(job);
	tx.event("stop_asked", job.id, { reason });
}

function* endNow(tx: Tx, id: number, reason: string): Op<void> {
	const job = yield* tx.find(id);
	if (!job) return;
	if (isWaiting(job.status)) yield* endJob(tx, job, { status: "cancelled", exit_kind: "cancelled", exit_code: 143, end_reason: reason });
	else askToStop(tx, job, reason);
}

/** Ends the next jobs of a note, in the name of the caller that cancelled them. Returns the index to continue from, or null. */
export function* cancelMore(tx: Tx, { after, ids, reason, by, piece }: Cancelling): Op<number | null> {
	const some = ids.slice(after, after + piece);
	yield* tx.load(some);
	const own = tx.by;
	tx.by = by;
	for (const id of some) yield* endNow(tx, id, reason);
	tx.by = own;
	return after + piece < ids.length ? after + piece : null;
}

/** Whether a cancel is still under way: claims wait for it, so that none of its jobs starts. */
export function isCancelling(tx: Tx): boolean {
	if (tx.cancelling) return true;
	for (const key of tx.memory.all("settle").keys()) if (key.startsWith("cancel/")) return true;
	return false;
}

export function isOpenNote(tx: Tx, note: string): boolean {
	for (const key of tx.memory.all("settle").keys()) if (key === note || key.startsWith(`${note}/`)) return true;
	return false;
}

/** The jobs of these that ended in another way before their piece was reached, for example blocked by the end of a predecessor. */
export function* notCancelled(tx: Tx, ids: readonly number[]): Op<number[]> {
	yield* tx.load(ids);
	return ids.filter((id) => tx.peek(id)?.status !== "cancelled");
}

/** The jobs, their dependents and their descendants, transitively; null if they are more than one transaction should read. */
function* subtree(tx: Tx, roots: readonly Job[], most: number): Op<Job[] | null> {
	const children = new Map<number, number[]>();
	const active = yield* ask({ read: "active", filter: {}, after: 0, limit: most });
	if (active.length === most) return null;
	for (const { id, path } of active) for (const ancestor of path ?? []) addTo(children, ancestor, id);
	const found = new Map(roots.map((root) => [root.id, root]));
	const open = [...roots];
	for (let job = open.shift(); job; job = open.shift()) {
		const next = [...(children.get(job.id) ?? []), ...(yield* edgesFrom(tx, job)).map((edge) => edge.job)];
		yield* tx.load(next);
		for (const id of next) {
			const one = tx.peek(id);
			if (!one || found.has(id)) continue;
			found.set(id, one);
			open.push(one);
		}
		if (found.size > most) return null;
	}
	return [...found.values()];
}

/** Cancels all waiting jobs, or those of an item: `source:id`, or its id alone if only one source has it. */
export function* clear(tx: Tx, item: string | undefined, piece: number): Op<{ cleared: number[] } | "too many"> {
	const cleared: number[] = [];
	const most = readAtOnce(piece);
	if (item === undefined && (yield* ask({ read: "active", filter: {}, after: 0, limit: most })).length === most) return "too many";
	const whole = item === undefined ? undefined : yield* wholeItem(item);
	for (let after = 0; ; ) {
		const stored = yield* ask({ read: "active", filter: whole === undefined ? {} : { item: whole }, after, limit: 500 });
		for (const { id } of stored) {
			const job = yield* tx.find(id);
			if (!job || !isWaiting(job.status) || !queuePolicy(job.kind).isListed) continue;
			yield* endJob(tx, job, { status: "cancelled", exit_kind: "cancelled", exit_code: 143, end_reason: "cleared" });
			cleared.push(id);
		}
		if (stored.length < 500) return { cleared };
		after = nth(stored, -1).id;
	}
}

/** Resolves an item's bare id to `source:id` by the open jobs; returns it unchanged if it names its source or no open job has it. */
function* wholeItem(item: string): Op<string> {
	const found = new Set<string>();
	for (let after = 0; ; ) {
		const stored = yield* ask({ read: "active", filter: {}, after, limit: 1000 });
		for (const job of stored) {
			if (job.item === item) return item;
			if (job.item?.slice(job.item.indexOf(":") + 1) === item) found.add(job.item);
		}
		if (stored.length < 1000) break;
		after = nth(stored, -1).id;
	}
	const [only, ...more] = [...found].sort();
	if (more.length > 0)
		throw new SluiceError("conflict", `item: ${[...found].sort().join(" and ")} are both called ${JSON.stringify(item)}`, {
			field: "item",
			hint: `name its source: ${only}`,
		});
	return only ?? item;
}
