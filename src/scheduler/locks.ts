// Locks: taken together at claim, given back at the run's end. Waiters sit under the first key that is not free, in the order of dispatch.
//
// A free key's line has the waiters that can be the best of their bucket among the ready, so whichever bucket can start first finds it there; when
// one of them takes the key, the others go back into the line. A release thus wakes a few, never all.

import { lockLine, obstacle } from "../core/gates/locks.ts";
import { isWaiting, type Job, type Lock, type LockMode } from "../core/job.ts";
import { priorityAt } from "../core/order.ts";
import type { Head } from "../core/plan.ts";
import { ask, type LinkRow, type Op, type Role } from "../store.ts";
import { isHeldBack, lockStates, type Reservation } from "./facts.ts";
import { fetchHolders, type Holders, holdersIn, type LockRecord } from "./lock-reads.ts";
import { place, setDue } from "./place.ts";
import type { Tx } from "./tx.ts";

/** How many ready jobs are put back, or shared waiters woken, at once; the rest follows in the next transactions. */
const SOME = 200;

/**
 * The same for most jobs, whose locks are free, known and nobody else's business; false for all others. Nothing is written: whoever looks finds a job that wants
 * the lock and runs. Nobody else can come to be ready for it meanwhile, so there is never a second one to choose from.
 */
export function takeAtOnce(tx: Tx, job: Job): boolean {
	const { memory } = tx;
	if (memory.all("reserve").size > 0) return false;
	for (const lock of job.locks ?? [])
		if (lock.mode !== "exclusive" || memory.recall("lock", lock.key) !== null || !concernsNobody(tx, job, lock)) return false;
	for (const { key } of job.locks ?? []) memory.remember("lock", key, job.id satisfies LockRecord);
	return true;
}

export function* takeLocks(tx: Tx, job: Job): Op<void> {
	let kept: Map<string, Reservation> | undefined;
	for (const { key, mode } of job.locks ?? []) {
		const holders = yield* holdersOf(tx, key);
		tx.put("lock", key, { holders: [...holders, [job.id, mode]] } satisfies LockRecord);
		const reservation = reservationOf(tx, key);
		if (reservation?.job !== job.id) continue;
		kept ??= new Map();
		kept.set(key, reservation);
		tx.put("reserve", key, null);
	}
	for (const lock of job.locks ?? []) {
		const reservation = kept?.get(lock.key);
		if (!reservation && concernsNobody(tx, job, lock)) continue;
		yield* passOn(tx, lock.key, reservation?.next);
		yield* evict(tx, lock.key, lock.mode);
		if (lock.mode === "shared") yield* pump(tx, lock.key);
	}
}

export function* releaseLocks(tx: Tx, job: Job): Op<void> {
	unwant(tx, job);
	for (const { key } of job.locks ?? []) {
		const holders = (yield* holdersOf(tx, key)).filter(([holder]) => holder !== job.id);
		if (tx.memory.recall("lock", key) === job.id) tx.memory.remember("lock", key, null);
		else tx.put("lock", key, holders.length > 0 ? { holders } : null);
	}
	for (const { key } of job.locks ?? []) if (!isUnawaited(tx, key)) yield* pump(tx, key);
}

function* holdersOf(tx: Tx, key: string): Op<Holders> {
	yield* fetchHolders(tx, [key]);
	return holdersIn(tx.memory.recall("lock", key) as LockRecord | null);
}

/** Nobody has to be put back or woken because this one takes it. */
function concernsNobody({ memory }: Tx, job: Job, { key, mode }: Lock): boolean {
	const rivals = memory.rivals.get(key);
	if (!rivals) return false;
	if (mode === "shared") return rivals.wants.size === 0 && !rivals.shared;
	return !rivals.shares && (rivals.wants.size === 0 || (rivals.wants.size === 1 && rivals.wants.has(job.id)));
}

