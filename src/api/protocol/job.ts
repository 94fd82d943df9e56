// The methods that act on jobs.

import type { Slung } from "../../contracts/intake.ts";
import type {
	ApplyResult,
	CancelReport,
	HoldReport,
	Manifest,
	RewindAllReport,
	RewindReport,
	RunEnd,
	Why,
} from "../../contracts/scheduler.ts";
import type { Basis } from "../../core/forecast/durations.ts";
import { GRAPH_FORMATS, type GraphDocument, type GraphFormat } from "../../core/graph/text.ts";
import { type JobInput, STATUSES, type Status } from "../../core/job.ts";
import { TOLD_CHARACTERS, type ToldHow } from "../../core/runs/told.ts";
import type { JobKey } from "../../core/schema/job.ts";
import { CLAIM, RUN_END } from "../../core/schema/run.ts";
import { SLING } from "../../core/schema/sling.ts";
import type { LogPiece } from "../context.ts";
import type { EtaDocument } from "../documents/eta.ts";
import type { RangeDocument } from "../documents/forecast.ts";
import type { CauseDocument, ReasonRemedy } from "../documents/queue.ts";
import type { Doc, EndedDocument, EventDocument, JobDocument, ReasonDocument, RunDocument, Timestamp } from "../documents.ts";
import {
	choice,
	choices,
	flag,
	id,
	ids,
	label,
	maybe,
	object,
	openMethod,
	operatorMethod,
	type Ref,
	runMethod,
	text,
	viewerMethod,
	whole,
	words,
} from "../fields.ts";
import { JOB_FILTER } from "./job/filter.ts";
import { PROCESS_METHODS } from "./job/process.ts";

export type AddDocument = Doc<
	| { outcome: "queued"; job: JobDocument; position: number | null; warning?: string; jobs?: number[] }
	| { outcome: "already_running"; job: number; holder: number }
	| { outcome: "deferred"; limit: number; depths: Record<string, number>; hint: string }
	| { outcome: "duplicate"; job: number }
>;
/** What `job.add` would do with the same parameters. */
export type PreviewDocument = Doc<{
	/** How many jobs it becomes: a recipe may have several steps. The times below are of the first. */
	jobs: number;
	warnings: string[];
	/** Waiting jobs that would start before it. */
	ahead: number;
	start: RangeDocument | null;
	end: RangeDocument | null;
	/** Why there are no times. */
	stuck: string | null;
	/** What its times are estimated from. */
	basis: Basis | null;
	/** What such jobs cost on average in the last 30 days, by their model, else their agent, else their lane. */
	cost: { micro: number; jobs: number; of: string } | null;
}>;
export type AttemptDocument = { job: number; attempt: number; started_at: Timestamp; ended_at: Timestamp | null; end: string | null };
export type OneJob = Doc<{ job: JobDocument }>;
export type ClaimedDocument = { job: JobDocument; spec: Record<string, unknown>; run: RunDocument & { token: number } };
export type WaitedJob = Pick<JobDocument, "id" | "name" | "status" | "exit_code" | "exit_kind" | "end_reason" | "last_failure">;

const { force } = SLING;
const reason = maybe(text("why, for the record", 10_000));
const act = <R = OneJob>(about: string, result = "{job}") => operatorMethod<R>()({ about, params: { id: id() }, result });

const several = { id: maybe(id()), ids: maybe(ids("several at once")) };
const actEach = (about: string) =>
	operatorMethod<OneJob & HoldReport>()({
		about: `${about} Of several, each is tried; the only one that is refused is an error.`,
		params: several,
		result: "{job, done, refused: [{job, code, message}]}; `job` is the first of them",
	});

export type OpenDocument = Doc<{
	job: number;
	/** The host of the folder, if several hosts share the store. */
	host: string | null;
	repo: string | null;
	path: string;
	branch: string | null;
	base_branch: string | null;
	/** Null: its host does not answer. */
	there: boolean | null;
	/** For a removed worktree: the command that recreates it at its path, where the agent finds its session. */
	restore: string[] | null;
	session: string | null;
	/** How a person resumes it in that folder: argv, and variables that it needs. */
	resume: { argv: string[]; env: Record<string, string> } | null;
}>;

export type AttachDocument = Doc<{
	job: number;
	key: string;
	state: "waiting" | "ready";
	open: { path: string; argv: string[]; env: Record<string, string>; session: string } | null;
}>;

