// The engine's data as clients see it: JSON documents in snake_case, null for absent values, times in RFC 3339, secrets masked.

import type { Ended, EventRow, JobView } from "../contracts/scheduler.ts";
import type { Config } from "../core/config.ts";
import type { EventKind, EventMap } from "../core/event.ts";
import { exactPayload } from "../core/input/payload.ts";
import type {
	After,
	Condition,
	ExitKind,
	Job,
	JobKind,
	Lock,
	MergeReport,
	MergeStatus,
	RetryPolicy,
	Run,
	Status,
	StopKind,
} from "../core/job.ts";
import type { Reason } from "../core/reason.ts";
import { policyOf } from "../core/runs/retry.ts";
import { resultValue, type VerdictWord } from "../core/runs/verdict.ts";
import { isOneOf } from "../core/text/one-of.ts";
import { levelOfRuns } from "../core/trust/run-bounds.ts";
import type { AgentProgress } from "../supervisor/index.ts";
import { type Mask, masked } from "./secrets.ts";

/** An answer as it is sent: with the version of its schema. */
export type Doc<T> = { schema_version: number } & T;
/** RFC 3339, in UTC, to the millisecond. */
export type Timestamp = string;

export type RunDocument = {
	id: string;
	attempt: number;
	host: string | null;
	worker: string;
	account: string | null;
	started_at: Timestamp;
	lease_until: Timestamp | null;
	launched: boolean;
	/** Pid of a live run of this host; null if unknown. */
	pid: number | null;
	stop: { kind: StopKind; reason: string; by: string; at: Timestamp } | null;
	/** Its processes are stopped by a pause with `freeze`; false also for runs of other hosts, where it is unknown. */
	frozen: boolean;
	/** What a live agent of this host has done so far; null if unknown. */
	progress: AgentProgress | null;
};

export type JobDocument = {
	id: number;
	name: string | null;
	status: Status;
	kind: JobKind;
	blocked: boolean;
	wait_reason: { kind: string; detail: string } | null;
	/** For a ready job: the hold, budget or missing host that keeps it from its turn, at the time of the request. */
	held: { kind: string; detail: string } | null;
	waited_on: string[];
	/** For a running job: the jobs that its run waits for while it lends its slot. */
	waits_for: number[];
	exit_code: number | null;
	raw_exit_code: number | null;
	exit_kind: ExitKind | null;
	end_reason: string | null;
	merge_status: MergeStatus | null;
	/** Files that prevent the merge, a message, the merge commit. */
	merge_report: MergeReport | null;
	/** The target branch of its merge; null if it is not merged, or if its repo names no base. */
	merge_target: string | null;
	/** The commit on that branch that contains its work. */
	merge_commit: string | null;
	attempt: number;
	failures: number;
	dispatch_failures: number;
	last_failure: string | null;
	created_at: Timestamp;
	enqueued_at: Timestamp;
	runnable_at: Timestamp;
	deadline: Timestamp | null;
	ready_at: Timestamp | null;
	backoff_until: Timestamp | null;
	started_at: Timestamp | null;
	ended_at: Timestamp | null;
	run: RunDocument | null;
	last_run: { id: string; attempt: number; host: string | null; worker: string; account: string | null; started_at: Timestamp } | null;
	batch: string | null;
	parent: number | null;
	depth: number;
	item: string | null;
	source: string | null;
	phase: string | null;
	title: string | null;
	command: string[] | null;
	agent: string | null;
	prompt: string | null;
	payload: unknown;
	repo: string | null;
	base_branch: string | null;
	worktree: string | null;
	merge: "direct" | "mr" | "local" | null;
	no_merge: boolean;
	/** Whether its runs get an input.patch. */
	input_patch: boolean;
	cwd: string | null;
	env: Record<string, string> | null;
	host_labels: string[];
	lane: string;
	priority: number;
	/** Set by promote (above 0), demote (below 0) or run_now. */
	rank: number;
	forced: boolean;
	trigger: string;
	after: After[];
	needs: string[];
	on_missing: "block" | "wait";
	produces: string[];
	pinned_head: { branch: string; commit: string; folder?: string } | null;
	conditions: Condition[];
	locks: Lock[];
	parallelizable: boolean;
	requires_approval: boolean;
	approval: "needed" | "given" | null;
	unique: { key: string; window_ms: number | null; policy: string } | null;
	owner: string | null;
	account: string | null;
	/** Milliseconds. */
	timeout: number | null;
	stall_timeout: number | null;
	retry: RetryPolicy;
	uses: Record<string, number>;
	model: string | null;
	/** As given at `add`; `granted` has what a person allowed since. */
	permission: "ask" | "edit" | "full" | null;
	/** The highest permission of jobs that its runs add; null for a job that outside workers run. */
	may_add: "ask" | "edit" | "full" | null;
	allow: string[];
	expect: "any" | "change" | "none" | null;
	commit: "auto" | "agent" | "never" | null;
	args: string | null;
	vars: Record<string, string> | null;
	recipe: string | null;
	mode: "ralph" | null;
	owned: boolean;
	raw: boolean;
	session: string | null;
	question: string | null;
	/** The last answer of a person, and the question. */
	answer: string | null;
	asked: string | null;
	/** The latest verdict of its current or last run about itself. */
	verdict: { verdict: VerdictWord; text: string; at: Timestamp } | null;
	/** The result that its run reported for later jobs; null also if it reported none. */
	result: unknown;
	/** What a person granted in an answer: a permission, or denied tool calls. */
	granted: { permission: "edit" | "full" | null; allow: string[] } | null;
	/** Tool calls that its last run was not allowed to make. */
	denied: string[];
	/** A question in the last words of its last run, which did not keep the job from ending. */
	closing_question: string | null;
	/** Total usage that its runs reported. */
	usage: Record<string, number>;
	/** What was wrong with a record that could not be read. */
	broken: string | null;
	version: number;
};

