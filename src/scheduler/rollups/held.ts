// What held each bucket of ready jobs, and since when: by this the wait of a ready job is split among its causes. Belongs to the engine and survives the cache.
// Only an estimate: changes within a second are not told apart, and after a start of the process what holds a bucket then counts for all of the time before.

import { shut } from "../../core/gates/index.ts";
import { queuePolicy } from "../../core/queue-policy.ts";
import { worldOf } from "../transaction/limits-view.ts";
import type { Tx } from "../transaction/tx.ts";

/** The gates are asked about all buckets at most this often. */
const EVERY_MS = 1000;
/** Most changes that are kept of a bucket; of more, the oldest are forgotten. */
const KEPT_CHANGES = 16;
/** Nothing held it: other jobs came first. */
export const TURN = "turn";

/** Milliseconds by code of reason. */
export type Waits = Record<string, number>;

export function add(waits: Waits, code: string, ms: number): void {
	waits[code] = (waits[code] ?? 0) + ms;
}

type Change = [since: number, code: string];

export class HeldBuckets {
	private readonly changes = new Map<number, Change[]>();
	private notedAt = Number.NEGATIVE_INFINITY;
	/** The time of the last transaction: what it left held the buckets until now. */
	private leftAt = Number.NEGATIVE_INFINITY;

	/** Call it at the beginning of a transaction, before anything changes. */
	note(tx: Tx): void {
		const { memory, now, config } = tx;
		const left = this.leftAt;
		this.leftAt = now;
		// The clock was set back.
		if (now < this.notedAt) this.notedAt = Number.NEGATIVE_INFINITY;
		if (memory.ready === 0 || now - this.notedAt < EVERY_MS) return;
		this.notedAt = now;
		const at = Number.isFinite(left) && left <= now ? left : now;
		const limits = worldOf({ memory, now: at, config, pace: tx.getPace(), host: undefined });
		for (const bucket of memory.buckets.values()) {
			if (bucket.ready === 0 || bucket.stage !== undefined || !queuePolicy(bucket.kind).isCounted) continue;
			this.change(bucket.id, at, shut(bucket, limits)?.code ?? TURN);
		}
		if (this.changes.size > 2 * memory.buckets.size + KEPT_CHANGES)
			for (const id of this.changes.keys()) if (!memory.buckets.has(id)) this.changes.delete(id);
	}

	private change(bucket: number, at: number, code: string): void {
		const known = this.changes.get(bucket);
		if (!known) this.changes.set(bucket, [[at, code]]);
		else if (known.at(-1)?.[1] !== code) {
			known.push([at, code]);
			if (known.length > KEPT_CHANGES) known.shift();
		}
	}

	/** Adds the time from `from` to `to` to `waits`, by what held the bucket. The first known cause counts for the time before it. */
	charge(waits: Waits, bucket: number, from: number, to: number): void {
		const known = this.changes.get(bucket);
		const last = known?.[known.length - 1];
		if (!known || !last) add(waits, TURN, to - from);
		else if (known.length === 1 || last[0] <= from) add(waits, last[1], to - from);
		else
			for (const [index, [since, code]] of known.entries()) {
				const begin = index === 0 ? from : Math.max(from, Math.min(since, to));
				const end = Math.max(from, Math.min(known[index + 1]?.[0] ?? to, to));
				if (end > begin) add(waits, code, end - begin);
			}
	}
}