export const JOB_METHODS = {
	"job.add": openMethod<JobInput & { force?: boolean | undefined; capture_diff?: boolean | undefined }, AddDocument>("job")({
		role: "run",
		about:
			"Adds one job and says at once where it stands. Takes every field of a job's input. A recipe with steps adds several: `job` is the first, `jobs` are all.",
		params: { force, capture_diff: maybe(flag("what is uncommitted in the working tree of `cwd` now becomes the job's `input_patch`")) },
		result: "{outcome, job?, position?, warning?, holder?, limit?, depths?, hint?, jobs?}",
	}),
	"job.preview": openMethod<JobInput, PreviewDocument>("job")({
		role: "operator",
		about:
			"What `job.add` would say to the same parameters, without adding anything: the same refusals and warnings, when it would start and end, what such jobs usually cost.",
		params: {},
		result:
			"{jobs, warnings, ahead, start: {p50, p90}, end: {p50, p90}, stuck, basis: {of, runs, like, usual: {p50_ms, p90_ms}}, cost: {micro, jobs, of}}",
	}),
	"job.sling": runMethod<Doc<Omit<Slung, "added"> & { dry_run: boolean }>>()({
		about:
			"Schedules items of a source: single ones, all children of an epic, all that a batch tracks. What is worked on already is skipped.",
		params: SLING,
		result:
			"{jobs, skipped: [{item, reason, job}], planned: [{job, item, source, title, repo, recipe, agent, step, batch}], warnings, batches, deferred: {limit, depths, hint} or null, dry_run}",
	}),
	"job.apply": runMethod<
		Doc<
			Required<Pick<ApplyResult, "jobs" | "names" | "skipped" | "updated" | "not_named">> & {
				refusal: NonNullable<ApplyResult["refusal"]> | null;
				warning?: string;
			}
		>
	>()({
		about: "Adds many jobs that may refer to each other, all or none.",
		params: {
			manifest: object<Manifest>("`{defaults?, jobs, batch?}`; a job may have `for_each`: docs/reference/manifest.md"),
			check: maybe(flag("only look at it: everything is checked, nothing is added; `refusal` says what `apply` would refuse it for")),
			update: maybe(flag("its names are known and it was changed: change what waits, add what is new, leave what runs")),
			again: maybe(flag("all its jobs have ended: run it anew")),
			env: maybe(object<Record<string, string>>("variables of the caller, below those that the manifest sets")),
			force,
		},
		result: "{jobs, names, skipped: [{name, job, reason}], updated: [{name, job}], not_named: [{name, job}], refusal, warning?}",
	}),
	"job.show": viewerMethod<OneJob>()({ about: "One job, with everything it carries.", params: { id: id() }, result: "{job}" }),
	"job.list": viewerMethod<Doc<{ jobs: JobDocument[]; seq: number }>>()({
		about: "Jobs by number: the active ones, or also those that ended.",
		params: {
			status: maybe(choices("only these; ended ones too", STATUSES)),
			lane: maybe(label("only of this lane")),
			repo: maybe(label("only of this repo")),
			batch: maybe(label("only of this batch")),
			all: maybe(flag("ended ones too")),
			limit: maybe(whole("at most so many (1,000)", 1, 10_000)),
			after: maybe(whole("only above this number: the last one of the page before", 0, Number.MAX_SAFE_INTEGER)),
			before: maybe(
				whole("only below this number, and of these the highest: the first one of the page behind", 1, Number.MAX_SAFE_INTEGER),
			),
			ids: maybe(ids("only these, active or ended; what is not there is left out")),
			recent: maybe(whole("instead of the active ones: so many of those that ended last", 1, 10_000)),
			fields: maybe(words("only these fields of each job; else all")),
		},
		result: "{jobs, seq}; `seq` is the last event that the list is sure to know of: go on from there with `/events?since=`",
	}),
	"job.queue": viewerMethod<
		Doc<{
			ready: number;
			jobs: { id: number; cause: number | null }[];
			causes: CauseDocument[];
			locked: { id: number; detail: string }[];
			counts: Record<Status, number>;
			seq: number;
		}>
	>()({
		about: "Ready jobs in the order of their starts, the held ones last; what keeps each from starting; how many jobs have each status.",
		params: { limit: maybe(whole("at most so many (200)", 1, 10_000)) },
		result:
			"{ready, jobs: [{id, cause}], causes: [{kind, subject, detail, jobs, clears_at, remedy, ids?}], locked: [{id, detail}], counts, seq}; `cause` is an index in `causes`, `locked` are jobs that wait for a lock, and which job has it",
	}),
	"job.search": viewerMethod<Doc<{ jobs: JobDocument[]; seq: number; looked: number; complete: boolean }>>()({
		about:
			"Jobs in which every word occurs, active or ended, the newest first: in number, name, title, prompt, command, lane, repo, batch, agent, owner, item.",
		params: {
			text: text("the words", 1000),
			limit: maybe(whole("at most so many (100)", 1, 1000)),
			before: maybe(whole("only below this number", 1, Number.MAX_SAFE_INTEGER)),
			fields: maybe(words("only these fields of each job; else all")),
		},
		result: "{jobs, seq, looked, complete}; `complete`: false if there may be more below the lowest number that was looked at, `looked`",
	}),
	"job.select": viewerMethod<Doc<{ ids: number[]; total: number }>>()({
		about:
			"The numbers of all jobs that match a filter, to act on all of them. Without `status`, `since` and `all`: those that have not ended.",
		params: {
			filter: JOB_FILTER,
			limit: maybe(whole("at most so many numbers (10,000)", 1, 10_000)),
		},
		result: "{ids, total}; `total` counts also those beyond `limit`",
	}),
	"job.why": viewerMethod<
		Doc<{
			job: JobDocument;
			/** An older daemon sends no remedies. */
			reasons: (ReasonDocument & { remedy?: ReasonRemedy | null })[];
			position: number | null;
			priority: Why["priority"];
			waiters: number[];
			results: { job: number; name: string | null; status: Status; has_result: boolean }[];
			eta?: EtaDocument;
			/** Why the repo's own recipe of the same name is not in force. */
			warning?: string;
		}>
	>()({
		about:
			"Everything that keeps a job from starting, its place in line, how its priority adds up, and when it is likely to start and end. `waiters` are the jobs whose runs wait for it, `results` those whose results its prompt asks for.",
		params: { id: id() },
		result:
			"{job, reasons: [{code, detail, subject, remedy, …}], position, priority: {total, terms}, waiters, results: [{job, name, status, has_result}], eta?: {start: {p50, p90}, end: {p50, p90}, basis: {runs, of, like, usual: {p50_ms, p90_ms}}, stuck}}; `remedy` is what a person can do: {act, subject} or null",
	}),
	"job.history": viewerMethod<Doc<{ events: EventDocument[] }>>()({
		about: "What has happened to a job: who, when, from, to, why.",
		params: { id: id() },
		result: "{events}",
	}),
	"job.attempts": viewerMethod<Doc<{ attempts: AttemptDocument[] }>>()({
		about: "When each run of these jobs began and ended, the oldest first; of a job that is gone nothing.",
		params: { ids: ids("the jobs, 500 at most") },
		result: "{attempts: [{job, attempt, started_at, ended_at, end}]}; `end` is the exit kind, null while it runs",
	}),
	"job.graph": viewerMethod<Doc<GraphDocument | { format: Exclude<GraphFormat, "json">; text: string }>>()({
		about: "What waits for what: active and blocked jobs, all of them, or one with what it waits for and what waits for it.",
		params: {
			all: maybe(flag("ended ones too")),
			job: maybe(id("one job and those around it")),
			batch: maybe(label("only of this batch")),
			format: maybe(choice("how it is drawn (json)", GRAPH_FORMATS)),
			max_depth: maybe(whole("how far it goes on from a job (3)", 0, 1000)),
		},
		result: "{nodes: [{id, status, command, wait}], edges: [{from, to, after?: {policy}, artifact?, state?}]}, or {format, text}",
	}),
	"job.logs": viewerMethod<Doc<LogPiece>>()({
		about:
			"A piece of a run's output: of both streams in their order, or of one. Ask again from `next_offset` until `ended`. `parts` tells which stream each part of `text` is of.",
		params: {
			id: id(),
			run: maybe(whole("the attempt; the last one when absent", 1, 1_000_000)),
			stream: maybe(choice("which output (both)", ["both", "stdout", "stderr"])),
			offset: maybe(
				whole("the byte to begin at (0); below zero it counts from the end", -Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
			),
			tail: maybe(whole("begin at the last so many lines, instead of at `offset`", 0, 1_000_000)),
			limit: maybe(whole("bytes at most (65,536)", 1, 1_000_000)),
			wait_ms: maybe(whole("when nothing is there yet, wait so long for more", 0, 25_000)),
		},
		result:
			"{run, stream, offset, next_offset, text, parts: [{stream, length}], eof, ended, output, host?, note?}; `length` counts UTF-16 code units",
	}),
	"job.outcome": viewerMethod<Doc<{ job: number; run: string; host: string | null; outcome: Record<string, unknown> }>>()({
		about:
			"The account of a run that has ended: how, when, its last words, what it used. `host` is the one that had it, where several share a store.",
		params: { id: id(), run: maybe(whole("the attempt; the last one when absent", 1, 1_000_000)) },
		result: "{job, run, host, outcome: {exit_kind, exit_code, signal, message, started_at, ended_at, …}}",
	}),
	"job.wait": viewerMethod<Doc<{ jobs: WaitedJob[]; done: boolean }>>()({
		about:
			"Answers when all of these jobs have ended, or after a while with `done: false`: ask again. Takes one of `ids`, `batch`, `lane`, `all`. A run that asks lends its slot while it waits; a job that can end only after the run is refused.",
		params: {
			ids: maybe(ids("the jobs")),
			batch: maybe(label("all jobs of this batch; also those that have ended")),
			lane: maybe(label("the jobs of this lane that have not ended")),
			all: maybe(flag("every job that has not ended; of a run, not itself")),
			timeout_ms: maybe(whole("how long to wait (25,000)", 0, 25_000)),
		},
		result: "{jobs: [{id, name, status, exit_code, exit_kind, end_reason, last_failure}], done}",
	}),
	"job.cancel": operatorMethod<Doc<CancelReport>>()({
		about:
			"Ends waiting jobs; running ones are asked to stop. Of several, each is tried: `refused` are those that had ended before, `ended` those that ended with others of them. The only one that is refused is an error.",
		params: { ...several, subtree: maybe(flag("and everything that comes after them")), reason },
		result: "{cancelled, requested, ended, refused: [{job, code, message}]}",
	}),
	"job.retry": operatorMethod<Doc<RewindReport & Partial<Pick<RewindAllReport, "skipped">>>>()({
		about: "Rewinds jobs and everything downstream of them. Of several, those that cannot be rewound are skipped.",
		params: several,
		result: "{reset, restarted, last_successful, left_blocked, skipped?: [{job, reason}]}",
	}),
	"job.rerun": act<Doc<RewindReport>>(
		"Runs an ended job again, without its dependents; its children that it had blocked come back with it.",
		"{reset, restarted, last_successful, left_blocked}",
	),
	"job.merge": operatorMethod<OneJob>()({
		about:
			"Tries the merge of a job that ended well once more, as its worktree and branch stand now, without a run; or gives it up, and what waits for it is blocked.",
		params: { id: id(), drop: maybe(flag("give it up: the branch stays, nothing is merged")), reason },
		result: "{job}",
	}),
	"job.promote": actEach("Moves waiting jobs to the front of their lanes, in the given order."),
	"job.demote": actEach("Moves waiting jobs to the end of their lanes, in the given order."),
	"job.priority": operatorMethod<OneJob>()({
		about: "Sets a job's own term of the priority sum.",
		params: { id: id(), priority: whole("higher goes sooner", -1_000_000, 1_000_000) },
		result: "{job}",
	}),
	"job.run_now": operatorMethod<Doc<{ job: JobDocument; reasons: ReasonDocument[] }>>()({
		about: "Moves a waiting job before all others and ends its delay and its back-off. `reasons` are what still keeps it from starting.",
		params: { id: id(), force: maybe(flag("also past max_concurrent and lane caps")) },
		result: "{job, reasons}",
	}),
	"job.edit": operatorMethod<Doc<{ job: JobDocument; changed: JobKey[]; fields: JobInput; warning?: string }>>()({
		about:
			"Changes fields of a waiting job, and refuses what `job.add` would refuse. It keeps its number, its age and what comes after it; item, source, parent, trigger, recipe and vars stay. Without `set` and `unset` it changes nothing: `fields` says what the job has now.",
		params: {
			id: id(),
			set: maybe(object<JobInput>("fields with their new values, as `job.add` takes them; null takes a field away")),
			unset: maybe(words("fields that are taken away: the job then has the default")),
		},
		result:
			"{job, changed, fields, warning?}; `changed` are names of fields; in `fields` secrets are masked: a masked variable that is set keeps its value",
	}),
	...PROCESS_METHODS,
	"job.approve": actEach("Agrees to jobs that ask for approval."),
	"job.reject": operatorMethod<OneJob>()({
		about: "Refuses a job that asks for approval: it ends as cancelled.",
		params: { id: id(), reason },
		result: "{job}",
	}),
	"job.answer": operatorMethod<OneJob>()({
		about: "Answers what a job's last run asked, or grants what it was denied; it goes on with that.",
		params: {
			id: id(),
			text: maybe(text("the answer; may be left out where a permission is granted")),
			permission: maybe(
				choice(
					"what its runs may do from now on; `asked`: the commands that were denied in its last run, and whatever follows them, and the tools that were denied, for anything",
					["edit", "full", "asked"],
				),
			),
		},
		result: "{job}",
	}),
	"job.tell": operatorMethod<Doc<{ job: JobDocument; how: ToldHow; detail: string }>>()({
		about:
			"Tells a job's agent something. `how` is `turn`: its run is stopped at the end of its present turn and goes on with the text, in its session, with its slot and its locks; or `next`: its next run gets it. `detail` says why.",
		params: { id: id(), text: text("what the agent should know", TOLD_CHARACTERS) },
		result: "{job, how, detail}",
	}),
	"job.attach": operatorMethod<AttachDocument>()({
		about:
			"For a terminal: asks for the session of an agent's live run on this host. The run is stopped at the end of its present turn; `open` then says how a person goes on with the session, and the job keeps its slot and locks. Ask again with `key` every few seconds: without that for 30 s the run goes on by itself.",
		params: { id: id(), key: maybe(text("of the first answer", 100)) },
		result: "{job, key, state, open: {path, argv, env, session}}; `open` is null while `state` is `waiting`",
	}),
	"job.detach": operatorMethod<Doc<{ job: number; released: boolean }>>()({
		about: "For a terminal: the person has left the session. The run goes on in it, or with `done` ends as completed, as its work stands.",
		params: { id: id(), key: text("of job.attach", 100), done: maybe(flag("the run has completed")) },
		result: "{job, released}; `released` is false if the run went on before",
	}),
	"job.claim": operatorMethod<Doc<{ claimed: ClaimedDocument[] }>>()({
		about: "For workers outside: takes the best startable jobs that carry only a payload.",
		params: { worker: CLAIM.worker, max: CLAIM.max, lanes: CLAIM.lanes },
		result: "{claimed: [{job, spec, run: {token, …}}]}",
	}),
	"job.complete": openMethod<Omit<RunEnd, "job" | "until"> & { job: Ref; until?: Timestamp | number }, Doc<EndedDocument>>("ending")({
		role: "operator",
		about: "For workers outside: a run has ended, this is how.",
		params: { ...RUN_END, job: id() },
		result: "{job, status, retry_at}",
	}),
	"job.extend": operatorMethod<Doc<{ cancel_requested: boolean; lease_until: Timestamp | null }>>()({
		about: "For workers outside: keeps a run's lease, and tells whether it should stop.",
		params: { job: id(), token: RUN_END.token },
		result: "{cancel_requested, lease_until}",
	}),
	"job.diff": viewerMethod<Doc<{ job: number; patch: string; from: "worktree" | "run" | "branch"; host?: string; of_bytes?: number }>>()({
		about:
			"What a job has changed, as a patch: in its worktree, or in its last run when that is gone. Of one that has not started and writes on a branch that is there: what the branch has by now.",
		params: {
			id: id(),
			beginning: maybe(flag("of a patch above 5 MB its first lines, instead of an error; `of_bytes` is the size of all of it")),
		},
		result: "{job, patch, from, of_bytes?}",
	}),
	"job.open": viewerMethod<OpenDocument>()({
		about: "Where a job works: its worktree and branch, or its folder; its agent's session, and how to go on with it by hand.",
		params: { id: id() },
		result: "{job, host, repo, path, branch, base_branch, there, restore, session, resume: {argv, env}}",
	}),
} as const;
