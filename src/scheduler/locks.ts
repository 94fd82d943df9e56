// Locks: taken together at claim, given back at the run's end. Waiters sit under the first key that is not free, in the order of dispatch.
//
// A free key's line has its best waiter of each bucket among the ready, so whichever bucket can start first finds it there; when one of them
// takes the key, the others go back into the line. A release thus wakes a few, never all.

import { lockLine, obstacle } from "../core/gates/locks.ts";
import { isWaiting, type Job, type LockMode } from "../core/job.ts";
import { priorityAt } from "../core/order.ts";
import type { Head } from "../core/plan.ts";
import { ask, type Op } from "../store.ts";
import { isHeldBack, type LockRecord, lockStates, type Reservation } from "./facts.ts";
import { place, setDue } from "./place.ts";
import type { Tx } from "./tx.ts";

/** How many ready jobs are put back, or shared waiters woken, at once; the rest follows in the next transactions. */
const SOME = 200;

export function* takeLocks(tx: Tx, job: Job): Op<void> {
	for (const { key, mode } of job.locks ?? []) {
		const record = (yield* tx.get<LockRecord>("lock", key)) ?? { holders: [] };
		tx.put("lock", key, { holders: [...record.holders, [job.id, mode]] } satisfies LockRecord);
		if ((tx.memory.recall("reserve", key) as Reservation | null)?.job === job.id) tx.put("reserve", key, null);
	}
	for (const { key, mode } of job.locks ?? []) {
		yield* evict(tx, key);
		if (mode === "shared") yield* pump(tx, key);
	}
}

export function* releaseLocks(tx: Tx, job: Job): Op<void> {
	for (const { key } of job.locks ?? []) {
		const record = yield* tx.get<LockRecord>("lock", key);
		const holders = (record?.holders ?? []).filter(([holder]) => holder !== job.id);
		tx.put("lock", key, holders.length > 0 ? { holders } : null);
	}
	for (const { key } of job.locks ?? []) yield* pump(tx, key);
}

/** Ready jobs that can no longer take the key go back into its line. */
export function* evict(tx: Tx, key: string): Op<void> {
	const wanting = yield* ask({ read: "links", key, role: "wants", after: 0, limit: SOME + 1 });
	if (wanting.length > SOME) tx.put("settle", `evict/${key}`, { after: wanting[SOME - 1] as number });
	yield* tx.load(wanting);
	for (const id of wanting.slice(0, SOME)) {
		const job = tx.peek(id);
		if (job && isWaiting(job.status) && (job.line === "" || job.line.startsWith("batch:"))) yield* place(tx, job);
	}
}

/** Goes on with an eviction that was too long for one transaction. */
export function* evictMore(tx: Tx, key: string, after: number): Op<number | null> {
	const wanting = yield* ask({ read: "links", key, role: "wants", after, limit: SOME });
	yield* tx.load(wanting);
	for (const id of wanting) {
		const job = tx.peek(id);
		if (job && isWaiting(job.status) && (job.line === "" || job.line.startsWith("batch:"))) yield* place(tx, job);
	}
	return wanting.length < SOME ? null : (wanting[SOME - 1] as number);
}

/** Wakes those that could take the key now: all shared waiters, and the best exclusive one of each bucket that has none awake. */
export function* pump(tx: Tx, key: string): Op<void> {
	const reserver = tx.memory.recall("reserve", key) as Reservation | null;
	const first = reserver ? yield* tx.find(reserver.job) : undefined;
	if (first && isWaiting(first.status) && first.line.startsWith("lock:")) yield* place(tx, first);
	yield* wakeExclusive(tx, key);
	if (!(yield* wakeShared(tx, key))) tx.put("settle", `pump/${key}`, { after: 0 });
}

function* wakeExclusive(tx: Tx, key: string): Op<void> {
	const line = lockLine(key, "exclusive");
	const buckets = yield* ask({ read: "buckets", line });
	if (buckets.length === 0) return;
	const awake = new Map<number, Head>();
	const wanting = yield* ask({ read: "links", key, role: "wants", after: 0, limit: 50 });
	yield* tx.load(wanting);
	for (const id of wanting) {
		const job = tx.peek(id);
		if (job?.line !== "" || modeOf(job, key) !== "exclusive") continue;
		const [head, known] = [tx.headOf(job), awake.get(job.bucket)];
		if (!known || precedes(tx, head, known)) awake.set(job.bucket, head);
	}
	for (const bucket of buckets) {
		const up = awake.get(bucket);
		for (let tried = 0; tried < SOME; tried++) {
			const best = yield* bestWaiter(tx, line, bucket);
			// One that is awake already and stands before it has the first chance.
			if (!best || (up && !precedes(tx, tx.headOf(best), up)) || !(yield* canTake(tx, best, key))) break;
			yield* place(tx, best);
			// Another of its keys may be taken: then the next one gets its chance.
			if (best.line === line || best.line === "") break;
		}
	}
}

