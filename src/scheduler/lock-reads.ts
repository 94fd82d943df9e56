// What is to be known of locks, read for many jobs at once: where reads are journeys, one by one each would be one.

import { lockLine } from "../core/gates/locks.ts";
import type { Job, Lock } from "../core/job.ts";
import type { Head } from "../core/plan.ts";
import { ask, type Op, type Replies } from "../store.ts";
import type { Waiter } from "./lock-lines.ts";
import type { Memory, Rivals } from "./memory.ts";
import type { Tx } from "./tx.ts";

/**
 * Who holds a lock: the job that has it alone, by its number, while nobody else was ready to take it; or all, with their modes. The former is known from the
 * job itself, which runs and wants the lock: only the latter is written.
 */
export type LockRecord = number | { holders: Holders };
export type Holders = readonly (readonly [number, Lock["mode"]])[];

const NOBODY: Holders = [];

export function holdersIn(record: LockRecord | null): Holders {
	if (record === null) return NOBODY;
	return typeof record === "number" ? [[record, "exclusive"]] : record.holders;
}

/** Jobs that want one of several keys: looked up together up to so many. */
const WANTING = 2000;
/** Those that wait in a line, on average: where there are more, only the first is looked for, as it is needed. */
const WAITING = 32;
const MODES = ["exclusive", "shared"] as const;

/** Whether taking and giving back its locks needs no more reads, unless somebody waits for them. */
export const hasLocksAtHand = ({ memory }: Tx, job: Job): boolean => (job.locks ?? []).every(({ key }) => isKnown(memory, key));

const isKnown = (memory: Memory, key: string): boolean => memory.rivals.has(key) && memory.recall("lock", key) !== undefined;

export const lockKeys = (tx: Tx, ids: readonly number[]): string[] => ids.flatMap((id) => tx.peek(id)?.locks?.map(({ key }) => key) ?? []);

/** Who holds, wants and awaits several locks, in one read: one by one each would be a journey to a store behind a network. */
export function* fetchLocks(tx: Tx, keys: readonly string[]): Op<void> {
	const { memory } = tx;
	const unknown = new Set<string>();
	for (const key of keys) if (!isKnown(memory, key)) unknown.add(key);
	if (unknown.size === 0) return;
	const lines: string[] = [];
	for (const key of unknown) lines.push(lockLine(key, "exclusive"), lockLine(key, "shared"));
	const found = yield* ask({ read: "locks", keys: [...unknown], lines, limit: WANTING });
	learnHolders(memory, unknown, found, WANTING);
	// Where the limit has cut something off, nothing is known of anybody.
	if (found.wants.length >= WANTING) return;
	for (const key of unknown) memory.rivals.set(key, { wants: new Set(), shares: false, exclusive: false, shared: false });
	for (const { key, job } of found.wants) memory.rivals.get(key)?.wants.add(job);
	for (const key of found.shared) (memory.rivals.get(key) as Rivals).shares = true;
	for (const line of found.lines) memory.joinLine(line);
}

/** Who holds several locks. */
export function* fetchHolders(tx: Tx, keys: readonly string[]): Op<void> {
	const isOpen = (key: string) => tx.memory.recall("lock", key) === undefined;
	if (!keys.some(isOpen)) return;
	yield* fetchLocks(tx, keys.filter(isOpen));
	// One by one, two that want it are enough: of several who are ready for a lock none has it, unless its record says so.
	for (const key of keys)
		if (isOpen(key)) learnHolders(tx.memory, [key], yield* ask({ read: "locks", keys: [key], lines: [], limit: 2 }), 3);
}

/** As their records say; without one, whoever wants it and runs. Of those that the limit may have cut off nothing is known. */
function learnHolders(memory: Memory, keys: Iterable<string>, { records, wants }: Replies["locks"], limit: number): void {
	const written = new Map(records as [string, LockRecord][]);
	const running = new Map<string, number>();
	for (const { key, job, runs } of wants) if (runs) running.set(key, job);
	for (const key of keys) {
		if (memory.recall("lock", key) !== undefined) continue;
		const record = written.get(key);
		if (record !== undefined) memory.remember("lock", key, { holders: holdersIn(record) } satisfies LockRecord);
		else if (running.has(key) || wants.length < limit) memory.remember("lock", key, running.get(key) ?? null);
	}
}

/** For jobs whose runs end: the lines of their locks, where somebody may wait, and the documents of those who come first. */
export function* fetchWaiters(tx: Tx, ending: readonly number[]): Op<void> {
	const lines = new Set<string>();
	for (const key of lockKeys(tx, ending)) for (const mode of MODES) if (tx.memory.rivals.get(key)?.[mode]) lines.add(lockLine(key, mode));
	if (lines.size === 0) return;
	const limit = WAITING * lines.size;
	const rows = yield* ask({ read: "waiters", lines: [...lines], limit });
	if (rows.length >= limit) return;
	const waiters = new Map<string, Waiter[]>([...lines].map((line) => [line, []]));
	for (const { line, bucket, head } of rows) waiters.get(line)?.push({ bucket, head });
	const first: number[] = [];
	for (const [line, all] of waiters) {
		tx.lines.learn(line, all);
		for (const bucket of tx.lines.buckets(line) ?? []) first.push((tx.lines.first(line, bucket) as Head).id);
	}
	yield* tx.load(first, { specs: true });
	yield* fetchLocks(tx, lockKeys(tx, first));
}
