// Locks. A claim takes all locks of a job at once, the end of its run releases them. A job that cannot have its locks is parked on the first key that is not
// free; each key's wait queue is in the order of dispatch.
//
// When a key is free, the waiters that could be the best of their bucket are made ready, so that the bucket which can start a job first finds it there. When
// one of them takes the key, the rest are parked on it again. A release thus wakes a few waiters, never all.

import { ask, type Op } from "../../contracts/store.ts";
import { nth } from "../../core/errors.ts";
import { obstacle } from "../../core/gates/locks.ts";
import { isWaiting, type Job, type Lock, type LockMode } from "../../core/job.ts";
import { priorityAt } from "../../core/order.ts";
import { isOnBatch, isOnLock, onLock, type Parked, READY } from "../../core/parked.ts";
import type { ReadyJob } from "../../core/planning/ready-rows.ts";
import type { Tx } from "../transaction/tx.ts";
import { continueLater } from "./continuation.ts";
import { lockStates } from "./gate-facts.ts";
import { fetchHolders, type Holders, holdersIn } from "./lock-reads.ts";
import { ROLE, reservationOf, unwant } from "./lock-records.ts";
import { reevaluate } from "./park.ts";
import { isOverdue, reserve, reserveAll } from "./reservations.ts";

/** Ready jobs evicted, or shared waiters woken, in one transaction; a `settle` record continues with the rest in the next ones. */
const SOME = 200;
/** Waiters that one read brings when the oldest is looked for, and the most reads for that: each skips the rest of the level at which the last one ended. */
const ELDERS = 64;
const ELDER_READS = 16;

/** Writes the job into the record of each of its locks. Needs no read where the cache knows the key's holders, and that no other job is affected. */
export function* takeLocks(tx: Tx, job: Job): Op<void> {
	for (const lock of job.locks ?? []) {
		const { key, mode } = lock;
		const holders = yield* holdersOf(tx, key);
		tx.put("lock", key, { holders: [...holders, [job.id, mode]] });
		const reservation = reservationOf(tx, key);
		const isReserver = reservation?.job === job.id;
		if (!isReserver && concernsNobody(tx, job, lock)) continue;
		if (isReserver) {
			tx.put("reserve", key, null);
			tx.work.passOn(key, reservation.next ?? []);
		}
		tx.work.evict(key, mode);
		if (mode === "shared") tx.work.wake(key);
	}
}

export function* releaseLocks(tx: Tx, job: Job): Op<void> {
	unwant(tx, job);
	for (const { key } of job.locks ?? []) {
		const holders = (yield* holdersOf(tx, key)).filter(([holder]) => holder !== job.id);
		tx.put("lock", key, holders.length > 0 ? { holders } : null);
	}
	for (const { key } of job.locks ?? []) {
		if (isUnawaited(tx, key)) continue;
		tx.work.wake(key);
		// Jobs that share the key still hold it. The earlier tries of an overdue waiter to reserve it may have been in vain because no slot was free.
		const isShared = (yield* holdersOf(tx, key)).length > 0;
		if (isShared && !reservationOf(tx, key)) tx.work.passOn(key, yield* overdueWaiters(tx, key));
	}
}

/** The overdue exclusive waiter of each bucket that has been ready longest; of them the oldest first. */
function* overdueWaiters(tx: Tx, key: string): Op<number[]> {
	const found: ReadyJob[] = [];
	for (const bucket of yield* waitingBuckets(tx, key, "exclusive")) {
		const job = yield* oldestOverdue(tx, onLock(key, "exclusive"), bucket);
		if (job) found.push(tx.headOf(job));
	}
	return found.sort((a, b) => (isOlder(a, b) ? -1 : 1)).map(({ id }) => id);
}

function* holdersOf(tx: Tx, key: string): Op<Holders> {
	yield* fetchHolders(tx, [key]);
	return holdersIn(tx, key);
}

/** True if no other ready or waiting job is affected when `job` takes this lock. */
function concernsNobody({ memory }: Tx, job: Job, { key, mode }: Lock): boolean {
	const rivals = memory.rivals.get(key);
	if (!rivals) return false;
	if (mode === "shared") return rivals.wants.size === 0 && !rivals.shared;
	return !rivals.shares && (rivals.wants.size === 0 || (rivals.wants.size === 1 && rivals.wants.has(job.id)));
}

