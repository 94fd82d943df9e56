// What a gate answers when it does not let a job pass.

import type { Job, LockMode, MergeStatus, Policy, Status, Terminal } from "./job.ts";
import type { GateName, Reason } from "./reason.ts";
import type { World } from "./world.ts";

/** The job can never pass: it ends now, whatever earlier gate it waits at. */
export type Verdict = { status: Exclude<Terminal, "succeeded">; reason: string };

export type Answer = {
	reasons: Reason[];
	verdict?: Verdict;
	/** Where the event that frees the job finds it. */
	line?: string;
	/** When the answer changes by itself. */
	until?: number;
};

/** A predecessor as the `after` gate sees it. */
export type Predecessor = {
	job: number;
	policy: Policy;
	status: Status | "missing" | { error: string };
	merge_status?: MergeStatus;
};

/** An artifact that a job needs. `present` undefined: not probed since it was last in doubt. */
export type NeededArtifact = {
	artifact: string;
	present: boolean | undefined;
	error?: string;
	observed_at?: number;
	/** Status of each job that produces it. */
	producers: Status[];
};

export type Holder = { job: number; mode: LockMode };
export type LockState = {
	holders: readonly Holder[];
	/** The overdue waiter that this key is kept free for, if its other gates pass. */
	reserved?: number;
	/** What that waiter will take it as; shared ones do not mind each other. */
	reserved_mode?: LockMode;
};
export const FREE_LOCK: LockState = { holders: [] };

export type ObservedFact = { value: unknown; error?: string; observed_at: number } | undefined;

/** All that gates 1–9 look at besides the job itself, fetched beforehand. */
export type JobFacts = {
	now: number;
	after: readonly Predecessor[];
	artifacts: readonly NeededArtifact[];
	item?: ObservedFact;
	/** A job of its item's chain has been started: what has taken the item up is ours. */
	chain_begun?: true;
	head?: ObservedFact;
	conditions: readonly ObservedFact[];
	lock(key: string): LockState;
};

/** Gates that look at one job. */
export type JobGate = { name: GateName; ask(job: Job, facts: JobFacts): Answer | null };

export const pass = null;

export const refuse = (gate: GateName, code: Reason["code"], subject: string, detail: string, more: Partial<Reason> = {}): Reason => ({
	gate,
	code,
	detail,
	subject,
	...more,
});

/** Gates that look at what a whole bucket has in common. */
export type BucketGate<B> = { name: GateName; ask(bucket: B, world: World): Reason[] | null };
