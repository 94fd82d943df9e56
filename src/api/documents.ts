// The engine's data as clients see it: JSON documents in snake_case, null for absent values, times in RFC 3339, secrets masked.

import type { Ended, EventRow, JobView } from "../contracts/scheduler.ts";
import type { Config } from "../core/config.ts";
import type { EventKind, EventMap } from "../core/event.ts";
import { exactPayload } from "../core/input/payload.ts";
import type { Job, JobHold, Run } from "../core/job.ts";
import type { Reason } from "../core/reason.ts";
import type { RunProgress } from "../core/runs/progress.ts";
import { policyOf } from "../core/runs/retry.ts";
import { resultValue } from "../core/runs/verdict.ts";
import { isOneOf } from "../core/text/one-of.ts";
import { levelOfRuns } from "../core/trust/run-bounds.ts";
import type { ProgressOfRun } from "../supervisor/index.ts";
import { type Mask, masked } from "./secrets.ts";

/** An answer as it is sent: with the version of its schema. */
export type Doc<T> = { schema_version: number } & T;
/** RFC 3339, in UTC, to the millisecond. */
export type Timestamp = string;

/** A view of the engine whose moments are shown as times; null for one that is absent. */
export type Timed<T, Moment extends keyof T> = Omit<T, Moment> & { [K in Moment]-?: T[K] extends number ? Timestamp : Timestamp | null };

export type ReasonDocument = Timed<Reason, "since" | "clears_at" | "observed_at">;
/** Fields of an event's data that are times. */
const MOMENTS = ["until", "retry_at"] as const;
type ShownData<T> = { [F in keyof T]: F extends (typeof MOMENTS)[number] ? Timestamp : T[F] };
/** The kind says which data the event has. */
export type EventDocument = {
	[K in EventKind]: { seq: number; at: Timestamp; kind: K; job: number | null; by: string; data: ShownData<EventMap[K]> };
}[EventKind];
/** What a live run is doing: news that is stored nowhere, so it has no number. */
export type ProgressDocument = { kind: "progress"; at: Timestamp; job: number; attempt: number } & RunProgress;
export type EndedDocument = Timed<Ended, "retry_at">;

/** The last moment that RFC 3339 can express; later ones are shown as this. */
const LAST = 253_402_300_799_999;
export const rfc3339 = (ms: number): Timestamp => new Date(Math.min(ms, LAST)).toISOString();
export const maybeTime = (ms: number | null | undefined): Timestamp | null => (ms === null || ms === undefined ? null : rfc3339(ms));

/** `live`: the runs of this host, by their id. */
export type Showing = { config: Config; mask: Mask; live: Live };
type LiveAttachment = { by: string; since: number; state: "waiting" | "ready" };
type Live = ReadonlyMap<string, { pid: number | null; frozen: boolean; attached?: LiveAttachment | null; progress: RunProgress | null }>;

/** The branch is kept on request: the engine has no merge to follow. */
const isKept = ({ spec }: JobView): boolean => spec.merge === "local" && !spec.no_merge;

/** The target that the merge reported, or the one that it would have now. */
function mergeTarget({ will_merge, merge_report, spec, repo }: JobView, { repos }: Config): string | null {
	if (!will_merge) return null;
	const known = repo !== undefined && Object.hasOwn(repos, repo) ? repos[repo] : undefined;
	return merge_report?.target ?? spec.base_branch ?? known?.base ?? null;
}

export type JobDocument = ReturnType<typeof jobDocument>;

export function jobDocument(view: JobView, showing: Showing) {
	return { ...courseOf(view, showing), ...workOf(view, showing), ...conditionsOf(view, showing), ...agentPartOf(view, showing) };
}

