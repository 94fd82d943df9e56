// Contract of adding jobs: the input and the results of `add` and `apply`, and options for jobs that are made of items.

import type { JobInput } from "../core/job.ts";
import type { RunBounds } from "../core/trust/run-bounds.ts";
import type { Act, JobView } from "./scheduler.ts";

export type AddResult =
	| { outcome: "queued"; job: JobView; position: number | null; warning?: string }
	| { outcome: "already_running"; job: number; holder: number }
	| ({ outcome: "deferred" } & Deferred)
	| { outcome: "duplicate"; job: number };

/** Makes one job for each entry; the table in core/input/manifest.ts says what `${…}` in its text becomes. */
export type ForEach = unknown[] | Record<string, unknown>;
export type Manifest = { defaults?: JobInput; jobs: (JobInput & { for_each?: ForEach })[]; batch?: string };
/** `deferred`: the queue's hard limit kept some items out; they are among the skipped with that reason and job 0. */
export type ApplyResult = {
	jobs: number[];
	names: Record<string, number>;
	/**
	 * Reasons: `exists`: the job is open and as the manifest says; `ended`; `running`: the manifest now says something else, but the job runs; `already_running`,
	 * `duplicate`: another job has its item or unique key.
	 */
	skipped: { name: string; job: number; reason: string }[];
	deferred?: Deferred;
	/** Priorities that were lowered, for jobs that a run adds. */
	warnings?: string[];
	/** With `update`: the waiting jobs that were changed to what the manifest says. */
	updated?: { name: string; job: number }[];
	/** With `check`: why `apply` would refuse the manifest because jobs already have its names. */
	refusal?: { message: string; hint: string | null };
	/** With `update`, for a manifest with a `batch`: open jobs of the batch that the manifest does not name. They are left as they are. */
	not_named?: { name: string | null; job: number }[];
};
/**
 * `update`: changes waiting jobs to what the manifest says now. `again`: all its jobs have ended and are added anew. `env`: variables of the caller; those of
 * each job win. `within`: the run that adds the jobs; it bounds them.
 */
export type ApplyOptions = Act & {
	force?: boolean;
	check?: boolean;
	update?: boolean;
	again?: boolean;
	env?: Record<string, string>;
	items?: OfItems;
	within?: RunBounds;
};

/** The queue's hard limit, the number of waiting jobs in each lane, and what the caller can do. */
export type Deferred = { limit: number; depths: Record<string, number>; hint: string };

/**
 * The jobs are made of items of a source. `limit`: whether the queue's hard limit applies to them; `as_configured`: as `queue.limit_items` says. `flows`: the
 * lanes that the items ask for; they need no configuration if `flow_max` gives them a cap.
 */
export type OfItems = { flows: readonly string[]; limit: "always" | "as_configured" | "never" };
