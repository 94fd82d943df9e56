// Contract of adding jobs: what is given to `add` and `apply`, what they answer, and what is said of jobs that are made of items.

import type { JobInput } from "./core/job.ts";
import type { Act, JobView } from "./scheduler.ts";

export type AddResult =
	| { outcome: "queued"; job: JobView; position: number | null; warning?: string }
	| { outcome: "already_running"; job: number; holder: number }
	| ({ outcome: "deferred" } & Deferred)
	| { outcome: "duplicate"; job: number };

/** One job for each entry: the table in core/manifest.ts says what `${…}` in its text becomes. */
export type ForEach = unknown[] | Record<string, unknown>;
export type Manifest = { defaults?: JobInput; jobs: (JobInput & { for_each?: ForEach })[]; batch?: string };
/** `deferred`: the hard limit kept some items out, which are among the skipped with that reason and job 0. */
export type ApplyResult = {
	jobs: number[];
	names: Record<string, number>;
	/** `exists`: open, as the manifest says; `ended`; `running`: the manifest says something else now, but it runs; `already_running`, `duplicate`: by item, by unique key. */
	skipped: { name: string; job: number; reason: string }[];
	deferred?: Deferred;
	/** With `update`: waiting jobs that are now as the manifest says. */
	updated?: { name: string; job: number }[];
	/** With `check`: what `apply` would refuse it for, since jobs have its names already. */
	refusal?: { message: string; hint: string | null };
	/** With `update`, for a manifest with a `batch`: open jobs of the batch that the manifest does not name. They are left as they are. */
	not_named?: { name: string | null; job: number }[];
};
/** `update`: waiting jobs are changed to what the manifest says now. `again`: all of it has ended and runs anew. `env`: variables of the caller, below those of each job. */
export type ApplyOptions = Act & {
	force?: boolean;
	check?: boolean;
	update?: boolean;
	again?: boolean;
	env?: Record<string, string>;
	items?: OfItems;
};

/** The hard limit of the queue, how deep each lane is, and what can be done about it. */
export type Deferred = { limit: number; depths: Record<string, number>; hint: string };

/**
 * The jobs are made of items of a source. `limit`: whether the hard limit of the queue holds for them; `as_configured` = as `queue.limit_items` says.
 * `flows` are the lanes that the items ask for: they need no configuration where `flow_max` gives them a cap.
 */
export type OfItems = { flows: readonly string[]; limit: "always" | "as_configured" | "never" };