/** No job waits for the key, and no reservation exists. */
function isUnawaited({ memory }: Tx, key: string): boolean {
	const rivals = memory.rivals.get(key);
	return rivals !== undefined && !rivals.exclusive && !rivals.shared && memory.all("reserve").size === 0;
}

/** Ready jobs that could take the key exclusively, and its exclusive holder, whose link stays while it runs; by job number. */
function* wantingJobs(tx: Tx, key: string, limit: number): Op<number[]> {
	const known = tx.memory.rivals.get(key)?.wants;
	if (known) return [...known].sort((a, b) => a - b).slice(0, limit);
	return yield* ask({ read: "links", key, role: "wants", after: 0, limit });
}

/** Ready jobs that could take the key in shared mode, and its shared holders. */
function* sharingJobs(tx: Tx, key: string, limit: number): Op<number[]> {
	const rivals = tx.memory.rivals.get(key);
	if (rivals && !rivals.shares) return [];
	const jobs = yield* ask({ read: "links", key, role: "shares", after: 0, limit });
	if (rivals && jobs.length === 0) rivals.shares = false;
	return jobs;
}

function* waitingBuckets(tx: Tx, key: string, mode: LockMode): Op<number[]> {
	const rivals = tx.memory.rivals.get(key);
	if (rivals && !rivals[mode]) return [];
	const line = onLock(key, mode);
	const buckets = tx.lockWaiters.buckets(line) ?? (yield* ask({ read: "buckets", line }));
	if (rivals && buckets.length === 0) rivals[mode] = false;
	return buckets;
}

/** A job took or reserved the key in this mode: the ready jobs that can no longer take it are parked on it again. */
export function* evict(tx: Tx, key: string, mode: LockMode): Op<void> {
	yield* evictFirst(tx, "evict", key, yield* wantingJobs(tx, key, SOME + 1));
	if (mode === "exclusive") yield* evictFirst(tx, "evict_shared", key, yield* sharingJobs(tx, key, SOME + 1));
}

function* evictFirst(tx: Tx, rest: "evict" | "evict_shared", key: string, wanting: readonly number[]): Op<void> {
	if (wanting.length > SOME) continueLater(tx, { do: rest, of: key, after: nth(wanting, SOME - 1) });
	yield* putBack(tx, wanting.slice(0, SOME));
}

function* putBack(tx: Tx, wanting: readonly number[]): Op<void> {
	yield* tx.load(wanting);
	const overdue: Job[] = [];
	for (const id of wanting) {
		const job = tx.peek(id);
		if (!job || !isWaiting(job.status) || !(job.parked_on === READY || isOnBatch(job.parked_on))) continue;
		yield* reevaluate(tx, job);
		if (isOverdue(tx, job)) overdue.push(job);
	}
	yield* reserveAll(tx, overdue);
}

/** Continues an eviction that did not fit into one transaction. Returns the last job evicted, or null when the eviction is complete. */
export function* evictMore(tx: Tx, key: string, mode: LockMode, after: number): Op<number | null> {
	const wanting = yield* ask({ read: "links", key, role: ROLE[mode], after, limit: SOME });
	yield* putBack(tx, wanting);
	return wanting.length < SOME ? null : nth(wanting, SOME - 1);
}

/**
 * Wakes the jobs that could take the key now: the job it is reserved for, all shared waiters, and the exclusive waiters of each bucket that could be dispatched
 * first.
 */
export function* wakeLockWaiters(tx: Tx, key: string): Op<void> {
	const reserver = reservationOf(tx, key);
	const first = reserver ? yield* tx.find(reserver.job) : undefined;
	if (first && isWaiting(first.status) && isOnLock(first.parked_on)) {
		yield* reevaluate(tx, first);
		if (isOverdue(tx, first)) yield* reserve(tx, first);
	}
	yield* wakeExclusive(tx, key);
	if (!(yield* wakeShared(tx, key))) continueLater(tx, { do: "pump", of: key, after: 0 });
}

