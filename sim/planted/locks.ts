// Planted bugs in locks, and in what a process remembers of the queue between its transactions.

import type { Op, Replies } from "../../src/contracts/store.ts";
import { obstacle } from "../../src/core/gates/locks.ts";
import { Memory } from "../../src/scheduler/transaction/cache.ts";
import type { Tx } from "../../src/scheduler/transaction/tx.ts";
import { releaseLocks, takeLocks } from "../../src/scheduler/waiting/locks.ts";
import { Window } from "../../src/scheduler/waiting/ready-queue.ts";
import { Worklist } from "../../src/scheduler/waiting/worklist.ts";
import { alwaysOp, type Bug, bugsOf, everywhere, hidden, method, skipped, skippedOp, within } from "./bug.ts";

export const LOCKS: Bug[] = [
	...bugsOf("a lock has one exclusive holder, or shared ones", {
		"an exclusive lock overlooks one other holder": everywhere(obstacle, (right) => (job, lock, state) => {
			const [first] = state.holders.filter((holder) => holder.job !== job.id);
			return right(job, lock, lock.mode === "exclusive" ? { ...state, holders: state.holders.filter((one) => one !== first) } : state);
		}),
		"locks are not taken at claim": everywhere(takeLocks, skippedOp),
		"a lock is released with all of its holders": within(
			releaseLocks,
			hidden<(tx: Tx, key: string) => Op<unknown[]>>("holdersOf"),
			alwaysOp([]),
		),
		"a run that holds a lock alone is not read back from the store": everywhere(
			hidden<(memory: Memory, keys: Iterable<string>, replies: Replies["locks"], limit: number) => void>("learnHolders"),
			(right) => (memory, keys, replies, limit) =>
				right(memory, keys, { ...replies, wants: replies.wants.map((want) => ({ ...want, runs: false })) }, limit),
		),
	}),

	...bugsOf("a released lock wakes a job that waits for it", {
		"the cache keeps the holder of a lock that was released": within(releaseLocks, method({ Memory }, "remember"), skipped),
		"no job is woken when a lock is free": within(releaseLocks, method({ Worklist }, "wake"), skipped),
	}),

	...bugsOf("the cache learns of jobs that another process added", {
		"the cache believes the wait queue of a new waiting job empty": within(
			method({ Memory }, "learn"),
			method({ Memory }, "joinWaitQueue"),
			skipped,
		),
		"the cache overlooks a new ready job": within(method({ Memory }, "learn"), method({ Window }, "enter"), skipped),
		"the cache forgets when a new job is due": everywhere(
			method({ Memory }, "learn"),
			(right) => (arrivals) => right({ ...arrivals, insert: arrivals.insert.map((row) => ({ ...row, due_at: null })) }),
		),
	}),
];
