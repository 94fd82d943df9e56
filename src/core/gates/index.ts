// Asks the gates of a job's queue (queue-policy.ts) in order. The first refusal becomes the job's wait_reason. Dispatch and `why` both call this; there is no
// second implementation.

import type { Bucket } from "../bucket.ts";
import { nth } from "../errors.ts";
import { isWaiting, type Job, type Waiting } from "../job.ts";
import type { LimitsView } from "../limits-view.ts";
import type { Parked } from "../parked.ts";
import { queuePolicy } from "../queue-policy.ts";
import { GATES, REASON_CODES, type Reason } from "../reason.ts";
import { askBatch } from "./buckets/batch-hold.ts";
import { askPace } from "./buckets/pace.ts";
import type { GateAnswer, JobFacts, Verdict } from "./gate.ts";
import { askSpawn } from "./spawn.ts";

export type Decision =
	| { kind: "ready" }
	| { kind: "park"; status: Waiting; parked_on: Parked; gate: string; reason: Reason; until?: number }
	| { kind: "end"; verdict: Verdict };

/** Where a waiting job belongs now. A verdict of any gate comes first, because waiting longer cannot change it. */
export function decide(job: Job, facts: JobFacts, world: LimitsView): Decision {
	let first: GateAnswer | null = null;
	for (const gate of queuePolicy(job.kind).jobGates) {
		const answer = gate.ask(job, facts);
		if (!answer) continue;
		if (answer.verdict) return { kind: "end", verdict: answer.verdict };
		first ??= answer;
	}
	first ??= askBatch(job, world);
	if (!first) return { kind: "ready" };
	const reason = nth(first.reasons, 0);
	const park = {
		kind: "park",
		status: REASON_CODES[reason.code],
		parked_on: first.parked_on ?? "fact",
		gate: reason.gate,
		reason,
	} as const;
	return first.until === undefined ? park : { ...park, until: first.until };
}

/** The first reason why a bucket's jobs may not start now, or null. */
export function shut(bucket: Bucket, world: LimitsView): Reason | null {
	for (const gate of queuePolicy(bucket.kind).bucketGates) {
		const reasons = gate.ask(bucket, world);
		if (reasons) return nth(reasons, 0);
	}
	return null;
}

/** What holds a bucket's jobs besides their turn: the first refusal that more free slots would not lift. */
export function heldBy(bucket: Bucket, world: LimitsView): Reason | null {
	for (const gate of queuePolicy(bucket.kind).bucketGates) {
		// A cap that is full only means that the job's turn has not come.
		const reasons = gate.name === "capacity" ? null : gate.ask(bucket, world);
		if (reasons) return nth(reasons, 0);
	}
	return null;
}

/** All reasons why a waiting job has not started. */
export function allReasons(job: Job, bucket: Bucket, facts: JobFacts, world: LimitsView): Reason[] {
	if (!isWaiting(job.status)) return [];
	const policy = queuePolicy(job.kind);
	const reasons: Reason[] = [];
	for (const gate of policy.jobGates) reasons.push(...(gate.ask(job, facts)?.reasons ?? []));
	reasons.push(...(askBatch(job, world)?.reasons ?? []));
	for (const gate of policy.bucketGates) reasons.push(...(gate.ask(bucket, world) ?? []));
	if (policy.isCounted) reasons.push(...(askPace(world) ?? []));
	reasons.push(...(askSpawn(job, facts.now) ?? []));
	return reasons.sort((a, b) => GATES.indexOf(a.gate) - GATES.indexOf(b.gate));
}