function* firstIn(tx: Tx, line: Parked, bucket: number, below: { rank: number; level: number } | undefined): Op<ReadyJob | undefined> {
	const known = tx.lockWaiters.first(line, bucket, below);
	if (known !== undefined) return known ?? undefined;
	return (yield* ask({ read: "line", line, bucket, ...(below ? { below } : {}), limit: 1 }))[0];
}

function* wakeExclusive(tx: Tx, key: string): Op<void> {
	// An exclusive waiter cannot take a key that has a holder, so the search for the best one, level by level, can be skipped.
	if ((yield* holdersOf(tx, key)).length > 0) return;
	const buckets = yield* waitingBuckets(tx, key, "exclusive");
	if (buckets.length === 0) return;
	const awake = new Map<number, ReadyJob[]>(buckets.map((bucket) => [bucket, []]));
	const wanting = yield* wantingJobs(tx, key, 50);
	yield* tx.load(wanting);
	for (const id of wanting) {
		const job = tx.peek(id);
		if (job?.parked_on === READY && modeOf(job, key) === "exclusive") awake.get(job.bucket)?.push(tx.headOf(job));
	}
	for (const [bucket, up] of awake) {
		yield* wakeFirsts(tx, key, bucket, up);
		if (tx.config.order.overdue_share > 0) yield* wakeOldest(tx, key, bucket, up);
	}
}

/** Lies below every promoted job (rank > 0) and above all others. */
const PLAIN = { rank: 1, level: Number.MIN_SAFE_INTEGER };

/**
 * Wakes, level by level, the waiters of one bucket that could be its best while the key is free. The first of a lower level may overtake the current best by
 * aging, so each level within reach of the age boost gets one. Of the jobs that are not promoted the best is woken even behind a promoted one: the bucket
 * competes with other lanes by it.
 */
function* wakeFirsts(tx: Tx, key: string, bucket: number, awake: ReadyJob[]): Op<void> {
	const { age_boost_per_minute, age_boost_max } = tx.config.order;
	const reach = age_boost_per_minute > 0 ? age_boost_max : 0;
	const line = onLock(key, "exclusive");
	let below: { rank: number; level: number } | undefined;
	for (let tried = 0; tried < SOME; tried++) {
		const head = yield* firstIn(tx, line, bucket, below);
		if (!head || (head.rank <= 0 && awake.some((up) => up.rank === 0 && (head.rank < 0 || head.level < up.level - reach)))) return;
		if (!awake.some((up) => staysBefore(up, head))) {
			const job = yield* tx.find(head.id);
			if (!job || !(yield* canTake(tx, job, key))) return;
			yield* reevaluate(tx, job);
			if (job.parked_on === line) return;
			if (job.parked_on !== READY) {
				// Another of its keys may be taken: then the next waiter gets its chance.
				if (isOverdue(tx, job)) yield* reserve(tx, job);
				continue;
			}
			awake.push(tx.headOf(job));
		}
		below = head.rank > 0 ? PLAIN : { rank: head.rank, level: head.level };
	}
}

/** Whether `up` is dispatched before `head` now and for as long as both wait. */
function staysBefore(up: ReadyJob, head: ReadyJob): boolean {
	if (head.rank !== 0) return up.rank > head.rank;
	if (up.rank !== 0 || up.level < head.level) return false;
	return up.age_at !== head.age_at ? up.age_at < head.age_at : up.id < head.id;
}

/** Wakes the overdue waiter of one bucket that has been ready longest: at an overdue turn it is first, whatever its level. */
function* wakeOldest(tx: Tx, key: string, bucket: number, awake: readonly ReadyJob[]): Op<void> {
	const line = onLock(key, "exclusive");
	for (let tried = 0; tried < SOME; tried++) {
		const job = yield* oldestOverdue(tx, line, bucket);
		if (!job || awake.some((up) => isOlder(up, tx.headOf(job))) || !(yield* canTake(tx, job, key))) return;
		yield* reevaluate(tx, job);
		if (job.parked_on === READY || job.parked_on === line) return;
		if (isOverdue(tx, job)) yield* reserve(tx, job);
	}
}

