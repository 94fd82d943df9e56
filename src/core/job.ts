// What a job is: its states, the only moves between them, and the document that carries it.

import type { Granted } from "./agents/allowing.ts";
import { SluiceError } from "./errors.ts";
import type { RunVerdict } from "./verdict.ts";

export const WAITING = ["queued", "waiting_on_deps", "waiting_on_locks"] as const;
export const TERMINAL = ["succeeded", "failed", "cancelled", "blocked_by_dependency", "expired"] as const;
export const STATUSES = [...WAITING, "running", ...TERMINAL] as const;
export type Waiting = (typeof WAITING)[number];
export type Terminal = (typeof TERMINAL)[number];
export type Status = (typeof STATUSES)[number];

/**
 * from                  to                                     by
 * (none)                queued, waiting_on_deps/_locks         add, decided at once by the gates
 * (none)                blocked_by_dependency, expired …       add, when the verdict is certain at once
 * waiting               each other                             a gate's answer changed
 * waiting               running                                claim
 * waiting               blocked_by_dependency                  a dependency can no longer be met
 * waiting               expired                                deadline passed
 * waiting               cancelled                              cancel, clear, reject, item closed
 * waiting               failed                                 unusable record, circuit-broken
 * running               succeeded, failed, cancelled           the run ended; no retry left
 * running               waiting                                retry; limit, drain, lost, preempted, needs-human
 * terminal              waiting                                retry (rewind), rerun
 */
const MOVES: Record<Status, readonly Status[]> = (() => {
	const waiting: Status[] = [...WAITING, "running", "blocked_by_dependency", "expired", "cancelled", "failed"];
	return {
		queued: waiting,
		waiting_on_deps: waiting,
		waiting_on_locks: waiting,
		running: ["succeeded", "failed", "cancelled", ...WAITING],
		succeeded: [...WAITING],
		failed: [...WAITING],
		cancelled: [...WAITING],
		blocked_by_dependency: [...WAITING],
		expired: [...WAITING],
	};
})();

export const isTerminal = (status: Status): status is Terminal => (TERMINAL as readonly string[]).includes(status);
export const isWaiting = (status: Status): status is Waiting => (WAITING as readonly string[]).includes(status);
export const mayMove = (from: Status, to: Status): boolean => MOVES[from].includes(to);

export function checkMove(id: number, from: Status, to: Status): void {
	if (!mayMove(from, to)) throw illegal(id, from, to);
}

export const illegal = (id: number, from: Status, to: Status, hint?: string) =>
	new SluiceError("illegal_transition", `job ${id} is ${from} and cannot become ${to}`, { field: "id", hint });

const ENDED_WORDS: Record<Terminal, string> = {
	succeeded: "has already succeeded",
	failed: "has already failed",
	cancelled: "is already cancelled",
	blocked_by_dependency: "has already ended, blocked by a dependency",
	expired: "has already expired",
};
export const nothingToCancel = (id: number, status: Terminal) =>
	new SluiceError("illegal_transition", `job ${id} ${ENDED_WORDS[status]}: nothing to cancel`, { field: "id" });

export const EXIT_KINDS = [
	"completed",
	"failed",
	"crashed",
	"cancelled",
	"timeout",
	"stalled",
	"rate_limited",
	"needs_human",
	"lost",
	"preempted",
	"drained",
	"launch_failed",
] as const;
export type ExitKind = (typeof EXIT_KINDS)[number];

/** What a live run can be stopped as. `crashed`: its agent calls a provider that fails, again and again. */
export const STOP_KINDS = ["cancelled", "timeout", "stalled", "preempted", "drained", "rate_limited", "crashed"] as const;
export type StopKind = (typeof STOP_KINDS)[number];

export const POLICIES = ["success", "failure", "any", "merged"] as const;
export type Policy = (typeof POLICIES)[number];

export const MERGE_STATUSES = ["none", "pending", "merged", "conflict", "verify_failed", "base_dirty", "requested", "kept"] as const;
export type MergeStatus = (typeof MERGE_STATUSES)[number];