/** Nobody waits for it, and nobody has reserved it. */
function isUnawaited({ memory }: Tx, key: string): boolean {
	const rivals = memory.rivals.get(key);
	return rivals !== undefined && !rivals.exclusive && !rivals.shared && memory.all("reserve").size === 0;
}

const ROLE = { exclusive: "wants", shared: "shares" } as const satisfies Record<LockMode, Role>;

/**
 * Whoever takes one of its locks finds it: it is ready, and could have taken them. It stays so found while it has them: there it does no harm, and a start has
 * a row less to write.
 */
export function want(tx: Tx, job: Job): void {
	const { links, unlinks } = tx.changes;
	for (const { key, mode } of job.locks ?? []) {
		// One whose run has just ended, and that is ready again: the row is still there.
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
		// One that came in this very transaction is not there yet.
		const fresh = lastOf(links, job, key);
		if (fresh >= 0) links.splice(fresh, 1);
		else unlinks.push({ key, role: ROLE[mode], job: job.id });
		if (mode === "exclusive") tx.memory.rivals.get(key)?.wants.delete(job.id);
	}
}

const lastOf = (links: readonly LinkRow[], job: Job, key: string): number =>
	links.findLastIndex((link) => link.job === job.id && link.key === key && (link.role === "wants" || link.role === "shares"));

/** Jobs that want the key for themselves alone and could have it, by their numbers; and whoever has it. */
function* wantingJobs(tx: Tx, key: string, limit: number): Op<number[]> {
	const known = tx.memory.rivals.get(key)?.wants;
	if (known) return [...known].sort((a, b) => a - b).slice(0, limit);
	return yield* ask({ read: "links", key, role: "wants", after: 0, limit });
}

/** The same for those that want to share it. */
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
	const line = lockLine(key, mode);
	const buckets = tx.lines.buckets(line) ?? (yield* ask({ read: "buckets", line }));
	if (rivals && buckets.length === 0) rivals[mode] = false;
	return buckets;
}

/** Ready jobs that can no longer take the key, since somebody takes or keeps it in this mode, go back into its line. */
export function* evict(tx: Tx, key: string, mode: LockMode): Op<void> {
	yield* evictFirst(tx, `evict/${key}`, yield* wantingJobs(tx, key, SOME + 1));
	if (mode === "exclusive") yield* evictFirst(tx, `evict_shared/${key}`, yield* sharingJobs(tx, key, SOME + 1));
}

function* evictFirst(tx: Tx, note: string, wanting: readonly number[]): Op<void> {
	if (wanting.length > SOME) tx.put("settle", note, { after: wanting[SOME - 1] as number });
	yield* putBack(tx, wanting.slice(0, SOME));
}

function* putBack(tx: Tx, wanting: readonly number[]): Op<void> {
	yield* tx.load(wanting);
	const overdue: Job[] = [];
	for (const id of wanting) {
		const job = tx.peek(id);
		if (!job || !isWaiting(job.status) || !(job.line === "" || job.line.startsWith("batch:"))) continue;
		yield* place(tx, job);
		if (isOverdue(tx, job)) overdue.push(job);
	}
	yield* reserveAll(tx, overdue);
}

/** Oldest first. */
export function* reserveAll(tx: Tx, overdue: readonly Job[]): Op<void> {
	const inOrder = [...overdue].sort((a, b) => (a.ready_at as number) - (b.ready_at as number) || a.id - b.id);
	for (const job of inOrder) yield* reserve(tx, job);
}

/** It has waited for its locks so long that they are to be kept for it. */
export const isOverdue = (tx: Tx, job: Job): boolean => {
	const after = tx.config.order.overdue_after_ms;
	return after > 0 && job.line.startsWith("lock:") && job.ready_at !== undefined && job.ready_at + after <= tx.now;
};

