// Who waits for the locks that a transaction is about to give back: read for all of them together, before anything is written. Whom each release wakes
// is then found here; one by one each look would be a journey, and make the transaction write first what it has. Known for one transaction only.

import type { Job } from "../core/job.ts";
import type { Head } from "../core/plan.ts";

export type Waiter = { bucket: number; head: Head };

export class LockLines {
	/** Whole lines, each in its order. */
	private readonly known = new Map<string, Waiter[]>();
	private readonly lineOf = new Map<number, string>();

	learn(line: string, waiters: readonly Waiter[]): void {
		this.known.set(
			line,
			[...waiters].sort(({ head: a }, { head: b }) => b.rank - a.rank || b.level - a.level || a.age_at - b.age_at || a.id - b.id),
		);
		for (const { head } of waiters) this.lineOf.set(head.id, line);
	}

	/** It has changed: it may have left its line, or come into one, or have another place there. */
	touched({ id, line }: Job): void {
		if (this.known.size === 0) return;
		const was = this.lineOf.get(id);
		if (was !== undefined && was !== line) {
			const waiters = this.known.get(was) ?? [];
			const at = waiters.findIndex(({ head }) => head.id === id);
			if (at >= 0) waiters.splice(at, 1);
			this.lineOf.delete(id);
		}
		this.known.delete(line);
	}

	/** undefined: not known. */
	buckets(line: string): number[] | undefined {
		const waiters = this.known.get(line);
		return waiters && [...new Set(waiters.map(({ bucket }) => bucket))].sort((a, b) => a - b);
	}

	/** The first of a bucket, below a level; null: there is none. */
	first(line: string, bucket: number, below?: { rank: number; level: number }): Head | null | undefined {
		const waiters = this.known.get(line);
		if (!waiters) return undefined;
		const isBelow = ({ rank, level }: Head) => !below || rank < below.rank || (rank === below.rank && level < below.level);
		return waiters.find((one) => one.bucket === bucket && isBelow(one.head))?.head ?? null;
	}
}