/** It has ended well, but its work is not where it is to go yet; a conflict or a red verify can still be repaired. */
export const isMerging = ({ status, will_merge, merge_status }: Pick<Job, "status" | "will_merge" | "merge_status">): boolean =>
	status === "succeeded" &&
	will_merge === true &&
	(merge_status === "pending" || merge_status === "base_dirty" || merge_status === "conflict" || merge_status === "verify_failed");

/** What there is to say about a merge. */
export type MergeReport = {
	/** Those in its way. */
	files?: string[];
	message?: string;
	/** The commit that has it. */
	commit?: string;
	/** The branch has no commit of its own: the run changed nothing that was committed. */
	nothing?: true;
	/** The branch that it is merged into. */
	target?: string;
	/** The job is run again for it. */
	follow_up?: boolean;
	/** `pending`: there is work in its worktree that is on no commit of its branch. It is not tried again until somebody says so. */
	uncommitted?: boolean;
	/** The folder where a person can see to it. */
	path?: string;
	/** `kept`: somebody said that it is not to be merged. */
	given_up?: boolean;
};

/** Its merge goes on only if a person sees to it, in its worktree or in the base's checkout, or a run that the repo's settings ask for. */
export const isMergeStuck = ({ status, merge_status, merge_report }: Pick<Job, "status" | "merge_status" | "merge_report">): boolean => {
	if (status !== "succeeded") return false;
	if (merge_status === "pending") return merge_report?.uncommitted === true;
	return merge_status === "conflict" || merge_status === "verify_failed" || merge_status === "base_dirty";
};

type ShownMerge = {
	merge_status?: MergeStatus | null;
	merge_target?: string | null;
	merge_commit?: string | null;
	merge_report?: { nothing?: boolean } | null;
};

/** `merged into main as 2797037`; while it is not: `into main, base dirty`. Empty for a job without a merge. */
export function mergeWords({ merge_status, merge_target, merge_commit, merge_report }: ShownMerge): string {
	const into = merge_target ? `into ${merge_target}` : "";
	if (merge_status === "merged" && merge_report?.nothing) return "nothing to merge";
	if (merge_status === "merged") return ["merged", into, merge_commit ? `as ${merge_commit.slice(0, 7)}` : ""].filter(Boolean).join(" ");
	const status = merge_status && merge_status !== "none" ? merge_status.replaceAll("_", " ") : "";
	return [into, status].filter(Boolean).join(", ");
}

export type LockMode = "shared" | "exclusive";
export type Lock = { key: string; mode: LockMode };
export type After = { job: number; policy: Policy };
/** A kernel entry (004) is claimed by strict order; a payload job by an outside worker; the rest by hosts. */
export type JobKind = "command" | "agent" | "payload" | "kernel";

export type RetryPolicy = {
	/** Retries after the first run; 0 = none. */
	max: number;
	base_ms: number;
	factor: number;
	/** ± this share of the delay. */
	jitter: number;
	cap_ms: number;
	/** Which ends of a run are retried at all. */
	on: readonly ExitKind[];
};

export type Condition = { kind: "clean_worktree" } | { kind: "branch_exists"; branch: string } | { kind: "command"; argv: string[] };

