// Ends jobs: cancel of one, of several, of a subtree; clear. No job of one call starts once the call's first transaction is committed.
//
//   up to a piece       all end in that transaction
//   more than a piece   the rest is a durable note `cancel/<n>` with their numbers: settle.ts ends them piece by piece,
//                       and nothing is claimed until it is done

import { SluiceError } from "../core/errors.ts";
import { isTerminal, isWaiting, type Job, nothingToCancel } from "../core/job.ts";
import type { CancelReport } from "../scheduler.ts";
import { ask, type Op } from "../store.ts";
import { mustFind } from "./look.ts";
import { endJob } from "./place.ts";
import type { Tx } from "./tx.ts";

type What = { reason: string; subtree: boolean; piece: number };

/** Jobs that one transaction ends; more are left to the note. */
export const CANCEL_PIECE = 200;

/** Jobs that are still to be ended, from place `after` of the list on. */
export type CancelNote = { after: number; ids: number[]; reason: string; by: string; piece: number };

/** A job that has ended already is refused; among several it is named in `refused`. */
export function* cancel(tx: Tx, ids: readonly number[], { reason, subtree: whole, piece }: What): Op<CancelReport & { note?: string }> {
	const report: CancelReport = { cancelled: [], requested: [], ended: [], refused: [] };
	const jobs = new Map<number, Job>();
	yield* tx.load(ids);
	for (const id of ids) jobs.set(id, yield* mustFind(tx, id));
	const waiting: number[] = [];
	for (const job of whole ? yield* subtree(tx, [...jobs.values()]) : jobs.values()) {
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
	// The newest first: what comes after another of them is cancelled itself, before it could be blocked by the other's end.
	const order = [...waiting].sort((a, b) => b - a);
	for (const id of order.slice(0, piece)) yield* endNow(tx, id, reason);
	if (order.length <= piece) return report;
	const note = `cancel/${tx.nextId("token")}`;
	tx.put("settle", note, { after: 0, ids: order.slice(piece), reason, by: tx.by, piece } satisfies CancelNote);
	return { ...report, note };
}

/** An outcome recorded before the intent wins; from here on the run ends as cancelled. */
function askToStop(tx: Tx, job: Job, reason: string): void {
	if (!job.run || job.run.intent) return;
	job.run.intent = { kind: "cancelled", reason, by: tx.by, at: tx.now };
	tx.touch(job);
	tx.event("stop_asked", job.id, { reason });
}

function* endNow(tx: Tx, id: number, reason: string): Op<void> {
	const job = yield* tx.find(id);
	if (job && isWaiting(job.status))
		yield* endJob(tx, job, { status: "cancelled", exit_kind: "cancelled", exit_code: 143, end_reason: reason });
}

/** The next jobs of a note end, in the name of the caller who cancelled them. Returns where to go on. */
export function* cancelMore(tx: Tx, { after, ids, reason, by, piece }: CancelNote): Op<number | null> {
	const some = ids.slice(after, after + piece);
	yield* tx.load(some);
	const own = tx.by;
	tx.by = by;
	for (const id of some) yield* endNow(tx, id, reason);
	tx.by = own;
	return after + piece < ids.length ? after + piece : null;
}

/** Whether a cancel is still being carried out: claims wait for it, so that none of its jobs starts. */
export function isCancelling(tx: Tx): boolean {
	for (const key of tx.memory.all("settle").keys()) if (key.startsWith("cancel/")) return true;
	return false;
}

export function* isOpenNote(tx: Tx, note: string): Op<boolean> {
	yield* [];
	return tx.memory.all("settle").has(note);
}

/** Those of them that ended in another way before their piece came: blocked by the end of one of the others, for example. */
export function* notCancelled(tx: Tx, ids: readonly number[]): Op<number[]> {
	yield* tx.load(ids);
	return ids.filter((id) => tx.peek(id)?.status !== "cancelled");
}

const MAX_SUBTREE = 100_000;

/** The jobs, everything that comes after them, their descendants, and so on from each of those. */
function* subtree(tx: Tx, roots: readonly Job[]): Op<Job[]> {
	const children = new Map<number, number[]>();
	for (const { id, path } of yield* ask({ read: "active", filter: {}, after: 0, limit: MAX_SUBTREE })) {
		for (const ancestor of path ?? []) {
			const known = children.get(ancestor);
			if (known) known.push(id);
			else children.set(ancestor, [id]);
		}
	}
	const found = new Map(roots.map((root) => [root.id, root]));
	const open = [...roots];
	for (let job = open.shift(); job; job = open.shift()) {
		const next = [...(children.get(job.id) ?? [])];
		for (let after = 0; job.dependents; ) {
			const edges = yield* ask({ read: "edges", pred: job.id, after, limit: 1000 });
			next.push(...edges.map((edge) => edge.job));
			if (edges.length < 1000) break;
			after = next[next.length - 1] as number;
		}
		yield* tx.load(next);
		for (const id of next) {
			const one = tx.peek(id);
			if (!one || found.has(id)) continue;
			found.set(id, one);
			open.push(one);
		}
		if (found.size > MAX_SUBTREE)
			throw new SluiceError("limit", `job ${roots[0]?.id} has more than ${MAX_SUBTREE} dependents`, {
				field: "id",
				hint: "cancel its batch instead",
			});
	}
	return [...found.values()];
}

/** `item`: as `source:id`, or its id alone where only one source has it. */
export function* clear(tx: Tx, item: string | undefined): Op<{ cleared: number[] }> {
	const cleared: number[] = [];
	const whole = item === undefined ? undefined : yield* wholeItem(item);
	for (let after = 0; ; ) {
		const stored = yield* ask({ read: "active", filter: whole === undefined ? {} : { item: whole }, after, limit: 500 });
		for (const { id } of stored) {
			const job = yield* tx.find(id);
			if (!job || !isWaiting(job.status) || job.kind === "kernel") continue;
			yield* endJob(tx, job, { status: "cancelled", exit_kind: "cancelled", exit_code: 143, end_reason: "cleared" });
			cleared.push(id);
		}
		if (stored.length < 500) return { cleared };
		after = (stored[stored.length - 1] as Job).id;
	}
}

/** The item of an open job by its id; as it is, where it names its source or no open job has it. */
function* wholeItem(item: string): Op<string> {
	const found = new Set<string>();
	for (let after = 0; ; ) {
		const stored = yield* ask({ read: "active", filter: {}, after, limit: 1000 });
		for (const job of stored) {
			if (job.item === item) return item;
			if (job.item?.slice(job.item.indexOf(":") + 1) === item) found.add(job.item);
		}
		if (stored.length < 1000) break;
		after = (stored[stored.length - 1] as Job).id;
	}
	const [only, ...more] = [...found].sort();
	if (more.length > 0)
		throw new SluiceError("conflict", `item: ${[...found].sort().join(" and ")} are both called ${JSON.stringify(item)}`, {
			field: "item",
			hint: `name its source: ${only}`,
		});
	return only ?? item;
}
