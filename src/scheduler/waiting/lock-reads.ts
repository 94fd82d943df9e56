// Batched lock loading. Fetches holders, contenders and waiters of many locks in one query, because the whole transaction waits for
// each of them.

import { ask, type Op, type Replies } from "../../contracts/store.ts";
import type { Job, Lock } from "../../core/job.ts";
import { onLock, type Parked } from "../../core/parked.ts";
import type { Memory } from "../transaction/cache.ts";
import type { Tx } from "../transaction/tx.ts";
import type { Waiter } from "./lock-waiters.ts";

/** The running jobs that hold a lock. Each lock that is held has a record; a lock without a record is free. */
export type LockRecord = { holders: Holders };
export type Holders = readonly (readonly [job: number, mode: Lock["mode"]])[];

const FREE: Holders = [];

/** The holders of a lock that `fetchHolders` has loaded. */
export const holdersIn = ({ memory }: Tx, key: string): Holders => memory.recall("lock", key)?.holders ?? FREE;

/** Most `wants` links read in one query over several keys. */
const WANTING = 2000;
/** Waiters prefetched per wait queue, on average. If there are more, `wakeExclusive` and `wakeShared` read the first one when they need it. */
const WAITING = 32;
const MODES = ["exclusive", "shared"] as const;

/** Whether the job's locks can be taken and released without a read, unless other jobs wait for them. */
export const hasLocksAtHand = ({ memory }: Tx, job: Job): boolean => (job.locks ?? []).every(({ key }) => isKnown(memory, key));

const isKnown = (memory: Memory, key: string): boolean => memory.rivals.has(key) && memory.recall("lock", key) !== undefined;

export const lockKeys = (tx: Tx, ids: readonly number[]): string[] => ids.flatMap((id) => tx.peek(id)?.locks?.map(({ key }) => key) ?? []);

/** Loads holders, contenders and waiters of several locks into memory with one read. */
export function* fetchLocks(tx: Tx, keys: readonly string[]): Op<void> {
	const { memory } = tx;
	const unknown = new Set<string>();
	for (const key of keys) if (!isKnown(memory, key)) unknown.add(key);
	if (unknown.size === 0) return;
	const lines: Parked[] = [];
	for (const key of unknown) lines.push(onLock(key, "exclusive"), onLock(key, "shared"));
	const found = yield* ask({ read: "locks", keys: [...unknown], lines, limit: WANTING });
	learnHolders(memory, unknown, found.records);
	// The reply was cut off at the limit, so the set of contenders is incomplete for any key: remember none.
	if (found.wants.length >= WANTING) return;
	for (const key of unknown) memory.rivals.set(key, { wants: new Set(), shares: false, exclusive: false, shared: false });
	for (const { key, job } of found.wants) memory.rivals.get(key)?.wants.add(job);
	for (const key of found.shared) {
		const rivals = memory.rivals.get(key);
		if (rivals) rivals.shares = true;
	}
	for (const line of found.lines) memory.joinWaitQueue(line);
}

/** Loads the holders of several locks into memory, and with the same read what `fetchLocks` knows of them besides. */
export function* fetchHolders(tx: Tx, keys: readonly string[]): Op<void> {
	const unknown = keys.filter((key) => tx.memory.recall("lock", key) === undefined);
	if (unknown.length > 0) yield* fetchLocks(tx, unknown);
}

/** Remembers the record of each key, or that the key is free. The read limits only the `wants` links, so `records` is complete. */
function learnHolders(memory: Memory, keys: Iterable<string>, records: Replies["locks"]["records"]): void {
	const stored = new Map(records as [string, LockRecord][]);
	for (const key of keys) if (memory.recall("lock", key) === undefined) memory.remember("lock", key, stored.get(key) ?? null);
}

/** Prefetch for runs that are about to end: the wait queues of their locks, where jobs may wait, and the documents and locks of the first waiters. */
export function* fetchWaiters(tx: Tx, ending: readonly number[]): Op<void> {
	const lines = new Set<Parked>();
	for (const key of lockKeys(tx, ending)) for (const mode of MODES) if (tx.memory.rivals.get(key)?.[mode]) lines.add(onLock(key, mode));
	if (lines.size === 0) return;
	const limit = WAITING * lines.size;
	const rows = yield* ask({ read: "waiters", lines: [...lines], limit });
	if (rows.length >= limit) return;
	const waiters = new Map<Parked, Waiter[]>([...lines].map((line) => [line, []]));
	for (const { line, bucket, head } of rows) waiters.get(line)?.push({ bucket, head });
	const first: number[] = [];
	for (const [line, all] of waiters) {
		tx.lockWaiters.learn(line, all);
		for (const bucket of tx.lockWaiters.buckets(line) ?? []) {
			const head = tx.lockWaiters.first(line, bucket);
			if (head) first.push(head.id);
		}
	}
	yield* tx.load(first);
	yield* fetchLocks(tx, lockKeys(tx, first));
}