/** What a caller hands to `add`. Times are epoch milliseconds or RFC 3339; durations are milliseconds or "30s", "5m". */
export type JobInput = {
	name?: string;
	batch?: string;
	/** Its number or name. */
	parent?: number | string;
	parent_gate?: "success" | "none";
	item?: string;
	source?: string;
	phase?: string;
	title?: string;
	command?: string[];
	agent?: string;
	prompt?: string;
	/** Any JSON; a `JsonText` where a JavaScript value would lose something of it. */
	payload?: unknown;
	repo?: string;
	base_branch?: string;
	/** The branch the job writes on; its own one when absent. */
	worktree?: string;
	merge?: "direct" | "mr" | "local";
	no_merge?: boolean;
	/** A diff that its runs find as `input.patch`: what somebody had changed when the job was added. */
	input_patch?: string;
	cwd?: string;
	env?: Record<string, string>;
	host_labels?: string[];
	lane?: string;
	priority?: number;
	runnable_at?: number | string;
	deadline?: number | string | null;
	trigger?: string;
	after?: (number | string | { job: number | string; policy?: Policy })[];
	needs?: string[];
	on_missing?: "block" | "wait";
	produces?: string[];
	pinned_head?: { branch: string; commit: string };
	conditions?: (string | Condition)[];
	locks?: (string | { key: string; mode?: LockMode })[];
	serial?: string;
	parallelizable?: boolean;
	requires_approval?: boolean;
	unique?: { key: string; window_ms?: number | string; policy?: "skip" | "replace" | "error" };
	owner?: string;
	account?: string;
	timeout?: number | string;
	stall_timeout?: number | string;
	retry?: Partial<RetryPolicy> | number;
	uses?: Record<string, number>;
	model?: string;
	permission?: "ask" | "edit" | "full";
	/** Tables: agents/allowing.ts, agents/closing.ts. */
	allow?: string[];
	expect?: "any" | "change" | "none";
	commit?: "auto" | "agent" | "never";
	args?: string;
	vars?: Record<string, string>;
	recipe?: string;
	mode?: "ralph";
	owned?: boolean;
	raw?: boolean;
};

/** What started a run: the scheduler by itself, or a person's `sluice run`. */
export type StartedBy = "daemon" | "run";

/** A run in progress, inside its job's document. One attempt, one fencing token. */
export type Run = {
	attempt: number;
	token: number;
	host: string;
	worker: string;
	account?: string;
	started_at: number;
	/** Kernel entries: the time that the claim brought, in epoch seconds; its worker's clock may be another than ours. */
	dispatched_at?: number;
	lease_until?: number;
	/** A stop, stored before the first signal: from then on the run ends as this says. */
	intent?: { kind: StopKind; reason: string; by: string; at: number };
	/** What it has said of itself so far: the last word counts. */
	verdict?: RunVerdict;
	/** False until the host says that the process is there. */
	launched?: boolean;
	/** What it has reserved of budgets, by their keys in the counts; given back when it ends. */
	reserved?: Record<string, number>;
	/** Absent: the scheduler by itself. */
	started_by?: "run";
	/** This run tries an account whose provider was down; the supervisor tells the scheduler when the provider answers it. */
	probe?: true;
};

/**
 * The working document of a job: what the gates and the order need, and what has happened to it so far. What only a host needs (argv, prompt,
 * payload, env) is in its spec, written once. Absent means null, zero or none: most jobs carry a dozen fields.
 */
