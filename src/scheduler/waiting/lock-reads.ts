// Batched lock loading. Fetches holders, contenders and waiters of many locks in one query; on a remote store, one query per lock would cost one round trip
// each.

import { ask, type Op, type Replies } from "../../contracts/store.ts";
import type { Job, Lock } from "../../core/job.ts";
import { onLock, type Parked } from "../../core/parked.ts";
import type { Memory } from "../transaction/cache.ts";
import type { Tx } from "../transaction/tx.ts";
import type { Waiter } from "./lock-waiters.ts";

/**
 * Holders of a lock. A bare job number means "held exclusively, uncontended"; this form is derived (the job is running and has a `wants` link) and never
 * stored. Only the list form is stored.
 */
export type LockRecord = number | { holders: Holders };
export type Holders = readonly (readonly [number, Lock["mode"]])[];

const NOBODY: Holders = [];

export function holdersIn(record: LockRecord | null): Holders {
	if (record === null) return NOBODY;
	return typeof record === "number" ? [[record, "exclusive"]] : record.holders;
}

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
	learnHolders(memory, unknown, found, WANTING);
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

/** Loads the holders of several locks into memory. */
export function* fetchHolders(tx: Tx, keys: readonly string[]): Op<void> {
	const isOpen = (key: string) => tx.memory.recall("lock", key) === undefined;
	if (!keys.some(isOpen)) return;
	yield* fetchLocks(tx, keys.filter(isOpen));
	// The batch was cut off at its limit: read the remaining keys one by one. Two `wants` links are enough: if two jobs are ready for a lock, no job holds it
	// unless its record says so.
	for (const key of keys)
		if (isOpen(key)) learnHolders(tx.memory, [key], yield* ask({ read: "locks", keys: [key], lines: [], limit: 2 }), 3);
}

/**
 * Remembers the holders of each key: those of its lock record; without a record, the running job that wants the key. A key whose rows may have been cut off at
 * the limit stays unknown.
 */
function learnHolders(memory: Memory, keys: Iterable<string>, { records, wants }: Replies["locks"], limit: number): void {
	const written = new Map(records as [string, LockRecord][]);
	const running = new Map<string, number>();
	for (const { key, job, runs } of wants) if (runs) running.set(key, job);
	for (const key of keys) {
		if (memory.recall("lock", key) !== undefined) continue;
		const record = written.get(key);
		if (record !== undefined) memory.remember("lock", key, { holders: holdersIn(record) });
		else if (running.has(key) || wants.length < limit) memory.remember("lock", key, running.get(key) ?? null);
	}
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
	yield* tx.load(first, { specs: true });
	yield* fetchLocks(tx, lockKeys(tx, first));
}
