// How long to wait before a job runs again, and whether it does.

import { laneOf } from "../../src/core/config.ts";
import type { RetryPolicy } from "../../src/core/job.ts";
import type { ModelJob, State } from "./state.ts";

export function policyOf(state: State, job: ModelJob): RetryPolicy {
	const fallback = job.kind === "agent" ? state.config.agent_retry : state.config.retry;
	return job.retry ?? laneOf(state.config, job.lane).retry ?? fallback;
}

/** The shortest and the longest wait that jitter allows before retry n. */
export function retryWindow(policy: RetryPolicy, n: number): { least: number; most: number } {
	const middle = policy.base_ms * policy.factor ** (n - 1);
	return {
		least: Math.min(policy.cap_ms, Math.floor(middle * (1 - policy.jitter))),
		most: Math.min(policy.cap_ms, Math.ceil(middle * (1 + policy.jitter))),
	};
}