export type ReasonDocument = Omit<Reason, "since" | "clears_at" | "observed_at"> & {
	since: Timestamp | null;
	clears_at: Timestamp | null;
	observed_at: Timestamp | null;
};
/** Fields of an event's data that are times. */
const MOMENTS = ["until", "retry_at"] as const;
type ShownData<T> = { [F in keyof T]: F extends (typeof MOMENTS)[number] ? Timestamp : T[F] };
/** The kind says which data the event has. */
export type EventDocument = {
	[K in EventKind]: { seq: number; at: Timestamp; kind: K; job: number | null; by: string; data: ShownData<EventMap[K]> };
}[EventKind];
export type EndedDocument = { job: number; status: Status; retry_at: Timestamp | null };

/** The last moment that RFC 3339 can express; later ones are shown as this. */
const LAST = 253_402_300_799_999;
export const rfc3339 = (ms: number): Timestamp => new Date(Math.min(ms, LAST)).toISOString();
export const maybeTime = (ms: number | null | undefined): Timestamp | null => (ms === null || ms === undefined ? null : rfc3339(ms));

/** `pidOf`: the pid of a live run, by the run's id. */
export type Showing = {
	config: Config;
	mask: Mask;
	pidOf?: ((run: string) => number | null) | undefined;
	progressOf?: ((run: string) => AgentProgress | null) | undefined;
	isFrozen?: ((run: string) => boolean) | undefined;
};

/** The branch is kept on request: the engine has no merge to follow. */
const isKept = ({ spec }: JobView): boolean => spec.merge === "local" && !spec.no_merge;

/** The target that the merge reported, or the one that it would have now. */
function mergeTarget({ will_merge, merge_report, spec, repo }: JobView, { repos }: Config): string | null {
	if (!will_merge) return null;
	const known = repo !== undefined && Object.hasOwn(repos, repo) ? repos[repo] : undefined;
	return merge_report?.target ?? spec.base_branch ?? known?.base ?? null;
}

