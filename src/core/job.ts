// What a job is: its states, the allowed moves between them, and its document.

import type { Granted } from "./agents/permissions/allowing.ts";
import { SluiceError } from "./errors.ts";
import type { Parked } from "./parked.ts";
import type { Told } from "./runs/told.ts";
import type { RunVerdict } from "./runs/verdict.ts";
import type { SpecFields } from "./schema/job.ts";
import { isOneOf } from "./text/one-of.ts";

export const WAITING = ["queued", "waiting_on_deps", "waiting_on_locks"] as const;
export const TERMINAL = ["succeeded", "failed", "cancelled", "blocked_by_dependency", "expired"] as const;
export const STATUSES = [...WAITING, "running", ...TERMINAL] as const;
export type Waiting = (typeof WAITING)[number];
export type Terminal = (typeof TERMINAL)[number];
export type Status = (typeof STATUSES)[number];

/**
 * from                  to                                     by
 * (none)                queued, waiting_on_deps/_locks         add: the gates decide at once
 * (none)                blocked_by_dependency, expired …       add, if the verdict is certain at once
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

export const isTerminal = (status: Status): status is Terminal => isOneOf(status, TERMINAL);
export const isWaiting = (status: Status): status is Waiting => isOneOf(status, WAITING);
export const mayMove = (from: Status, to: Status): boolean => MOVES[from].includes(to);

export function checkMove(id: number, from: Status, to: Status): void {
	if (!mayMove(from, to)) throw new SluiceError("illegal_transition", `job ${id} is ${from} and cannot become ${to}`, { field: "id" });
}

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

/** The kinds of stop of a live run. `crashed`: its agent keeps calling a provider that fails. */
export const STOP_KINDS = ["cancelled", "timeout", "stalled", "preempted", "drained", "rate_limited", "crashed"] as const;
export type StopKind = (typeof STOP_KINDS)[number];

export const POLICIES = ["success", "failure", "any", "merged"] as const;
export type Policy = (typeof POLICIES)[number];

export const MERGE_STATUSES = ["none", "pending", "merged", "conflict", "verify_failed", "base_dirty", "requested", "kept"] as const;
export type MergeStatus = (typeof MERGE_STATUSES)[number];

/** The job has succeeded, but its work is not merged yet; a conflict or a failed verify can still be repaired. */
export const isMerging = ({ status, will_merge, merge_status }: Pick<Job, "status" | "will_merge" | "merge_status">): boolean =>
	status === "succeeded" &&
	will_merge === true &&
	(merge_status === "pending" || merge_status === "base_dirty" || merge_status === "conflict" || merge_status === "verify_failed");

/** Details of a merge. */
export type MergeReport = {
	/** Files that prevent it. */
	files?: string[];
	message?: string;
	/** The merge commit. */
	commit?: string;
	/** The branch has no commit of its own: the run committed no change. */
	nothing?: true;
	/** The target branch. */
	target?: string;
	/** The job runs again to repair it. */
	follow_up?: boolean;
	/** `base_dirty`: the base's checkout has uncommitted changes. Absent: another operation is under way there, or untracked files are in the way. */
	cause?: "changes";
	/** `pending`: the worktree holds work that is on no commit of its branch. The merge is not retried until a person asks for it. */
	uncommitted?: boolean;
	/** The folder where a person can repair it. */
	path?: string;
	/** `kept`: a person said that it is not to be merged. */
	given_up?: boolean;
};

/** The merge continues only after a person acts, in the worktree or in the base's checkout, or after a repair run that the repo's settings ask for. */
export const isMergeStuck = ({ status, merge_status, merge_report }: Pick<Job, "status" | "merge_status" | "merge_report">): boolean => {
	if (status !== "succeeded") return false;
	if (merge_status === "pending") return merge_report?.uncommitted === true;
	return merge_status === "conflict" || merge_status === "verify_failed" || merge_status === "base_dirty";
};

/** Its work waits for a person: its request for review is open, or its merge is stuck. Gate `review` counts these jobs. */
export const isUnreviewed = (job: Pick<Job, "status" | "will_merge" | "merge_status" | "merge_report">): boolean =>
	job.status === "succeeded" && job.will_merge === true && (job.merge_status === "requested" || isMergeStuck(job));

type ShownMerge = {
	merge_status?: MergeStatus | null;
	merge_target?: string | null;
	merge_commit?: string | null;
	merge_report?: { nothing?: boolean } | null;
};

/** `merged into main as 2797037`; before that: `into main, base dirty`. Empty for a job without a merge. */
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
/** Kernel entries are claimed in strict order, payload jobs by outside workers, all other jobs by hosts. */
export type JobKind = "command" | "agent" | "payload" | "kernel";