/** Goes on with an eviction that was too long for one transaction. */
export function* evictMore(tx: Tx, key: string, mode: LockMode, after: number): Op<number | null> {
	const wanting = yield* ask({ read: "links", key, role: ROLE[mode], after, limit: SOME });
	yield* putBack(tx, wanting);
	return wanting.length < SOME ? null : (wanting[SOME - 1] as number);
}

/** Wakes those that could take the key now: all shared waiters, and of each bucket the exclusive ones that can be its best. */
export function* pump(tx: Tx, key: string): Op<void> {
	const reserver = reservationOf(tx, key);
	const first = reserver ? yield* tx.find(reserver.job) : undefined;
	if (first && isWaiting(first.status) && first.line.startsWith("lock:")) {
		yield* place(tx, first);
		if (isOverdue(tx, first)) yield* reserve(tx, first);
	}
	yield* wakeExclusive(tx, key);
	if (!(yield* wakeShared(tx, key))) tx.put("settle", `pump/${key}`, { after: 0 });
}

function* firstIn(tx: Tx, line: string, bucket: number, below: { rank: number; level: number } | undefined): Op<Head | undefined> {
	const known = tx.lines.first(line, bucket, below);
	if (known !== undefined) return known ?? undefined;
	return (yield* ask({ read: "line", line, bucket, ...(below ? { below } : {}), limit: 1 }))[0];
}

function* wakeExclusive(tx: Tx, key: string): Op<void> {
	// Nobody can have it beside whoever holds it: the best of those who wait need not be looked for, level by level.
	if ((yield* holdersOf(tx, key)).length > 0) return;
	const buckets = yield* waitingBuckets(tx, key, "exclusive");
	if (buckets.length === 0) return;
	const awake = new Map<number, Head[]>(buckets.map((bucket) => [bucket, []]));
	const wanting = yield* wantingJobs(tx, key, 50);
	yield* tx.load(wanting);
	for (const id of wanting) {
		const job = tx.peek(id);
		if (job?.line === "" && modeOf(job, key) === "exclusive") awake.get(job.bucket)?.push(tx.headOf(job));
	}
	for (const [bucket, up] of awake) yield* wakeFirsts(tx, key, bucket, up);
}

/** Below every promoted one, above all others. */
const PLAIN = { rank: 1, level: Number.MIN_SAFE_INTEGER };

/**
 * Of one bucket, level by level: those that can come to be its best while the key is free. The first of a level may overtake the best of now as they
 * age, and the best of those that are not promoted is what a promoted one stands for against other lanes.
 */
function* wakeFirsts(tx: Tx, key: string, bucket: number, awake: Head[]): Op<void> {
	const { age_boost_per_minute, age_boost_max } = tx.config.order;
	const reach = age_boost_per_minute > 0 ? age_boost_max : 0;
	const line = lockLine(key, "exclusive");
	let below: { rank: number; level: number } | undefined;
	for (let tried = 0; tried < SOME; tried++) {
		const head = yield* firstIn(tx, line, bucket, below);
		if (!head || (head.rank <= 0 && awake.some((up) => up.rank === 0 && (head.rank < 0 || head.level < up.level - reach)))) return;
		if (!awake.some((up) => staysBefore(up, head))) {
			const job = yield* tx.find(head.id);
			if (!job || !(yield* canTake(tx, job, key))) return;
			yield* place(tx, job);
			if (job.line === line) return;
			if (job.line !== "") {
				// Another of its keys may be taken: then the next one gets its chance.
				if (isOverdue(tx, job)) yield* reserve(tx, job);
				continue;
			}
			awake.push(head);
		}
		below = head.rank > 0 ? PLAIN : { rank: head.rank, level: head.level };
	}
}

/** Now and for as long as both wait. */
function staysBefore(up: Head, head: Head): boolean {
	if (head.rank !== 0) return up.rank > head.rank;
	if (up.rank !== 0 || up.level < head.level) return false;
	return up.age_at !== head.age_at ? up.age_at < head.age_at : up.id < head.id;
}