export function jobDocument(view: JobView, showing: Showing): JobDocument {
	return { ...courseOf(view, showing), ...workOf(view, showing), ...conditionsOf(view, showing), ...agentPartOf(view, showing) };
}

/** What became of it: its status, its times, its runs. */
function courseOf(view: JobView, { config, mask: _mask, ...live }: Showing) {
	const { spec } = view;
	return {
		id: view.id,
		name: view.name ?? null,
		status: view.status,
		kind: view.kind,
		blocked: view.blocked,
		wait_reason: view.wait_reason ?? null,
		held: view.held ?? null,
		waited_on: view.waited_on ?? [],
		waits_for: view.waits_for ?? [],
		exit_code: view.exit_code ?? null,
		raw_exit_code: view.raw_exit_code ?? null,
		exit_kind: view.exit_kind ?? null,
		end_reason: view.end_reason ?? null,
		merge_status: view.merge_status ?? (view.status === "succeeded" && isKept(view) ? "kept" : null),
		merge_report: view.merge_report ?? null,
		merge_target: mergeTarget(view, config),
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
	} satisfies Partial<JobDocument>;
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
		input_patch: spec.input_patch !== undefined,
		cwd: spec.cwd ?? null,
		env: spec.env ? masked(spec.env, mask) : null,
		host_labels: view.host_labels ?? [],
	} satisfies Partial<JobDocument>;
}

/** When and where it may run. */
function conditionsOf(view: JobView, { config }: Showing) {
	const { spec } = view;
	return {
		lane: view.lane,
		priority: view.priority,
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
		requires_approval: view.approval !== undefined,
		approval: view.approval ?? null,
		unique: spec.unique ? { window_ms: null, ...spec.unique } : null,
		owner: view.owner ?? null,
		account: view.account ?? null,
		timeout: spec.timeout_ms ?? null,
		stall_timeout: spec.stall_timeout_ms ?? null,
		retry: policyOf(view as unknown as Job, config),
		uses: view.uses ?? {},
	} satisfies Partial<JobDocument>;
}

/** What its agent was given, and what it said. */
function agentPartOf(view: JobView, { mask }: Showing) {
	const { spec } = view;
	return {
		model: spec.model ?? null,
		permission: spec.permission ?? (view.kind === "agent" ? "edit" : null),
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
		answer: view.answer ?? null,
		asked: view.asked ?? null,
		verdict: verdictOf(view),
		result: resultValue(view.result),
		granted: view.granted ? { permission: null, allow: [], ...view.granted } : null,
		denied: view.denied ?? [],
		closing_question: view.closing_question ?? null,
		usage: view.usage ?? {},
		broken: view.broken ?? view.spec.broken ?? null,
		version: spec.version,
	} satisfies Partial<JobDocument>;
}

function verdictOf({ run, verdict }: JobView): JobDocument["verdict"] {
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

type Live = Pick<Showing, "pidOf" | "progressOf" | "isFrozen">;

export const runDocument = (job: number, run: Run, { pidOf, progressOf, isFrozen }: Live = {}): RunDocument => ({
	id: `${job}.${run.attempt}`,
	attempt: run.attempt,
	host: run.host === "" ? null : run.host,
	worker: run.worker,
	account: run.account ?? null,
	started_at: rfc3339(run.started_at),
	lease_until: maybeTime(run.lease_until),
	launched: run.launched ?? false,
	pid: pidOf?.(`${job}.${run.attempt}`) ?? null,
	stop: run.intent ? { ...run.intent, at: rfc3339(run.intent.at) } : null,
	frozen: isFrozen?.(`${job}.${run.attempt}`) ?? false,
	progress: progressOf?.(`${job}.${run.attempt}`) ?? null,
});

const lastRun = (job: number, run: NonNullable<Job["last_run"]>): NonNullable<JobDocument["last_run"]> => ({
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

export const endedDocument = ({ job, status, retry_at }: Ended): EndedDocument => ({ job, status, retry_at: maybeTime(retry_at) });