/** What became of it: its status, its times, its runs. */
function courseOf(view: JobView, { config, live }: Showing) {
	const { spec } = view;
	return {
		id: view.id,
		name: view.name ?? null,
		status: view.status,
		kind: view.kind,
		blocked: view.blocked,
		wait_reason: view.wait_reason ?? null,
		/** For a ready job: the hold, budget or missing host that keeps it from its turn, at the time of the request. */
		held: view.held ?? null,
		waited_on: view.waited_on ?? [],
		/** For a running job: the jobs that its run waits for while it lends its slot. */
		waits_for: view.waits_for ?? [],
		exit_code: view.exit_code ?? null,
		raw_exit_code: view.raw_exit_code ?? null,
		exit_kind: view.exit_kind ?? null,
		end_reason: view.end_reason ?? null,
		merge_status: view.merge_status ?? (view.status === "succeeded" && isKept(view) ? "kept" : null),
		/** Files that prevent the merge, a message, the merge commit. */
		merge_report: view.merge_report ?? null,
		/** The target branch of its merge; null if it is not merged, or if its repo names no base. */
		merge_target: mergeTarget(view, config),
		/** The commit on that branch that contains its work. */
		merge_commit: view.merge_report?.nothing ? null : (view.merge_report?.commit ?? null),
		attempt: view.attempt,
		failures: view.failures ?? 0,
		dispatch_failures: view.dispatch_failures ?? 0,
		last_failure: view.last_failure ?? null,
		created_at: rfc3339(view.created_at),
		enqueued_at: rfc3339(spec.enqueued_at),
		runnable_at: rfc3339(view.runnable_at),
		deadline: maybeTime(view.deadline),
		ready_at: maybeTime(view.ready_at),
		backoff_until: maybeTime(view.backoff_until),
		started_at: maybeTime(view.started_at),
		ended_at: maybeTime(view.ended_at),
		run: view.run ? runDocument(view.id, view.run, live) : null,
		last_run: view.last_run ? lastRun(view.id, view.last_run) : null,
	};
}

/** What it is, and what its runs do. */
function workOf(view: JobView, { mask }: Showing) {
	const { spec } = view;
	const colon = view.item?.indexOf(":") ?? -1;
	return {
		batch: view.batch ?? null,
		parent: view.parent,
		depth: view.depth,
		item: view.item === undefined ? null : view.item.slice(colon + 1),
		source: view.item === undefined ? null : view.item.slice(0, colon),
		phase: view.phase ?? null,
		title: spec.title ?? null,
		command: spec.command ?? null,
		agent: view.agent ?? null,
		prompt: spec.prompt ?? null,
		payload: exactPayload(spec) ?? null,
		repo: view.repo ?? null,
		base_branch: spec.base_branch ?? null,
		worktree: spec.worktree ?? null,
		merge: spec.merge ?? null,
		no_merge: spec.no_merge ?? false,
		/** Whether its runs get an input.patch. */
		input_patch: spec.input_patch !== undefined,
		cwd: spec.cwd ?? null,
		env: spec.env ? masked(spec.env, mask) : null,
		host_labels: view.host_labels ?? [],
	};
}

/** When and where it may run. */
function conditionsOf(view: JobView, { config }: Showing) {
	const { spec } = view;
	return {
		lane: view.lane,
		priority: view.priority,
		/** Set by promote (above 0), demote (below 0) or run_now. */
		rank: view.rank ?? 0,
		forced: view.forced ?? false,
		trigger: view.trigger,
		after: view.after,
		needs: view.needs ?? [],
		on_missing: view.on_missing ?? "block",
		produces: view.produces ?? [],
		pinned_head: view.pinned_head ?? null,
		conditions: view.conditions ?? [],
		locks: view.locks ?? [],
		parallelizable: !isSerial(view),
		/** The person who holds it, since when and why; null if no person does. */
		hold: view.hold ? holdDocument(view.hold) : null,
		requires_approval: view.approval !== undefined,
		approval: view.approval ?? null,
		unique: spec.unique ? { window_ms: null, ...spec.unique } : null,
		owner: view.owner ?? null,
		account: view.account ?? null,
		/** Milliseconds. */
		timeout: spec.timeout_ms ?? null,
		stall_timeout: spec.stall_timeout_ms ?? null,
		retry: policyOf(view as unknown as Job, config),
		uses: view.uses ?? {},
	};
}

