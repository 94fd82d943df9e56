// What waits for its turn in the engine: a task, what it will want, and how it may be served.

import type { Intent, Op } from "../store.ts";
import type { Tx } from "./tx.ts";

export type Task<T> = (tx: Tx) => Op<T>;
export type Pending = {
	task: Task<unknown>;
	by: string | undefined;
	/** Jobs that it will look at, to be fetched together with those of the others. */
	jobs: readonly number[];
	/** Locks of those that it adds, likewise. */
	locks: readonly string[];
	/** Reads what it will want, before anything is changed: where reads are journeys, later each would make the transaction write first what it has. */
	ahead: Ahead | undefined;
	/** Ends of runs come together, so that their dependents hear of all of them at once; claims come last, so that they see what the others brought. */
	phase: Phase;
	intent: Intent;
	/** Only reads: may be answered as of the last commit, without what has fallen due since. */
	reads: boolean;
	resolve: (value: unknown) => void;
	reject: (error: unknown) => void;
};
export type Phase = "any" | "end" | "claim";
export type RunOptions = {
	by?: string | undefined;
	jobs?: readonly number[];
	locks?: readonly string[];
	ahead?: Ahead;
	phase?: Phase;
	intent?: Intent;
	reads?: boolean;
};
/** `skip`: nothing that has fallen due is swept or settled, so that nothing has to be written. */
export type Upkeep = "do" | "skip";
/** `leaving`: how many runs end in the same transaction. */
export type Ahead = (tx: Tx, leaving: number) => Op<void>;
export const PHASES: readonly Phase[] = ["any", "end", "claim"];

export const endsIn = (group: readonly Pending[]): number => group.reduce((sum, { phase }) => sum + (phase === "end" ? 1 : 0), 0);

export function jobsOf(group: readonly Pending[]): number[] {
	const jobs: number[] = [];
	for (const one of group) jobs.push(...one.jobs);
	return jobs;
}
