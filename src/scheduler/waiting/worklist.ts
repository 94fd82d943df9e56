// The worklist of one transaction: what has to be looked at again because something changed. An operation places its own job and enqueues the rest; a rule
// that handles an item does the same. No rule calls another one: the loop in drain.ts takes item by item until the list is empty.
//
//   item         what is done                                            enqueued when                                             may enqueue
//   pass_on      reserves a lock for the next overdue waiter             its reservation ended, or a run that shared it            evict
//   evict        parks the ready jobs that can no longer take a lock     a job took or reserved it                                 evict, *
//   wake         makes the waiters ready that could take a lock now      it was released, a ready job that wanted it left, or      evict, *
//                                                                        its reservation or the order of its waiters changed
//   reevaluate   asks a waiting job's gates again                        an operation or a fact changed what they look at          *
//   dependents   counts edges down, ends jobs that can never start       a job ended                                               reevaluate, *
//   close        appends `batch_closed`                                  a batch has no open job                                   –
//
//   *  placing or ending a job (park.ts): wake for the locks of a ready job that leaves its place, pass_on and wake for the reservations that it gives up,
//      dependents and close for a job that ends
//
// The items are taken in the order of the table: locks first, so that a job is asked about when its locks have found their next holders, and the dependents
// of several ended jobs together. `close` waits for the end of the transaction: until then an operation may add jobs to the batch. A second item for the same
// lock or job adds nothing. What does not fit into one transaction becomes a durable continuation (continuation.ts).

import type { Job, LockMode } from "../../core/job.ts";

export type WorkItem =
	| { do: "pass_on"; key: string; overdue: readonly number[] }
	| { do: "evict"; key: string; mode: LockMode }
	| { do: "wake"; key: string }
	| { do: "reevaluate"; job: Job }
	| { do: "dependents"; ended: readonly Job[] };

/** Ended jobs whose dependents are read together. */
const ENDED_BATCH = 200;

export class Worklist {
	private readonly passing: { key: string; overdue: readonly number[] }[] = [];
	private readonly evictions = new Map<string, LockMode>();
	private readonly wakes = new Set<string>();
	private readonly jobs = new Set<Job>();
	private readonly ended: Job[] = [];
	/** Ids of ended jobs whose dependents have not been told. To those dependents the job still counts as running. */
	readonly untold = new Set<number>();
	/** Batches whose last open job ended. `closeBatches` takes them at the end of the transaction. */
	readonly closing = new Set<string>();

	/** Nothing is left for `drain`. */
	get isEmpty(): boolean {
		return (
			this.ended.length === 0 && this.jobs.size === 0 && this.wakes.size === 0 && this.evictions.size === 0 && this.passing.length === 0
		);
	}

	/** How many jobs are to be asked about again. */
	get jobCount(): number {
		return this.jobs.size;
	}

	/** `overdue`: the jobs that were queued to reserve the lock, oldest first. */
	passOn(key: string, overdue: readonly number[]): void {
		if (overdue.length > 0) this.passing.push({ key, overdue });
	}

	evict(key: string, mode: LockMode): void {
		if (this.evictions.get(key) !== "exclusive") this.evictions.set(key, mode);
	}

	wake(key: string): void {
		this.wakes.add(key);
	}

	reevaluate(job: Job): void {
		this.jobs.add(job);
	}

	tellDependents(job: Job): void {
		this.ended.push(job);
		this.untold.add(job.id);
	}

	close(batch: string): void {
		this.closing.add(batch);
	}

	/** Takes the next item off the list. */
	next(): WorkItem | undefined {
		const passing = this.passing.shift();
		if (passing) return { do: "pass_on", ...passing };
		for (const [key, mode] of this.evictions) {
			this.evictions.delete(key);
			return { do: "evict", key, mode };
		}
		for (const key of this.wakes) {
			this.wakes.delete(key);
			return { do: "wake", key };
		}
		for (const job of this.jobs) {
			this.jobs.delete(job);
			return { do: "reevaluate", job };
		}
		return this.ended.length > 0 ? { do: "dependents", ended: this.ended.splice(0, ENDED_BATCH) } : undefined;
	}
}
