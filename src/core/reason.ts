// Why a job waits, as data: one reason for each gate that refuses it.

import type { Waiting } from "./job.ts";

/** The order is the rule: the first that refuses names the job's status and `wait_reason`. */
export const GATES = [
	"time",
	"deadline",
	"after",
	"artifacts",
	"item",
	"head",
	"conditions",
	"approval",
	"locks",
	"holds",
	"budget",
	"host",
	"capacity",
	"spawn",
] as const;
export type GateName = (typeof GATES)[number];

/** code → the status a job waits in when this is its first reason. */
export const REASON_CODES = {
	delayed: "queued",
	backoff: "queued",
	deadline: "queued",
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
	/** One line for a person; 002's exact words where 002 has them. */
	detail: string;
	/** What it hangs on: `job:7`, `lock:db`, `lane:code`, `account:work`, an artifact, a ledger dimension. */
	subject: string;
	since?: number;
	/** Who has it: lock holders, the job reserved for, who paused. */
	holder?: string[];
	clears_at?: number;
	observed_at?: number;
};

/** A subject inside a sentence: `lane:code` reads `lane code`. */
export const inWords = (subject: string): string => subject.replace(":", " ");
