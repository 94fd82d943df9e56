// The part of a job that only its host reads: what to run, where, and with what.

import type { SpecFields } from "./schema/job.ts";

/** Written once at `add` and passed to the host that runs the job; the scheduler never reads it on its hot path. */
export type JobSpec = SpecFields & {
	version: 1;
	payload?: unknown;
	timeout_ms?: number;
	stall_timeout_ms?: number;
	enqueued_at: number;
	/** Why the stored spec cannot be read; all other fields are empty then. */
	broken?: string;
	/** The payload's exact JSON, if the value `payload` cannot represent all of it. */
	payload_json?: string;
	/** For a named job of a manifest: a digest of its entry, by which a later `apply` detects changes. */
	applied?: string;
	/** As requested; `add` decides what it means. */
	unique?: { key: string; window_ms?: number; policy: "skip" | "replace" | "error" };
};