/** False when there are more of them than fit into one transaction. */
export function* wakeShared(tx: Tx, key: string): Op<boolean> {
	if ((yield* holdersOf(tx, key)).some(([, mode]) => mode === "exclusive")) return true;
	const line = lockLine(key, "shared");
	let left = SOME;
	for (const bucket of yield* waitingBuckets(tx, key, "shared"))
		while (left-- > 0) {
			const best = yield* bestWaiter(tx, line, bucket);
			if (!best || !(yield* canTake(tx, best, key))) break;
			yield* place(tx, best);
			if (best.line === line) break;
			if (isOverdue(tx, best)) yield* reserve(tx, best);
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
		const head = yield* firstIn(tx, line, bucket, below);
		if (!head || (best && (head.rank < best.rank || head.level < best.level - tx.config.order.age_boost_max))) break;
		if (!best || precedes(tx, head, best)) best = head;
		below = { rank: head.rank, level: head.level };
	}
	return best && (yield* tx.find(best.id));
}

/** It no longer waits for its locks alone: what it had reserved is free for others. One that became ready keeps it until it starts. */
export function* giveUpReservations(tx: Tx, job: Job): Op<void> {
	if (!job.locks || tx.memory.all("reserve").size === 0) return;
	const kept = job.locks.filter(({ key }) => reservationOf(tx, key)?.job === job.id);
	const nexts = kept.map(({ key }) => unreserve(tx, key, job.id));
	for (const [index, { key }] of kept.entries()) {
		yield* passOn(tx, key, nexts[index]);
		yield* pump(tx, key);
	}
}

/**
 * An overdue waiter reserves its keys in their order as they free up. It stops at the first that another keeps, so two reservers can never wait
 * for each other, and at the first that somebody holds alone: that one is its next, those after it may still be of use to others.
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
			if (!next.includes(job.id) && next.length < SOME)
				tx.put("reserve", lock.key, { ...kept, next: [...next, job.id] } satisfies Reservation);
			return;
		}
		tx.put("reserve", lock.key, { job: job.id, since: tx.now, mode: lock.mode } satisfies Reservation);
		tx.event("reserved", job.id, { key: lock.key });
		const heldAlone = states(lock.key).holders.some((holder) => holder.mode === "exclusive");
		if (heldAlone) return;
		yield* evict(tx, lock.key, lock.mode);
	}
}

const reservationOf = (tx: Tx, key: string) => tx.memory.recall("reserve", key) as Reservation | null;

/** Those that come next for the key. */
function unreserve(tx: Tx, key: string, job: number): number[] | undefined {
	const next = reservationOf(tx, key)?.next;
	tx.put("reserve", key, null);
	tx.event("unreserved", job, { key });
	return next;
}

/** A reservation is over: the next one that is still overdue for the key has it, before anybody who came later can take the key. */
function* passOn(tx: Tx, key: string, next: number[] = []): Op<void> {
	for (const [index, id] of next.entries()) {
		const job = yield* tx.find(id);
		if (!job || !isWaiting(job.status) || !isOverdue(tx, job)) continue;
		yield* reserve(tx, job);
		const kept = reservationOf(tx, key);
		if (kept?.job !== id) continue;
		tx.put("reserve", key, { ...kept, next: next.slice(index + 1) } satisfies Reservation);
		return;
	}
}

/** Reservations of jobs that something else keeps from starting are dropped: the keys would lie idle. */
export function* dropIdleReservations(tx: Tx): Op<void> {
	const reservations = [...tx.memory.all("reserve")] as [string, Reservation][];
	for (const [key, { job: id }] of reservations) {
		const job = yield* tx.find(id);
		if (job && isWaiting(job.status) && !isHeldBack(tx, job)) continue;
		yield* passOn(tx, key, unreserve(tx, key, id));
		yield* pump(tx, key);
	}
}