/** False when there are more of them than fit into one transaction. */
export function* wakeShared(tx: Tx, key: string): Op<boolean> {
	const line = lockLine(key, "shared");
	let left = SOME;
	for (const bucket of yield* ask({ read: "buckets", line }))
		while (left-- > 0) {
			const best = yield* bestWaiter(tx, line, bucket);
			if (!best || !(yield* canTake(tx, best, key))) break;
			yield* place(tx, best);
			if (best.line === line) break;
		}
	return left > 0;
}

const modeOf = (job: Job, key: string): LockMode | undefined => job.locks?.find((lock) => lock.key === key)?.mode;

function* canTake(tx: Tx, job: Job, key: string): Op<boolean> {
	const lock = job.locks?.find((one) => one.key === key);
	return lock !== undefined && obstacle(job, lock, (yield* lockStates(tx, [key]))(key)) === undefined;
}

/** The order within one bucket, where the lane's base is the same. */
function precedes(tx: Tx, a: Head, b: Head): boolean {
	if (a.rank !== b.rank) return a.rank > b.rank;
	const [p, q] = [a, b].map((head) => priorityAt(0, head.level, head.age_at, tx.now, tx.config)) as [number, number];
	if (p !== q) return p > q;
	return a.age_at !== b.age_at ? a.age_at < b.age_at : a.id < b.id;
}

/** First in the line among one bucket's, as dispatch would have it. */
function* bestWaiter(tx: Tx, line: string, bucket: number): Op<Job | undefined> {
	let best: Head | undefined;
	let below: { rank: number; level: number } | undefined;
	for (let levels = 0; levels <= tx.config.order.age_boost_max + 1; levels++) {
		const [head] = yield* ask({ read: "line", line, bucket, ...(below ? { below } : {}), limit: 1 });
		if (!head || (best && (head.rank < best.rank || head.level < best.level - tx.config.order.age_boost_max))) break;
		if (!best || precedes(tx, head, best)) best = head;
		below = { rank: head.rank, level: head.level };
	}
	return best && (yield* tx.find(best.id));
}

/** It no longer waits for its locks alone: what it had reserved is free for others. One that became ready keeps it until it starts. */
export function* giveUpReservations(tx: Tx, job: Job): Op<void> {
	if (!job.locks || tx.memory.all("reserve").size === 0) return;
	const kept = job.locks.filter(({ key }) => (tx.memory.recall("reserve", key) as Reservation | null)?.job === job.id);
	for (const { key } of kept) unreserve(tx, key, job.id);
	for (const { key } of kept) yield* pump(tx, key);
}

/**
 * An overdue waiter reserves its keys in their order as far as they are to be had: free, or shared while it wants them alone. It stops at the
 * first that another keeps or holds alone, so two reservers can never wait for each other.
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
		const mine = tx.memory.recall("reserve", lock.key) as Reservation | null;
		if (mine?.job === job.id) continue;
		if (mine) return;
		const heldAlone = states(lock.key).holders.some((holder) => holder.mode === "exclusive");
		if (heldAlone) return;
		tx.put("reserve", lock.key, { job: job.id, since: tx.now, mode: lock.mode } satisfies Reservation);
		tx.event("reserved", job.id, { key: lock.key });
		yield* evict(tx, lock.key);
	}
}

function unreserve(tx: Tx, key: string, job: number): void {
	tx.put("reserve", key, null);
	tx.event("unreserved", job, { key });
}

/** Reservations of jobs that something else keeps from starting are dropped: the keys would lie idle. */
export function* dropIdleReservations(tx: Tx): Op<void> {
	const reservations = [...tx.memory.all("reserve")] as [string, Reservation][];
	for (const [key, { job: id }] of reservations) {
		const job = yield* tx.find(id);
		if (job && isWaiting(job.status) && !isHeldBack(tx, job)) continue;
		unreserve(tx, key, id);
		yield* pump(tx, key);
	}
}
