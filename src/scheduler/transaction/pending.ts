// An operation that waits for its turn in the engine: its task, what the task will read, and how it may be served.

import type { Intent, Op } from "../../contracts/store.ts";
import type { Tx } from "./tx.ts";

export type Task<T> = (tx: Tx) => Op<T>;

/** The operation of a task that needs no read: its answer is known at once. */
export function* answer<T>(value: T): Op<T> {
	yield* [];
	return value;
}

/** The task of a read that needs only what is in memory. */
export const reading =
	<T>(read: (tx: Tx) => T): Task<T> =>
	(tx) =>
		answer(read(tx));

/** How an operation ended: with a value, or with an error that refused it. */
export type Settlement = { value: unknown } | { error: unknown };

export type Pending = {
	task: Task<unknown>;
	by: string | undefined;
	/** Jobs that the task will read: loaded together with those of the other tasks of the group. */
	jobs: readonly number[];
	/** Locks of the jobs that the task adds: loaded together, like `jobs`. A function is called once for each attempt to run the group. */
	locks: readonly string[] | (() => readonly string[]);
	/**
	 * Ends of runs come one after the other, so that their dependents are re-evaluated once for all of them. Claims come last, so that they see what the other
	 * operations changed.
	 */
	phase: GroupPhase;
	intent: Intent;
	/** The task only reads: it may see the state of the last commit, without timers that have fallen due since. */
	reads: boolean;
	/**
	 * Called in the transaction that the task was run in, before it is committed: a commit that fails voids the call, and the task is run and reported again. The
	 * value may be completed until the commit (`Tx.answerLater`).
	 */
	settled: ((outcome: Settlement) => void) | undefined;
	resolve: (value: unknown) => void;
	reject: (error: unknown) => void;
};
export type GroupPhase = "any" | "end" | "claim";
export type RunOptions = {
	by?: string | undefined;
	jobs?: readonly number[] | undefined;
	locks?: Pending["locks"] | undefined;
	phase?: GroupPhase | undefined;
	intent?: Intent;
	reads?: boolean;
	settled?: Pending["settled"];
};
/** `skip`: neither sweep nor continuations nor cycles are run, so that nothing has to be written. */
export type Upkeep = "do" | "skip";
export const PHASES: readonly GroupPhase[] = ["any", "end", "claim"];

export function jobsOf(group: readonly Pending[]): number[] {
	const jobs: number[] = [];
	for (const one of group) jobs.push(...one.jobs);
	return jobs;
}

export const locksOf = (group: readonly Pending[]): string[] =>
	group.flatMap(({ locks }) => (typeof locks === "function" ? locks() : locks));
