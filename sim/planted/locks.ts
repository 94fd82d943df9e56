// Planted bugs in locks, and in what a process remembers of them between its transactions.

import type { Op, Replies } from "../../src/contracts/store.ts";
import { obstacle } from "../../src/core/gates/locks.ts";
import { Memory } from "../../src/scheduler/transaction/cache.ts";
import { Tx } from "../../src/scheduler/transaction/tx.ts";
import { releaseLocks, takeLocks } from "../../src/scheduler/waiting/locks.ts";
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
		"the holders of a lock are not read back from the store": everywhere(
			hidden<(memory: Memory, keys: Iterable<string>, records: Replies["locks"]["records"]) => void>("learnHolders"),
			(right) => (memory, keys) => right(memory, keys, []),
		),
	}),

	...bugsOf("a lock that no running job holds has no record", {
		"the record of a lock stays when its last holder ends": within(releaseLocks, method({ Tx }, "put"), skipped),
	}),

	...bugsOf("a released lock wakes a job that waits for it", {
		"the cache keeps the holder of a lock that was released": within(
			method({ Tx }, "put"),
			method({ Memory }, "remember"),
			(right) => (kind, key, value) => (kind === "lock" && value === null ? undefined : right(kind, key, value)),
		),
		"no job is woken when a lock is free": within(releaseLocks, method({ Worklist }, "wake"), skipped),
	}),
];
