// Why a job waits, as data: one reason for each gate that refuses it.

import type { Waiting } from "./job.ts";

/** Gates that decide about single jobs. */
export const JOB_GATE_NAMES = [
	"time",
	"deadline",
	"held",
	"after",
	"artifacts",
	"item",
	"head",
	"conditions",
	"approval",
	"locks",
] as const;
export type JobGateName = (typeof JOB_GATE_NAMES)[number];
/** Gates that decide about all jobs of a bucket. */
export const BUCKET_GATE_NAMES = ["holds", "review", "budget", "host", "capacity"] as const;
export type BucketGateName = (typeof BUCKET_GATE_NAMES)[number];
/** In order: the first gate that refuses determines the job's status and `wait_reason`. */
export const GATES = [...JOB_GATE_NAMES, ...BUCKET_GATE_NAMES, "spawn"] as const;
export type GateName = (typeof GATES)[number];

/** code → the status of a job whose first reason this is. */
export const REASON_CODES = {
	delayed: "queued",
	backoff: "queued",
	deadline: "queued",
	held: "queued",
	dependencies: "waiting_on_deps",
	probing: "waiting_on_deps",
	item_blocked: "waiting_on_deps",
	pinned_head: "waiting_on_deps",
	condition: "waiting_on_deps",
	approval: "queued",
	needs_human: "queued",
	locks: "waiting_on_locks",
	paused: "queued",
	quiet_hours: "queued",
	rate_limited: "queued",
	account_closed: "queued",
	outage: "queued",
	breaker_open: "queued",
	review: "queued",
	budget: "queued",
	no_host: "queued",
	capacity: "queued",
	safety_cap: "queued",
	dispatch_failed: "queued",
	turn: "queued",
	worker: "queued",
} as const satisfies Record<string, Waiting>;
export type ReasonCode = keyof typeof REASON_CODES;

export type Reason = {
	gate: GateName;
	code: ReasonCode;
	/** One line for people; in the exact words of preset dag where it defines them. */
	detail: string;
	/** What the reason depends on: `job:7`, `lock:db`, `lane:code`, `account:work`, an artifact, a ledger dimension. */
	subject: string;
	since?: number;
	/** Holders: lock holders, the job that a lock is reserved for, the person who paused. */
	holder?: string[];
	clears_at?: number;
	observed_at?: number;
};

/** A subject as part of a sentence: `lane:code` → `lane code`. */
export const inWords = (subject: string): string => subject.replace(":", " ");
