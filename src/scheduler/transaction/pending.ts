// An operation that waits for its turn in the engine: its task, what the task will read, and how it may be served.

import type { Intent, Op } from "../../contracts/store.ts";
import type { Tx } from "./tx.ts";

export type Task<T> = (tx: Tx) => Op<T>;

/** The operation of a task that needs no read: its answer is known at once. */
export function* answer<T>(value: T): Op<T> {
	yield* [];
	return value;
}
export type Pending = {
	task: Task<unknown>;
	by: string | undefined;
	/** Jobs that the task will read: loaded together with those of the other tasks of the group. */
	jobs: readonly number[];
	/** Locks of the jobs that the task adds: loaded together, like `jobs`. */
	locks: readonly string[];
	/**
	 * Prefetches what the task will read, before anything is changed. Used on remote stores: a read after a change can force the transaction to write first,
	 * which costs another round trip.
	 */
	ahead: Ahead | undefined;
	/**
	 * Ends of runs come one after the other, so that their dependents are re-evaluated once for all of them. Claims come last, so that they see what the other
	 * operations changed.
	 */
	phase: GroupPhase;
	intent: Intent;
	/** The task only reads: it may see the state of the last commit, without timers that have fallen due since. */
	reads: boolean;
	resolve: (value: unknown) => void;
	reject: (error: unknown) => void;
};
export type GroupPhase = "any" | "end" | "claim";
export type RunOptions = {
	by?: string | undefined;
	jobs?: readonly number[];
	locks?: readonly string[];
	ahead?: Ahead;
	phase?: GroupPhase;
	intent?: Intent;
	reads?: boolean;
};
/** `skip`: neither sweep nor continuations nor cycles are run, so that nothing has to be written. */
export type Upkeep = "do" | "skip";
/** `leaving`: how many runs end in the same transaction. */
type Ahead = (tx: Tx, leaving: number) => Op<void>;
export const PHASES: readonly GroupPhase[] = ["any", "end", "claim"];

export const endsIn = (group: readonly Pending[]): number => group.reduce((sum, { phase }) => sum + (phase === "end" ? 1 : 0), 0);

export function jobsOf(group: readonly Pending[]): number[] {
	const jobs: number[] = [];
	for (const one of group) jobs.push(...one.jobs);
	return jobs;
}
