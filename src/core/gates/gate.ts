// What a gate answers if it does not let a job pass.

import type { Bucket } from "../bucket.ts";
import type { Job, LockMode, MergeStatus, Policy, Status, Terminal } from "../job.ts";
import type { LimitsView } from "../limits-view.ts";
import type { Parked } from "../parked.ts";
import type { BucketGateName, GateName, JobGateName, Reason } from "../reason.ts";

/** The job can never pass: it ends now, whichever earlier gate it waits at. */
export type Verdict = { status: Exclude<Terminal, "succeeded">; reason: string };

export type GateAnswer = {
	reasons: Reason[];
	verdict?: Verdict;
	/** What the job is parked on; the event that frees the job looks it up there. */
	parked_on?: Parked;
	/** When the answer changes without any event. */
	until?: number;
};

/** A predecessor as the `after` gate sees it. */
export type Predecessor = {
	job: number;
	policy: Policy;
	status: Status | "missing" | { error: string };
	merge_status?: MergeStatus;
};

/** An artifact that a job needs. `present` undefined: not probed since it was last uncertain. */
export type NeededArtifact = {
	artifact: string;
	present: boolean | undefined;
	error?: string;
	observed_at?: number;
	/** The status of each job that produces the artifact. */
	producers: Status[];
};

type Holder = { job: number; mode: LockMode };
export type LockState = {
	holders: readonly Holder[];
	/** The overdue waiting job that this lock is kept free for, if the job's other gates pass. */
	reserved?: number;
	/** The mode in which that job will take the lock; two shared holders do not exclude each other. */
	reserved_mode?: LockMode;
};
export const FREE_LOCK: LockState = { holders: [] };

export type ObservedFact = { value: unknown; error?: string; observed_at: number } | undefined;

/** Everything that the job gates look at besides the job itself; the caller fetches it beforehand. */
export type JobFacts = {
	now: number;
	after: readonly Predecessor[];
	artifacts: readonly NeededArtifact[];
	item?: ObservedFact;
	/** A job of the item's chain has been started, so it was our own run that took the item up. */
	chain_begun?: true;
	head?: ObservedFact;
	conditions: readonly ObservedFact[];
	lock(key: string): LockState;
};

/** The facts of a job that depends on nothing but time. */
export const noFacts = (now: number): JobFacts => ({ now, after: [], artifacts: [], conditions: [], lock: () => FREE_LOCK });

/** A gate that looks at one job and at the clock alone. */
export type ClockGate = { name: JobGateName; ask(job: Job, clock: { now: number }): GateAnswer | null };

/** A gate that looks at facts about one job. */
export type FactGate = {
	name: JobGateName;
	/** Whether the gate needs facts to decide about this job. A job that concerns no fact gate is plain: it is decided without a read. */
	concerns(job: Job): boolean;
	/** Keys of the observed facts that decide about this job. The job is linked to each of them, so that a change of the fact finds it. */
	factKeys(job: Job): string[];
	ask(job: Job, facts: JobFacts): GateAnswer | null;
};

export type JobGate = ClockGate | FactGate;

/** A gate that decides about all jobs of a bucket. */
export type BucketGate = { name: BucketGateName; ask(bucket: Bucket, world: LimitsView): Reason[] | null };

export const pass = null;

export const refuse = (gate: GateName, code: Reason["code"], subject: string, detail: string, more: Partial<Reason> = {}): Reason => ({
	gate,
	code,
	detail,
	subject,
	...more,
});
