// Wait queues of the locks that a transaction is about to release, read in one query before the first write. Each release then finds here which jobs to wake.
// Reading queue by queue would be slow: each read would first flush the changes so far. Valid for one transaction only.

import type { Job } from "../../core/job.ts";
import type { Parked } from "../../core/parked.ts";
import type { ReadyJob } from "../../core/planning/ready-rows.ts";

export type Waiter = { bucket: number; head: ReadyJob };

export class LockWaiters {
	/** Complete wait queues, each in dispatch order. */
	private readonly known = new Map<Parked, Waiter[]>();
	private readonly lineOf = new Map<number, Parked>();

	learn(line: Parked, waiters: readonly Waiter[]): void {
		this.known.set(
			line,
			[...waiters].sort(({ head: a }, { head: b }) => b.rank - a.rank || b.level - a.level || a.age_at - b.age_at || a.id - b.id),
		);
		for (const { head } of waiters) this.lineOf.set(head.id, line);
	}

	/** A job has changed: remove it from the queue it left, and forget the queue it is in now, since its position there may be another. */
	touched({ id, parked_on: line }: Job): void {
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

	/** The buckets that have waiters in this queue; undefined if the queue was not read. */
	buckets(line: Parked): number[] | undefined {
		const waiters = this.known.get(line);
		return waiters && [...new Set(waiters.map(({ bucket }) => bucket))].sort((a, b) => a - b);
	}

	/** All waiters of a bucket; undefined if the queue was not read. */
	all(line: Parked, bucket: number): ReadyJob[] | undefined {
		return this.known.get(line)?.flatMap((one) => (one.bucket === bucket ? [one.head] : []));
	}

	/** The first waiter of a bucket below a level; null if there is none, undefined if the queue was not read. */
	first(line: Parked, bucket: number, below?: { rank: number; level: number }): ReadyJob | null | undefined {
		const waiters = this.known.get(line);
		if (!waiters) return undefined;
		const isBelow = ({ rank, level }: ReadyJob) => !below || rank < below.rank || (rank === below.rank && level < below.level);
		return waiters.find((one) => one.bucket === bucket && isBelow(one.head))?.head ?? null;
	}
}
