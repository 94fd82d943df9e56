// Back-off: how long a job waits before its next run.

import { type Config, laneOf } from "../config.ts";
import type { Job, RetryPolicy } from "../job.ts";

/** The job's own policy, else its lane's, else the one for its kind. */
export function policyOf(job: Job, config: Config): RetryPolicy {
	return job.retry ?? laneOf(config, job.lane).retry ?? (job.kind === "agent" ? config.agent_retry : config.retry);
}

/** Exit kinds of a final failure: they counted against the job, and no retry followed. */
const LAST_FAILURES: readonly (string | null | undefined)[] = ["failed", "crashed", "timeout", "stalled", "lost"];

/** Retries that a job has had or is waiting for. The failure that ended the job was not followed by one, so it does not count. */
export function retriesUsed({ status, exit_kind, end_reason, failures }: Tried): number {
	const isLast =
		status === "failed" && (LAST_FAILURES.includes(exit_kind) || (exit_kind === "launch_failed" && end_reason !== "circuit-broken"));
	return Math.max(0, (failures ?? 0) - (isLast ? 1 : 0));
}
type Tried = { status: string; exit_kind?: string | null; end_reason?: string | null; failures?: number };

/** Delay before retry n (1, 2, …): base × factorⁿ⁻¹, ± jitter, never over the cap. `chance` is in [0, 1). */
export function retryDelayMs(policy: RetryPolicy, n: number, chance: number): number {
	// Limits the factor before multiplying: Infinity × 0 would be NaN.
	const plain = Math.min(policy.base_ms * Math.min(policy.factor ** (n - 1), Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
	const jittered = plain * (1 + policy.jitter * (2 * chance - 1));
	return Math.round(Math.min(policy.cap_ms, jittered));
}

/** Delay after the nth consecutive dispatch failure; an hour at most. */
export const dispatchDelayMs = (config: Config, n: number): number =>
	Math.min(3_600_000, config.dispatch_backoff_ms * 2 ** Math.min(n - 1, 30));

/** How long an account is held after its nth consecutive limit if the provider named no reset time. */
export const limitDelayMs = (hits: number, retryAfterMs: number | undefined): number =>
	Math.max(retryAfterMs ?? 0, 1000 * 2 ** Math.min(hits, 6));
