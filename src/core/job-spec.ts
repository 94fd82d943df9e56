// The part of a job that only its host reads: what to run, where, and with what.

import type { JobInput } from "./job.ts";

/** Written once at `add`, handed to the host that runs the job; the scheduler itself never reads it on its hot path. */
export type JobSpec = Pick<
	JobInput,
	| "title"
	| "command"
	| "prompt"
	| "payload"
	| "base_branch"
	| "worktree"
	| "merge"
	| "no_merge"
	| "input_patch"
	| "cwd"
	| "env"
	| "model"
	| "permission"
	| "allow"
	| "expect"
	| "commit"
	| "args"
	| "vars"
	| "recipe"
	| "mode"
	| "owned"
	| "raw"
> & {
	version: 1;
	timeout_ms?: number;
	stall_timeout_ms?: number;
	enqueued_at: number;
	/** Its record cannot be read: why. The rest is empty then. */
	broken?: string;
	/** The payload's exact JSON, where the value `payload` is not the whole of it. */
	payload_json?: string;
	/** Came with a manifest under a name: a digest of what that said of it, by which a later `apply` sees whether it says something else. */
	applied?: string;
	/** As it was asked for; what it means is decided at `add`. */
	unique?: { key: string; window_ms?: number; policy: "skip" | "replace" | "error" };
};