/** What its agent was given, and what it said. */
function agentPartOf(view: JobView, { mask }: Showing) {
	const { spec } = view;
	return {
		model: spec.model ?? null,
		/** As given at `add`; `granted` has what a person allowed since. */
		permission: spec.permission ?? (view.kind === "agent" ? "edit" : null),
		/** The highest permission of jobs that its runs add; null for a job that outside workers run. */
		may_add: view.kind === "agent" || view.kind === "command" ? levelOfRuns(view.kind, spec, view.granted?.permission) : null,
		allow: spec.allow ?? [],
		expect: spec.expect ?? (view.kind === "agent" ? "any" : null),
		commit: spec.commit ?? (view.kind === "agent" ? "auto" : null),
		args: spec.args ?? null,
		vars: spec.vars ? masked(spec.vars, mask) : null,
		recipe: spec.recipe ?? null,
		mode: spec.mode ?? null,
		owned: spec.owned ?? false,
		raw: spec.raw ?? false,
		session: view.session ?? null,
		question: view.question ?? null,
		/** The last answer of a person, and the question. */
		answer: view.answer ?? null,
		asked: view.asked ?? null,
		/** What people told its agent; `attempt` is the run that got it, null while none has. */
		told: (view.told ?? []).map(({ at, attempt = null, ...one }) => ({ ...one, at: rfc3339(at), attempt })),
		/** The latest verdict of its current or last run about itself. */
		verdict: verdictOf(view),
		/** The result that its run reported for later jobs; null also if it reported none. */
		result: resultValue(view.result),
		/** What a person granted in an answer: a permission, or denied tool calls. */
		granted: view.granted ? { permission: null, allow: [], ...view.granted } : null,
		/** Tool calls that its last run was not allowed to make. */
		denied: view.denied ?? [],
		/** A question in the last words of its last run, which did not keep the job from ending. */
		closing_question: view.closing_question ?? null,
		/** Total usage that its runs reported. */
		usage: view.usage ?? {},
		/** What was wrong with a record that could not be read. */
		broken: view.broken ?? view.spec.broken ?? null,
		version: spec.version,
	};
}

function verdictOf({ run, verdict }: JobView) {
	const said = run ? run.verdict : verdict;
	return said ? { ...said, at: rfc3339(said.at) } : null;
}

/** `parallelizable: false` is a lock on its source, phase and lane. */
function isSerial({ locks, item, phase, lane }: JobView): boolean {
	const end = `:${phase ?? ""}:${lane}`;
	const source = item?.slice(0, item.indexOf(":"));
	return (locks ?? []).some(({ key }) =>
		source === undefined
			? key.startsWith("serial:") && key.endsWith(end) && !key.slice(7, -end.length).includes(":")
			: key === `serial:${source}${end}`,
	);
}

const holdDocument = ({ by, since, reason }: JobHold): { by: string; since: Timestamp; reason: string | null } => ({
	by,
	since: rfc3339(since),
	reason: reason ?? null,
});

export type RunDocument = ReturnType<typeof runDocument>;

export function runDocument(job: number, run: Run, live: Live = new Map()) {
	const now = live.get(`${job}.${run.attempt}`);
	return {
		...lastRun(job, run),
		lease_until: maybeTime(run.lease_until),
		launched: run.launched ?? false,
		/** Pid of a live run of this host; null if unknown. */
		pid: now?.pid ?? null,
		stop: run.intent ? { ...run.intent, at: rfc3339(run.intent.at) } : null,
		/** Its processes are stopped by a person, or by a pause with `freeze`; of a run of another host only the former is known. */
		frozen: now?.frozen ?? (run.frozen !== undefined && run.intent === undefined),
		/** The person who froze this run; null also for a run that a pause has frozen. */
		frozen_by: run.frozen ? holdDocument(run.frozen) : null,
		/** The person at a terminal who has the session of this live run (`ready`), or waits for it; null also for runs of other hosts. */
		attached: now?.attached ? { ...now.attached, since: rfc3339(now.attached.since) } : null,
		/** What a live run of this host has done so far; null if unknown. */
		progress: now?.progress ?? null,
	};
}

const lastRun = (job: number, run: NonNullable<Job["last_run"]>) => ({
	id: `${job}.${run.attempt}`,
	attempt: run.attempt,
	host: run.host === "" ? null : run.host,
	worker: run.worker,
	account: run.account ?? null,
	started_at: rfc3339(run.started_at),
});

export const reasonDocument = (reason: Reason): ReasonDocument => ({
	...reason,
	since: maybeTime(reason.since),
	clears_at: maybeTime(reason.clears_at),
	observed_at: maybeTime(reason.observed_at),
});

export const eventDocument = ({ seq, at, kind, job, by, data }: EventRow): EventDocument => {
	const shown = Object.entries(data).map(([key, value]) => [
		key,
		isOneOf(key, MOMENTS) && typeof value === "number" ? rfc3339(value) : value,
	]);
	return { seq, at: rfc3339(at), kind, job, by, data: Object.fromEntries(shown) } as EventDocument;
};

export const progressDocument = ({ job, attempt, at, progress }: ProgressOfRun): ProgressDocument => ({
	kind: "progress",
	at: rfc3339(at),
	job,
	attempt,
	...progress,
});

export const endedDocument = ({ job, status, retry_at }: Ended): EndedDocument => ({ job, status, retry_at: maybeTime(retry_at) });
