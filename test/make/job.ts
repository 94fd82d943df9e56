// A job, and what the gates see of it: makers for tests. Each gives the plainest one, but for what it is given.

import type { JobFacts } from "../../src/core/gates/gate.ts";
import type { Job } from "../../src/core/job.ts";

/** A queued command that nothing holds back. */
export const makeJob = (more: Partial<Job> = {}): Job => ({
	id: 1,
	status: "queued",
	kind: "command",
	lane: "default",
	trigger: "manual",
	priority: 0,
	created_at: 0,
	runnable_at: 0,
	attempt: 0,
	parked_on: "",
	bucket: 1,
	...more,
});

/** A command in its first attempt, on host `h1`. */
export const makeRunningJob = (more: Partial<Job> = {}): Job =>
	makeJob({
		status: "running",
		attempt: 1,
		parked_on: "run",
		run: { attempt: 1, token: 1, host: "h1", worker: "w", started_at: 0 },
		...more,
	});

/** No predecessors, artifacts or conditions; every lock is free; it is time 0. */
export const makeFacts = (more: Partial<JobFacts> = {}): JobFacts => ({
	now: 0,
	after: [],
	artifacts: [],
	conditions: [],
	lock: () => ({ holders: [] }),
	...more,
});