export type RetryPolicy = {
	/** Retries after the first run; 0 = none. */
	max: number;
	base_ms: number;
	factor: number;
	/** ± this share of the delay. */
	jitter: number;
	cap_ms: number;
	/** Which exit kinds are retried at all. */
	on: readonly ExitKind[];
};

export type Condition = { kind: "clean_worktree" } | { kind: "branch_exists"; branch: string } | { kind: "command"; argv: string[] };

/** Who holds a waiting job, or has frozen its run, since when, and why. */
export type JobHold = { by: string; since: number; reason?: string };

/** What started a run: the scheduler, or a person's `sluice run`. */
export type StartedBy = "daemon" | "run";

/** A run in progress, inside its job's document. One attempt, one fencing token. */
export type Run = {
	attempt: number;
	token: number;
	host: string;
	worker: string;
	account?: string;
	started_at: number;
	/** Kernel entries: the time that the claim passed in, epoch seconds; the worker's clock may differ from ours. */
	dispatched_at?: number;
	lease_until?: number;
	/** A stop request, stored before the first signal: the run's end gets this kind. */
	/** `resumes`: the job goes on at once, before all others. */
	intent?: { kind: StopKind; reason: string; by: string; at: number; resumes?: true };
	/** A person froze it: its processes are stopped until a person thaws it. */
	frozen?: JobHold;
	/** The run's latest verdict about itself. */
	verdict?: RunVerdict;
	/** False until the host reports that the process exists. */
	launched?: boolean;
	/** What the run has reserved of budgets, by their keys in the counts; released when it ends. */
	reserved?: Record<string, number>;
	/** Absent = the scheduler. */
	started_by?: "run";
	/** The model that its agent was asked to use. */
	model?: string;
	/** For how long it lent its slot while it waited for jobs. */
	lent_ms?: number;
	/** This run probes an account whose provider was down; the supervisor reports to the scheduler when the provider answers. */
	probe?: true;
};

/**
 * The working document of a job: what the gates and the order need, and what has happened to it so far. What only a host needs (argv, prompt, payload, env)
 * is in its spec, written once. Absent means null, zero or none: most jobs have a dozen fields.
 */
