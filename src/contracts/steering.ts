// Contract of what people do to jobs: end, run again, edit, reorder, hold, freeze, approve, answer.

import type { Granted } from "../core/agents/permissions/allowing.ts";
import type { JobInput } from "../core/job.ts";
import type { RunSignal } from "../core/runs/signals.ts";
import type { JobKey } from "../core/schema/job.ts";
import type { Act, JobView } from "./scheduler.ts";

/** `cancelled`: waited, and have ended. `requested`: run, and were asked to stop. `ended`: ended in another way meanwhile. `refused`: had ended before. */
export type CancelReport = {
	cancelled: number[];
	requested: number[];
	ended: number[];
	refused: RefusedJob[];
};

/** `left_blocked`: after `rerun`, jobs that stay blocked although their predecessor runs again; `retry` would have reset them, too. */
export type RewindReport = { reset: number[]; restarted: number[]; last_successful: number[]; left_blocked: number[] };
export type RewindAllReport = Omit<RewindReport, "last_successful" | "left_blocked"> & { skipped: { job: number; reason: string }[] };

/** `done`: the jobs that are held, released, frozen or thawed now. `refused`: jobs that cannot be; if the only job is refused, the call fails instead. */
export type HoldReport = { done: number[]; refused: RefusedJob[] };
type RefusedJob = { job: number; code: string; message: string };

/** `fields`: the job as input, as it is now; defaults are left out. */
export type EditResult = { job: JobView; changed: JobKey[]; fields: JobInput };

export interface Steering {
	cancel(id: number, options?: Act & { subtree?: boolean }): Promise<Pick<CancelReport, "cancelled" | "requested">>;
	/** Cancels several jobs: none of them starts once the first transaction is committed, however many there are. */
	cancelAll(ids: readonly number[], options?: Act & { subtree?: boolean }): Promise<CancelReport>;
	/** Rewinds this job and everything downstream of it. */
	retry(id: number, options?: Act): Promise<RewindReport>;
	/** Rewinds several jobs in one transaction. A job that cannot be rewound is skipped; the others are still rewound. */
	retryAll(ids: readonly number[], options?: Act): Promise<RewindAllReport>;
	/** Rewinds this job without its dependents, but with its children that its end had blocked. */
	rerun(id: number, options?: Act): Promise<RewindReport>;
	promote(id: number, options?: Act): Promise<void>;
	demote(id: number, options?: Act): Promise<void>;
	priority(id: number, priority: number, options?: Act): Promise<void>;
	runNow(id: number, options?: Act & { force?: boolean }): Promise<void>;
	/**
	 * Changes fields of a waiting job: `set` gives them new values, as in `add`, `unset` takes them away. It is refused for what `add` would refuse, and for the
	 * fields that say what the job is: item, source, parent, trigger, recipe, vars.
	 */
	edit(id: number, fields: { set?: JobInput; unset?: readonly string[] }, options?: Act): Promise<EditResult>;
	/** Keeps waiting jobs from starting until they are released. Nothing else releases them, not even `runNow`. A job that is held stays held as it is, unless a reason is given. */
	hold(ids: readonly number[], options?: Act): Promise<HoldReport>;
	release(ids: readonly number[], options?: Act): Promise<HoldReport>;
	/**
	 * Records that runs are frozen: their hosts stop all processes of them, and their time limits stand still, until `thaw`. Also across a restart of the daemon.
	 * A cancel of a frozen run works.
	 */
	freeze(ids: readonly number[], options?: Act): Promise<HoldReport>;
	thaw(ids: readonly number[], options?: Act): Promise<HoldReport>;
	/** Records that a signal was sent to a run. Only a run's host can send it. */
	signalled(run: { job: number; attempt: number }, signal: RunSignal, options?: Act): Promise<void>;
	approve(id: number, options?: Act): Promise<void>;
	reject(id: number, options?: Act): Promise<void>;
	/** `grant`: additional permissions of its runs, until the job is begun anew. */
	answer(id: number, text: string, options?: Act & { grant?: Granted }): Promise<void>;
	/** Tells a job's agent something, whether it waits or runs; `number` counts the texts of the job. Kept until a run has got it. */
	tell(id: number, text: string, options?: Act): Promise<{ number: number }>;
}
