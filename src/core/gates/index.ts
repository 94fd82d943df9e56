// The gates, in order. The first refusal becomes a job's wait_reason. Dispatch and `why` both call this; there is no second implementation.

import type { Bucket } from "../bucket.ts";
import { isWaiting, type Job, type Waiting } from "../job.ts";
import type { LimitsView } from "../limits-view.ts";
import { BUCKET_GATE_NAMES, type BucketGateName, GATES, JOB_GATE_NAMES, type JobGateName, REASON_CODES, type Reason } from "../reason.ts";
import { after } from "./after.ts";
import { approval } from "./approval.ts";
import { artifacts } from "./artifacts.ts";
import { askBatch } from "./batch-hold.ts";
import { budget } from "./budget.ts";
import { capacity } from "./capacity.ts";
import { conditions } from "./conditions.ts";
import { deadline } from "./deadline.ts";
import type { BucketGate, FactGate, GateAnswer, JobFacts, JobGate, Verdict } from "./gate.ts";
import { head } from "./head.ts";
import { holds } from "./holds.ts";
import { host } from "./host.ts";
import { item } from "./item.ts";
import { locks } from "./locks.ts";
import { askPace } from "./pace.ts";
import { askSpawn } from "./spawn.ts";
import { time } from "./time.ts";

const BY_NAME: Record<JobGateName, JobGate> & Record<BucketGateName, BucketGate> = {
	time,
	deadline,
	after,
	artifacts,
	item,
	head,
	conditions,
	approval,
	locks,
	holds,
	budget,
	host,
	capacity,
};

/** Gates 1–9 decide about single jobs. A refusal parks the job where the event that frees it will find it. */
export const JOB_GATES: readonly JobGate[] = JOB_GATE_NAMES.map((name) => BY_NAME[name]);
/** The job gates that need facts. */
export const FACT_GATES: readonly FactGate[] = JOB_GATES.filter((gate) => "concerns" in gate);
/** Gates 10–13 decide about all jobs of a bucket. A refusal shuts the bucket; its jobs stay ready. */
export const BUCKET_GATES: readonly BucketGate[] = BUCKET_GATE_NAMES.map((name) => BY_NAME[name]);

/** Every observed fact that decides about this job. */
export function factKeys(job: Job): string[] {
	const keys: string[] = [];
	for (const gate of FACT_GATES) if (gate.concerns(job)) keys.push(...gate.factKeys(job));
	return keys;
}

export type Decision =
	| { kind: "ready" }
	| { kind: "park"; status: Waiting; line: string; gate: string; reason: Reason; until?: number }
	| { kind: "end"; verdict: Verdict };

/** Where a waiting job belongs now. A verdict of any gate comes first, because waiting longer cannot change it. */
export function decide(job: Job, facts: JobFacts, world: LimitsView): Decision {
	let first: GateAnswer | null = null;
	for (const gate of JOB_GATES) {
		const answer = gate.ask(job, facts);
		if (!answer) continue;
		if (answer.verdict) return { kind: "end", verdict: answer.verdict };
		first ??= answer;
	}
	first ??= askBatch(job, world);
	if (!first) return { kind: "ready" };
	const reason = first.reasons[0] as Reason;
	const park = { kind: "park", status: REASON_CODES[reason.code], line: first.line ?? "fact", gate: reason.gate, reason } as const;
	return first.until === undefined ? park : { ...park, until: first.until };
}

/** The first reason why a bucket's jobs may not start now, or null. */
export function shut(bucket: Bucket, world: LimitsView): Reason | null {
	for (const gate of BUCKET_GATES) {
		const reasons = gate.ask(bucket, world);
		if (reasons) return reasons[0] as Reason;
	}
	return null;
}

/** All bucket gates but capacity, which only means that the job's turn has not come. */
const HOLDING_GATES = BUCKET_GATES.filter(({ name }) => name !== "capacity");

/** What holds a bucket's jobs besides their turn: the first refusal that more free slots would not lift. */
export function heldBy(bucket: Bucket, world: LimitsView): Reason | null {
	for (const gate of HOLDING_GATES) {
		const reasons = gate.ask(bucket, world);
		if (reasons) return reasons[0] as Reason;
	}
	return null;
}

/** All reasons why a waiting job has not started. */
export function allReasons(job: Job, bucket: Bucket, facts: JobFacts, world: LimitsView): Reason[] {
	if (!isWaiting(job.status)) return [];
	const reasons: Reason[] = [];
	for (const gate of JOB_GATES) reasons.push(...(gate.ask(job, facts)?.reasons ?? []));
	reasons.push(...(askBatch(job, world)?.reasons ?? []));
	for (const gate of BUCKET_GATES) reasons.push(...(gate.ask(bucket, world) ?? []));
	if (bucket.kind !== "kernel") reasons.push(...(askPace(world) ?? []));
	reasons.push(...(askSpawn(job, facts.now) ?? []));
	return reasons.sort((a, b) => GATES.indexOf(a.gate) - GATES.indexOf(b.gate));
}