export type Job = {
	id: number;
	status: Status;
	kind: JobKind;
	name?: string | undefined;
	lane: string;
	repo?: string | undefined;
	account?: string | undefined;
	/** The account its agent session lives on (after a limit): preferred, see `failover_after`. */
	prefer?: string | undefined;
	session?: string | undefined;
	owner?: string | undefined;
	agent?: string | undefined;
	batch?: string | undefined;
	/** `source:id` of the item, and the job that opened its chain. */
	item?: string | undefined;
	chain?: number | undefined;
	/** Added with force while another worker had its item: the gate does not wait for that worker. */
	take_over?: true | undefined;
	phase?: string | undefined;
	/** Ancestors, root first; depth is its length. */
	path?: number[] | undefined;
	trigger: string;
	priority: number;
	/** Set by promote (> 0), demote (< 0) and run-now (≥ RUN_NOW). */
	rank?: number | undefined;
	/** run-now --force: past max_concurrent and lane caps. */
	forced?: true | undefined;
	created_at: number;
	runnable_at: number;
	/** Its stored document could not be read: what was wrong with it. */
	broken?: string | undefined;
	/** Its runnable_at has been seen to come. */
	timely?: true | undefined;
	deadline?: number | undefined;
	/** There is a newer job of its name, which means that one again when this one has ended. */
	older_name?: true | undefined;
	/** How many `after` edges are not satisfied yet; the edges themselves are rows of their own. */
	deps_left?: number | undefined;
	/** Somebody needs `job:` or `patch:` of this one. */
	awaited?: true | undefined;
	/** Other jobs come after this one. */
	dependents?: true | undefined;
	needs?: string[] | undefined;
	on_missing?: "wait" | undefined;
	produces?: string[] | undefined;
	/** `folder`: of a job without a repo, where the branch is looked at. */
	pinned_head?: { branch: string; commit: string; folder?: string } | undefined;
	conditions?: Condition[] | undefined;
	locks?: Lock[] | undefined;
	uses?: Record<string, number> | undefined;
	host_labels?: string[] | undefined;
	retry?: RetryPolicy | undefined;
	will_merge?: true | undefined;
	merge_status?: MergeStatus | undefined;
	merge_report?: MergeReport | undefined;
	approval?: "needed" | "given" | undefined;
	question?: string | undefined;
	/** What a person said to its last question, and what that was; handed to the next run. */
	answer?: string | undefined;
	asked?: string | undefined;
	/** What its last run said of itself, once that has ended; while it runs, this is in `run`. */
	verdict?: RunVerdict | undefined;
	/** What its run reported for the jobs after it, as compact JSON; the last report counts. Kept when the job has ended. */
	result?: string | undefined;
	/** What a person granted with an answer; for all runs until it is begun anew. */
	granted?: Granted | undefined;
	/** Of its last run: tool calls that it was not allowed to make, and what its last words ask though it is done. */
	denied?: string[] | undefined;
	closing_question?: string | undefined;
	/** What its runs have told that they used, in all: cost_micro, tokens … */
	usage?: Record<string, number> | undefined;
	/** Runs that ended as failures; iteration = 1 + this. */
	failures?: number | undefined;
	attempt: number;
	dispatch_failures?: number | undefined;
	/** When the last outage of a provider began that a run of it has met. */
	outage?: number | undefined;
	last_failure?: string | undefined;
	backoff_until?: number | undefined;
	/** Since when it has passed gates 1–8: what it is called up by. */
	ready_at?: number | undefined;
	/** Where it is parked, and by which gate: the table in scheduler/place.ts. */
	gate?: string | undefined;
	line: string;
	/** It waits for a serial lock and is counted as such. */
	serial_wait?: true | undefined;
	since?: number | undefined;
	/** When time alone may change something: a deadline, a back-off, a lease, an overdue lock. */
	due_at?: number | undefined;
	/** Overdue on locks: when it tries next to reserve them. */
	reserve_at?: number | undefined;
	wait_reason?: { kind: string; detail: string } | undefined;
	waited_on?: string[] | undefined;
	bucket: number;
	run?: Run | undefined;
	/** Its last run crashed, and the next one goes on with that run's session. */
	goes_on?: true | undefined;
	/** The host that has what its next run goes on with: a worktree, a session. While that is live, no other gets it. */
	stays?: string | undefined;
	/** Where and when the run was that ended it. */
	last_run?: Pick<Run, "attempt" | "host" | "worker" | "account" | "started_at" | "dispatched_at"> | undefined;
	ended_at?: number | undefined;
	started_at?: number | undefined;
	exit_code?: number | null | undefined;
	raw_exit_code?: number | undefined;
	exit_kind?: ExitKind | undefined;
	/** Why it ended, in words: "circuit-broken", "cleared", "scheduler recovery", "dependency failed for job 7 (failed)". */
	end_reason?: string | undefined;
};

export type { JobSpec } from "./job-spec.ts";

export const runId = (job: number, attempt: number) => `${job}.${attempt}`;

/** Takes fields away by setting them to undefined: deleting would make the object slow, and JSON leaves them out either way. */
export function drop(job: Job, fields: readonly (keyof Job)[]): void {
	const loose = job as Record<string, unknown>;
	for (const field of fields) if (loose[field] !== undefined) loose[field] = undefined;
}
