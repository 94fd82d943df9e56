// What is to be known of locks, read for many jobs at once: where reads are journeys, one by one each would be one.

import { lockLine } from "../core/gates/locks.ts";
import type { Job } from "../core/job.ts";
import type { Head } from "../core/plan.ts";
import { ask, type Op } from "../store.ts";
import type { Waiter } from "./lock-lines.ts";
import type { Memory, Rivals } from "./memory.ts";
import type { Tx } from "./tx.ts";

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
	const records = new Map(found.records);
	for (const key of unknown) if (memory.recall("lock", key) === undefined) memory.remember("lock", key, records.get(key) ?? null);
	// Where the limit has cut something off, nothing is known of anybody.
	if (found.wants.length >= WANTING) return;
	for (const key of unknown) memory.rivals.set(key, { wants: new Set(), shares: false, exclusive: false, shared: false });
	for (const { key, job } of found.wants) memory.rivals.get(key)?.wants.add(job);
	for (const key of found.shared) (memory.rivals.get(key) as Rivals).shares = true;
	for (const line of found.lines) memory.joinLine(line);
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
