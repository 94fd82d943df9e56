// The gates of jobs, in order.

import type { Job } from "../job.ts";
import { BUCKET_GATE_NAMES, type BucketGateName, JOB_GATE_NAMES, type JobGateName } from "../reason.ts";
import { after } from "./after.ts";
import { approval } from "./approval.ts";
import { artifacts } from "./artifacts.ts";
import { budget } from "./buckets/budget.ts";
import { capacity } from "./buckets/capacity.ts";
import { holds } from "./buckets/holds.ts";
import { host } from "./buckets/host.ts";
import { review } from "./buckets/review.ts";
import { conditions } from "./conditions.ts";
import { deadline } from "./deadline.ts";
import type { BucketGate, FactGate, JobGate } from "./gate.ts";
import { head } from "./head.ts";
import { held } from "./held.ts";
import { item } from "./item.ts";
import { locks } from "./locks.ts";
import { time } from "./time.ts";

const BY_NAME: Record<JobGateName, JobGate> & Record<BucketGateName, BucketGate> = {
	time,
	deadline,
	held,
	after,
	artifacts,
	item,
	head,
	conditions,
	approval,
	locks,
	holds,
	review,
	budget,
	host,
	capacity,
};

/** Decide about single jobs: a refusal parks the job where the event that frees it will find it. */
export const JOB_GATES: readonly JobGate[] = JOB_GATE_NAMES.map((name) => BY_NAME[name]);
/** The job gates that need facts. */
export const FACT_GATES: readonly FactGate[] = JOB_GATES.filter((gate) => "concerns" in gate);
/** Decide about all jobs of a bucket: a refusal shuts the bucket; its jobs stay ready. */
export const BUCKET_GATES: readonly BucketGate[] = BUCKET_GATE_NAMES.map((name) => BY_NAME[name]);

/** Every observed fact that decides about this job. */
export function factKeys(job: Job): string[] {
	const keys: string[] = [];
	for (const gate of FACT_GATES) if (gate.concerns(job)) keys.push(...gate.factKeys(job));
	return keys;
}