export type Job = {
	id: number;
	status: Status;
	kind: JobKind;
	name?: string | undefined;
	lane: string;
	repo?: string | undefined;
	account?: string | undefined;
	/** The account of its agent session (after a limit): preferred, see `failover_after`. */
	prefer?: string | undefined;
	session?: string | undefined;
	owner?: string | undefined;
	agent?: string | undefined;
	batch?: string | undefined;
	/** `source:id` of the item, and the first job of its chain. */
	item?: string | undefined;
	chain?: number | undefined;
	/** Added with force while another worker had its item: the gate does not wait for that worker. */
	take_over?: true | undefined;
	phase?: string | undefined;
	/** Ancestors, root first; the depth is its length. */
	path?: number[] | undefined;
	trigger: string;
	priority: number;
	/** Set by promote (> 0), demote (< 0) and run-now (≥ RUN_NOW). */
	rank?: number | undefined;
	/** run-now --force: exempt from max_concurrent and lane caps. */
	forced?: true | undefined;
	created_at: number;
	runnable_at: number;
	/** What was wrong with its stored document, if that could not be read. */
	broken?: string | undefined;
	/** Its runnable_at was seen to pass. */
	timely?: true | undefined;
	deadline?: number | undefined;
	/** An older job that was run again and took its name back from a newer one; when it ends, the name refers to the newest job again. */
	older_name?: true | undefined;
	/** Number of `after` edges that are not satisfied yet; the edges are separate rows. */
	deps_left?: number | undefined;
	/** Another job needs `job:` or `patch:` of this one. */
	awaited?: true | undefined;
	/** Other jobs come after this one. */
	dependents?: true | undefined;
	needs?: string[] | undefined;
	on_missing?: "wait" | undefined;
	produces?: string[] | undefined;
	/** `folder`: for a job without a repo, the folder whose branch is checked. */
	pinned_head?: { branch: string; commit: string; folder?: string } | undefined;
	conditions?: Condition[] | undefined;
	locks?: Lock[] | undefined;
	uses?: Record<string, number> | undefined;
	host_labels?: string[] | undefined;
	retry?: RetryPolicy | undefined;
	will_merge?: true | undefined;
	merge_status?: MergeStatus | undefined;
	merge_report?: MergeReport | undefined;
	/** It is counted among the unreviewed jobs of its repo. Absent in jobs that earlier versions ended. */
	unreviewed?: true | undefined;
	/** A person keeps it from starting. */
	hold?: JobHold | undefined;
	approval?: "needed" | "given" | undefined;
	question?: string | undefined;
	/** A person's answer to the last question, and the question; passed to the next run. */
	answer?: string | undefined;
	asked?: string | undefined;
	/** What people told its agent since it was added or reset. */
	told?: Told[] | undefined;
	/** The last run's verdict about itself; while a run is live, it is in `run`. */
	verdict?: RunVerdict | undefined;
	/** The result that its run reported for later jobs, as compact JSON; the last report counts. Kept after the job has ended. */
	result?: string | undefined;
	/** What a person granted in an answer; applies to all runs until the job is started anew. */
	granted?: Granted | undefined;
	/** From the last run: tool calls that were not allowed, and a question in its last words although it is done. */
	denied?: string[] | undefined;
	closing_question?: string | undefined;
	/** Total usage that its runs reported: cost_micro, tokens … */
	usage?: Record<string, number> | undefined;
	/** Number of failed runs; iteration = 1 + this. */
	failures?: number | undefined;
	attempt: number;
	dispatch_failures?: number | undefined;
	/** When the last provider outage that one of its runs met began. */
	outage?: number | undefined;
	last_failure?: string | undefined;
	backoff_until?: number | undefined;
	/** Since when it has passed all job gates but `locks`: its age in the order and its overdue turn count from here. */
	ready_at?: number | undefined;
	/** The gate that parked it. */
	gate?: string | undefined;
	parked_on: Parked;
	/** It waits for a serial lock, and is counted as such. */
	serial_wait?: true | undefined;
	since?: number | undefined;
	/** Parked on `after`: the subject of its reason, `job:7`. Absent in jobs that earlier versions parked. */
	waits_for_pred?: string | undefined;
	/** When time alone may change something: a deadline, a back-off, a lease, an overdue lock. */
	due_at?: number | undefined;
	/** For a job that is overdue on locks: when it next tries to reserve them. */
	reserve_at?: number | undefined;
	wait_reason?: { kind: string; detail: string } | undefined;
	waited_on?: string[] | undefined;
	/** How long it has waited since it was added or last ran, by code of reason, up to `charged_at` (absent: since it was added). */
	waited?: Record<string, number> | undefined;
	charged_at?: number | undefined;
	bucket: number;
	run?: Run | undefined;
	/** Its last run crashed, and the next run resumes that run's session. */
	goes_on?: true | undefined;
	/** The host that has the worktree or session that the next run continues with. While that host is live, no other gets the job. */
	stays?: string | undefined;
	/** Where and when the run that ended the job took place. */
	last_run?: Pick<Run, "attempt" | "host" | "worker" | "account" | "started_at" | "dispatched_at"> | undefined;
	ended_at?: number | undefined;
	started_at?: number | undefined;
	exit_code?: number | null | undefined;
	raw_exit_code?: number | undefined;
	exit_kind?: ExitKind | undefined;
	/** Why it ended, in words: "circuit-broken", "cleared", "scheduler recovery", "dependency failed for job 7 (failed)". */
	end_reason?: string | undefined;
};

/** The part of a job that only its host reads: what to run, where, and with what. Written once at `add` and passed to the host that runs the job; the scheduler never reads it on its hot path. */
export type JobSpec = SpecFields & {
	version: 1;
	payload?: unknown;
	timeout_ms?: number;
	stall_timeout_ms?: number;
	enqueued_at: number;
	/** Why the stored spec cannot be read; all other fields are empty then. */
	broken?: string;
	/** The payload's exact JSON, if the value `payload` cannot represent all of it. */
	payload_json?: string;
	/** For a named job of a manifest: a digest of its entry, by which a later `apply` detects changes. */
	applied?: string;
	/** As requested; `add` decides what it means. */
	unique?: { key: string; window_ms?: number; policy: "skip" | "replace" | "error" };
};

/** Internal fields that views leave out: where the job is parked, and what views show in another form. */
export const HIDDEN_FIELDS = [
	"parked_on",
	"waits_for_pred",
	"bucket",
	"path",
	"due_at",
	"dependents",
	"deps_left",
	"reserve_at",
	"awaited",
	"timely",
	"serial_wait",
	"older_name",
	"waited",
	"charged_at",
	"unreviewed",
] as const satisfies readonly (keyof Job)[];

export type { JobInput } from "./schema/job.ts";

/** A job with a live run. */
export type RunningJob = Job & { run: Run };
export const hasRun = (job: Job): job is RunningJob => job.run !== undefined;

export const runId = (job: number, attempt: number) => `${job}.${attempt}`;

/** What is stored of a job's wait: why it waits, and when time alone may change that. */
export const WAIT_FIELDS = ["wait_reason", "waits_for_pred", "gate", "since", "backoff_until", "due_at", "reserve_at"] as const;

/** Removes fields by setting them to undefined: `delete` would make the object slow, and JSON leaves them out either way. */
export function drop(job: Job, fields: readonly (keyof Job)[]): void {
	const loose = job as Record<string, unknown>;
	for (const field of fields) if (loose[field] !== undefined) loose[field] = undefined;
}