/** Wakes the waiters that want the key in shared mode. Returns false when there are more than fit into one transaction. */
export function* wakeShared(tx: Tx, key: string): Op<boolean> {
	if ((yield* holdersOf(tx, key)).some(([, mode]) => mode === "exclusive")) return true;
	const line = onLock(key, "shared");
	let left = SOME;
	for (const bucket of yield* waitingBuckets(tx, key, "shared"))
		while (left-- > 0) {
			const best = yield* bestWaiter(tx, line, bucket);
			if (!best || !(yield* canTake(tx, best, key))) break;
			yield* reevaluate(tx, best);
			if (best.parked_on === line) break;
			if (isOverdue(tx, best)) yield* reserve(tx, best);
		}
	return left > 0;
}

const modeOf = (job: Job, key: string): LockMode | undefined => job.locks?.find((lock) => lock.key === key)?.mode;

function* canTake(tx: Tx, job: Job, key: string): Op<boolean> {
	const lock = job.locks?.find((one) => one.key === key);
	return lock !== undefined && obstacle(job, lock, (yield* lockStates(tx, [key]))(key)) === undefined;
}

/** The dispatch order within one bucket, where the lane's base priority is the same for all. */
function precedes(tx: Tx, a: ReadyJob, b: ReadyJob): boolean {
	if (a.rank !== b.rank) return a.rank > b.rank;
	const priorityOf = (head: ReadyJob) => priorityAt(0, head.level, head.age_at, tx.now, tx.config);
	const [p, q] = [priorityOf(a), priorityOf(b)];
	if (p !== q) return p > q;
	return a.age_at !== b.age_at ? a.age_at < b.age_at : a.id < b.id;
}

/** The waiter of this bucket that dispatch would take first. */
function* bestWaiter(tx: Tx, line: Parked, bucket: number): Op<Job | undefined> {
	let best: ReadyJob | undefined;
	let below: { rank: number; level: number } | undefined;
	for (let levels = 0; levels <= tx.config.order.age_boost_max + 1; levels++) {
		const head = yield* firstIn(tx, line, bucket, below);
		if (!head || (best && (head.rank < best.rank || head.level < best.level - tx.config.order.age_boost_max))) break;
		if (!best || precedes(tx, head, best)) best = head;
		below = { rank: head.rank, level: head.level };
	}
	return best && (yield* tx.find(best.id));
}

const isOlder = (a: ReadyJob, b: ReadyJob): boolean => (a.ready_at !== b.ready_at ? a.ready_at < b.ready_at : a.id < b.id);

/** The overdue waiter of this bucket that has been ready longest. */
function* oldestOverdue(tx: Tx, line: Parked, bucket: number): Op<Job | undefined> {
	let oldest: Job | undefined;
	const after = tx.config.order.overdue_after_ms;
	const waiters = after > 0 ? yield* eldersIn(tx, line, bucket) : [];
	for (const { id, age_at } of waiters.sort((a, b) => a.age_at - b.age_at || a.id - b.id)) {
		// A job is not ready before its age begins, so neither this waiter nor those after it are older or overdue.
		if (age_at >= (oldest?.ready_at ?? Number.POSITIVE_INFINITY) || age_at > tx.now - after) break;
		const job = yield* tx.find(id);
		if (job && isOverdue(tx, job) && (!oldest || isOlder(tx.headOf(job), tx.headOf(oldest)))) oldest = job;
	}
	return oldest;
}

/** The waiters of this bucket; of a level with many only the first ones, whose age began first. */
function* eldersIn(tx: Tx, line: Parked, bucket: number): Op<ReadyJob[]> {
	const known = tx.lockWaiters.all(line, bucket);
	if (known) return known;
	const found: ReadyJob[] = [];
	for (let reads = 0; reads < ELDER_READS; reads++) {
		const last = found[found.length - 1];
		const below = last && { rank: last.rank, level: last.level };
		const rows = yield* ask({ read: "line", line, bucket, ...(below ? { below } : {}), limit: ELDERS });
		found.push(...rows);
		if (rows.length < ELDERS) break;
	}
	return found;
}
