// Contract of the engine: what the library, the daemon, the CLI and the simulator call. Every method is durable before its promise resolves.

import type { AddResult, ApplyOptions, ApplyResult, Manifest, OfItems } from "./adding.ts";
import type { Granted } from "./core/agents/allowing.ts";
import type { Config, PresetName } from "./core/config.ts";
import type { Forecast } from "./core/forecast.ts";
import type { Graph } from "./core/graph-text.ts";
import type { After, ExitKind, Job, JobInput, JobSpec, MergeReport, Run, Status, StopKind } from "./core/job.ts";
import type { Reason, ReasonCode } from "./core/reason.ts";
import type { Fleet, HostView } from "./fleet.ts";
import type { Clock, Facts, Host } from "./host.ts";
import type { Kernel } from "./kernel.ts";
import type { Log } from "./log.ts";
import type { AccountView, BudgetView } from "./money.ts";
import type { Outputs } from "./output.ts";
import type { ResultView, Voice } from "./voice.ts";

export type { AddResult, ApplyOptions, ApplyResult, ForEach, Manifest } from "./adding.ts";

/** Partial configuration, as in config.yml; durations as numbers of ms or "30s". Unknown keys are errors. */
export type ConfigInput = Record<string, unknown>;

export type OpenOptions = {
	/** SQLite file; ":memory:" for tests. This or `url`. */
	path?: string;
	/** A PostgreSQL database that several hosts share: postgres://user@host/database, with ?schema=NAME for another schema than `sluice`. */
	url?: string;
	preset?: PresetName;
	config?: ConfigInput;
	clock?: Clock;
	host?: Host;
	/** Jitter: a number in [0, 1). */
	chance?: () => number;
	/** Who acts, when a call does not say. */
	by?: string;
	/**
	 * This host's name, labels and repos; `repos` absent = all. `home`: where several hosts share the store, whose name it is. Such a host has a lease that
	 * `heartbeat` renews: one that is not heard of for `stale_after_ms` loses its runs to others. And it hears of what the others do.
	 */
	join?: { name?: string; labels?: string[]; repos?: string[]; home?: string };
	/** "shared": the settings are those in the store, for all who have it open; `config` and `preset` count only if it has none yet. */
	settings?: "own" | "shared";
	/** Other processes write to the same store: so often we look whether they have. Absent = what they did is seen with our next transaction. */
	poll_others_ms?: number;
	/** Names that mean an agent here: a job that names another one is refused, unless with `force` or where the setting `agents` lists it. Absent = any. */
	agents?: () => readonly string[];
	/** Gets a line when a pass is abandoned. */
	log?: Pick<Log, "error">;
	/** "manual": nothing happens by itself; call `tick()`. For tests and the simulator. */
	drive?: "auto" | "manual";
	/** Called at each named point of a transaction; may throw, as a crash or a full disk would. For the simulator. */
	fault?: (point: string) => void;
	/** How many jobs of a manifest go into one transaction; a larger manifest goes in stages of this size. For tests and the simulator. */
	piece?: number;
};

/** A job as it is shown: the document, what was handed to the host, and its edges. */
export type JobView = Omit<
	Job,
	"line" | "bucket" | "path" | "due_at" | "dependents" | "deps_left" | "reserve_at" | "awaited" | "timely" | "serial_wait"
> & {
	spec: JobSpec;
	after: After[];
	parent: number | null;
	depth: number;
	/** Waits for something of its own other than its turn. */
	blocked: boolean;
	/** Ready, but kept from its turn by a hold, a budget or the want of a host: the first of them. */
	held?: { kind: ReasonCode; detail: string };
	/** Its run waits for these jobs and lends its slot. */
	waits_for?: number[];
};

export type ClaimOptions = {
	worker: string;
	max?: number;
	lanes?: string[];
	/** Default: every kind but kernel. */
	kinds?: ("command" | "agent" | "payload")[];
	host?: string;
};
/** `report`: what this cycle did, with the jobs that it really started as `dispatch`. */
export type Cycled = { claimed: Claimed[]; report: PlanReport };
export type Claimed = { job: Job; spec: JobSpec; run: Run };

export type Ending = {
	job: number;
	token: number;
	exit_kind: ExitKind;
	exit_code?: number | null;
	message?: string;
	/** Charges per ledger dimension, as deltas: tokens, cost_micro … (wall_s and runs are ours). */
	usage?: Record<string, number>;
	session?: string;
	/** rate_limited: when the provider said it may go on, or after how long. */
	until?: number;
	/** rate_limited: the provider named no reset, and `until` is this, which is assumed: "midnight in California". */
	until_assumed?: string;
	retry_after_ms?: number;
	/** rate_limited: closed until a person clears it (auth, billing). */
	closed?: string;
	/** crashed: the provider was down. Its account is held, and the job waits without burning a retry: core/outage.ts. */
	outage?: boolean;
	/** crashed: it was broken off, and the next run goes on with its session. What the run said stays said. */
	goes_on?: boolean;
	/** needs_human: what it asks. */
	question?: string;
	/** Tool calls that the agent was not allowed to make; an empty list: none of them was denied. Absent: nothing is known. */
	denied?: string[];
	/** completed: what its last words ask. */
	closing_question?: string;
	/** lost: the machine went down, or its host was lost with it; burns nothing. */
	reboot?: boolean;
	/**
	 * launch_failed: the job itself is to blame, since its program or agent does not exist or cannot be executed. It counts against this job alone and
	 * opens no breaker. Absent: what the job shares with others may be to blame (a worktree that cannot be made, a full disk).
	 */
	fault?: "job";
	merge_status?: Job["merge_status"];
	/** Its host has what the next run goes on with: while it is live, no other gets it. */
	stays?: boolean;
};
export type Ended = { job: number; status: Status; retry_at?: number };

export type PlanReport = {
	dispatch: number[];
	skipped: { job: number; reason: string }[];
	reason: "capacity" | "batch" | "ready" | "paused" | "none";
	/** More about the bound, in words: when the next cycle is, what follows after spawn_delay. */
	detail?: string;
};

export type Why = {
	job: JobView;
	reasons: Reason[];
	position: number | null;
	priority: { total: number; terms: { name: string; value: number }[] };
	/** Jobs whose runs wait for this one. */
	waiters: number[];
	/** The jobs whose results its prompt asks for. */
	results: ResultView[];
};

export type Scope = { lane?: string; repo?: string; batch?: string; account?: string };
export type Act = { by?: string; reason?: string };

export type StatusReport = {
	/** Entries of the kernel's queue: claimed by outside workers, whatever is paused here. */
	kernel: { queued: number; dispatched: number };
	paused: boolean;
	paused_by: string | null;
	paused_at: number | null;
	queued_total: number;
	/** Those whose own gates have passed, held or not. */
	queued_ready: number;
	/** Those of the ready that a hold, a budget or the want of a host keeps from their turn. */
	queued_held: number;
	/** What keeps them, a hundred reasons at most, that of the most jobs first. */
	held: { kind: ReasonCode; subject: string; detail: string; jobs: number }[];
	running: number;
	/** Those of them that wait for jobs and lend their slots. */
	lending: number;
	max_concurrent: number;
	lanes: Record<string, { queued: number; running: number; lending: number; max: number | null }>;
	/** `agent`: whose provider is down. */
	holds: { scope: string; kind: string; agent?: string; since: number; until: number | null; by: string; reason: string }[];
	hosts: HostView[];
	backpressure: string | null;
	last_dispatch_at: number | null;
	/** Jobs that wait for a person, the oldest first, a hundred at most. `question` is null where approval is asked for. */
	/** `denied`: what its last run was not allowed to do. */
	needs_human: { job: number; name: string | null; agent: string | null; question: string | null; denied: string[]; since: number }[];
	/** Budgets that are used up or near it, what is set aside included. */
	budgets: BudgetView[];
	/** Jobs that ended badly in the last 24 hours and were not taken up again; each is counted up to 10,000. */
	recent_failures: { since: number; failed: number; blocked_by_dependency: number };
	/** Those of the last hundred jobs that ended, within 24 hours, whose last run was not allowed something. */
	denied: { job: number; name: string | null; denied: string[] }[];
};

/** `events`: of this process's commit. `heard`: what others have committed since the last time; not always all of it. */
export type News = { stirred: boolean; events: readonly EventRow[]; heard: readonly EventRow[] };
export type EventRow = { seq: number; at: number; kind: string; job: number | null; by: string; data: Record<string, unknown> };

/** What if: other caps than those in force. `batch`: only its jobs are told of. `frozen`: jobs whose runs stand still and keep their slots. */
export type ForecastOptions = { max_concurrent?: number; lanes?: Record<string, number | null>; batch?: string; frozen?: number[] };

/** What is kept of a trigger. Slots up to `since` never come; those up to `slot` are dealt with. */
export type TriggerView = {
	name: string;
	since: number;
	slot: number | null;
	fired_at: number | null;
	/** The job that it added last. */
	job: number | null;
	/** Slots that passed without a job since it was armed. */
	skipped: number;
	/** Why the last slot got no job, if that was a mistake. */
	error: string | null;
};
/** `open`: one that it added is still open (or its item or unique key is taken): nothing was added. `past`: the slot is dealt with already. */
export type FireResult = { outcome: "added"; job: number } | { outcome: "open"; job: number } | { outcome: "past" };

/** `cancelled`: waited, and have ended. `requested`: run, and were asked to stop. `ended`: ended meanwhile in another way. `refused`: had ended before. */
export type CancelReport = {
	cancelled: number[];
	requested: number[];
	ended: number[];
	refused: { job: number; code: string; message: string }[];
};

/** `left_blocked`: after `rerun`, jobs that stay blocked though what blocked them runs again; `retry` would have brought them back. */
export type RewindReport = { reset: number[]; restarted: number[]; last_successful: number[]; left_blocked: number[] };
export type RewindAllReport = Omit<RewindReport, "last_successful" | "left_blocked"> & { skipped: { job: number; reason: string }[] };

/** `unmerged`: how many of those that are kept are so since their merge is open; absent when there are none. */
export type GcReport = { deleted: number; kept: number; unmerged?: number };

/** A lock that is held or kept free for somebody. */
export type LockView = { key: string; holders: { job: number; mode: "shared" | "exclusive" }[]; reserved_for: number | null };
export type BatchView = { name: string; open: number; total: number; owned: boolean };
/** `present` is null while nobody has looked, or when looking failed. */
export type ArtifactView = { artifact: string; repo: string | null; present: boolean | null; observed_at: number; error: string | null };

export type { HostView } from "./fleet.ts";
export type { AccountView, BudgetView, LedgerView } from "./money.ts";
export type { ResultView } from "./voice.ts";

export interface Scheduler extends Fleet, Voice {
	add(job: JobInput, options?: Act & { force?: boolean; items?: OfItems }): Promise<AddResult>;
	/** With `check` everything is looked at and nothing is added: `jobs` is empty. What a manifest does whose names are known already: the table in core/reapply.ts. */
	apply(manifest: Manifest, options?: ApplyOptions): Promise<ApplyResult>;
	/** A trigger is there from now on; armed with the same mark as before it goes on where it was. */
	arm(trigger: string, mark: string): Promise<TriggerView>;
	disarm(trigger: string): Promise<void>;
	triggers(): Promise<TriggerView[]>;
	/**
	 * Adds a trigger's job for one of its slots, once, and not while one that it added is open; then the slot is skipped, or left for later
	 * (`when_open: "wait"`). Without a job the slot just passes. Without a slot: by hand, now. A full queue does not turn it away.
	 */
	fire(
		trigger: string,
		firing: { slot?: number; job?: JobInput; when_open?: "skip" | "wait"; error?: string },
		options?: Act,
	): Promise<FireResult>;
	claim(options: ClaimOptions): Promise<Claimed[]>;
	/** A cycle by hand (`sluice run`): opens one now, claims what it lets start, and says what bound it. The next regular cycle comes when it would have. */
	runCycle(options: ClaimOptions): Promise<Cycled>;
	/** The process is there: zeroes dispatch_failures, closes a half-open breaker. */
	started(run: { job: number; token: number }): Promise<void>;
	/** The provider has answered the run: if its account was held for an outage, that is over. Asked for by `run.probe`. */
	answered(run: { job: number; token: number }): Promise<void>;
	complete(ending: Ending): Promise<Ended>;
	/** Heartbeat: keeps the lease, tells whether somebody asked for a stop. */
	extend(run: { job: number; token: number }): Promise<{ cancel_requested: boolean; lease_until: number | null }>;
	/**
	 * The run waits for these jobs from now on and lends its slot meanwhile: in every cap on runs but the safety cap; its locks and resources it keeps. It has its
	 * slot again when the last of them has ended, or with `endWait`. Refused if one of them can end only after the run. `wait` null: all of them have ended.
	 */
	beginWait(run: { job: number; token: number }, ids: readonly number[]): Promise<{ wait: number | null; open: number[] }>;
	/** One that is over already, or a run that has ended, is no mistake. */
	endWait(run: { job: number; token: number }, wait: number): Promise<void>;
	/** All waits of a host's runs are over: the callers that waited are no longer connected. */
	endWaits(host?: string): Promise<void>;
	/** Records that a live run is to be stopped, before the first signal: however its program exits, the run ends as `kind`. The first intent counts. */
	stop(run: { job: number; token: number }, stop: { kind: StopKind; reason: string }, options?: Act): Promise<void>;
	/** The live runs that were given to a host, with what it needs to carry them on. */
	assigned(host?: string): Promise<Claimed[]>;

	cancel(id: number, options?: Act & { subtree?: boolean }): Promise<Pick<CancelReport, "cancelled" | "requested">>;
	/** The same for several: none of them starts once the first transaction is committed, however many they are. */
	cancelAll(ids: readonly number[], options?: Act & { subtree?: boolean }): Promise<CancelReport>;
	/** Rewind: this job and everything downstream of it. */
	retry(id: number, options?: Act): Promise<RewindReport>;
	/** The same for several, in one transaction. One that cannot be rewound is skipped and keeps none of the others from it. */
	retryAll(ids: readonly number[], options?: Act): Promise<RewindAllReport>;
	/** This job without what comes after it, but with its children that its end had blocked. */
	rerun(id: number, options?: Act): Promise<RewindReport>;
	promote(id: number, options?: Act): Promise<void>;
	demote(id: number, options?: Act): Promise<void>;
	priority(id: number, priority: number, options?: Act): Promise<void>;
	runNow(id: number, options?: Act & { force?: boolean }): Promise<void>;
	approve(id: number, options?: Act): Promise<void>;
	reject(id: number, options?: Act): Promise<void>;
	/** `grant`: what its runs may do from now on, until the job is begun anew. */
	answer(id: number, text: string, options?: Act & { grant?: Granted }): Promise<void>;
	pause(scope?: Scope, options?: Act & { until?: number }): Promise<void>;
	resume(scope?: Scope, options?: Act): Promise<void>;
	/** The environment is mended: the open breaker of an agent or repo is closed without a probe. False: none was open. */
	closeBreaker(of: { agent: string } | { repo: string }, options?: Act): Promise<boolean>;
	clear(options?: Act & { item?: string }): Promise<{ cleared: number[] }>;
	/** What became of a succeeded job's branch, with what there is to say about it. */
	merged(id: number, status: NonNullable<Job["merge_status"]>, report?: MergeReport): Promise<void>;
	/** The merge of a job that ended well is tried once more, without a run, by the host that has its worktree. */
	mergeAgain(id: number, options?: Act): Promise<void>;
	/** It is not to be merged any more: `kept`. What comes after it with `merged` can no longer be met. */
	dropMerge(id: number, options?: Act): Promise<void>;
	show(id: number): Promise<JobView>;
	list(filter?: {
		status?: Status[];
		lane?: string;
		repo?: string;
		batch?: string;
		all?: boolean;
		limit?: number;
		after?: number;
		/** Only below this number, and of these the highest. */
		before?: number;
		/** Only these, active or ended; those that are not there are left out. */
		ids?: number[];
		/** Instead of the active ones: so many of those that ended last. */
		recent?: number;
	}): Promise<JobView[]>;
	why(id: number): Promise<Why>;
	history(id: number): Promise<EventRow[]>;
	/** Jobs with their edges: the active and blocked ones, all, those of a batch, or one with what it waits for and what waits for it. */
	graph(filter?: { all?: boolean; job?: number; batch?: string; max_depth?: number }): Promise<Graph>;
	/** The number of the job that has this name; the error suggests near ones. */
	find(name: string): Promise<number>;
	status(): Promise<StatusReport>;
	locks(): Promise<LockView[]>;
	batches(): Promise<BatchView[]>;
	/** A batch that its caller owns is done with: it closes now, or when its last open job ends. */
	closeBatch(name: string, options?: Act): Promise<BatchView>;
	artifacts(): Promise<ArtifactView[]>;
	/** When each job and batch is likely to start and end, going by past runs; what that hangs on. Changes nothing. */
	forecast(options?: ForecastOptions): Promise<Forecast>;
	/** What one dispatch pass would start now, and what bounds it. Changes nothing. `cycle: "now"`: as if the next cycle were due. `kinds`: of one that starts only these. */
	plan(options?: { max?: number; cycle?: "now"; kinds?: ClaimOptions["kinds"] }): Promise<PlanReport>;
	events(options?: { since?: number }): AsyncIterable<EventRow>;
	/** The sequence number of the newest event. They go up by one; numbers that are missing belong to jobs that `gc` forgot. */
	lastEvent(): Promise<number>;
	/**
	 * Calls back after each commit of this process that told of something, or after which something may be startable, and now and then besides. Returns
	 * how to end it. Only a hint: what other processes commit is seen with the next transaction, and at the next poll (`poll_others_ms`). Must not throw.
	 */
	watch(call: (news: News) => void): () => void;

	/** Facts from outside: artifacts, heads, conditions, items. Jobs parked on them are decided again. */
	observe(facts: Facts): Promise<void>;
	/** `custom:` and `sentinel:` markers. */
	mark(artifact: string, options?: Act & { absent?: boolean }): Promise<void>;

	/** Those of the configuration, those that are held, and those that agents without one have of themselves. */
	accounts(): Promise<AccountView[]>;
	limit(account: string, report: { until?: number; retry_after_ms?: number; closed?: string }, options?: Act): Promise<void>;
	clearAccount(account: string, options?: Act): Promise<void>;
	acquireCall(account: string, holder: string): Promise<{ granted: boolean; in_use: number; limit: number }>;
	releaseCall(account: string, holder: string): Promise<{ released: boolean }>;

	grant(
		subject: string,
		dim: string,
		grant: { limit: number | null; warn_at?: number; window?: "hour" | "day" | null; on_breach?: "finish" | "stop"; reserve?: number },
		options?: Act,
	): Promise<BudgetView>;
	charge(subject: string, dim: string, amount: number): Promise<BudgetView & { warned: boolean; first_breach: boolean }>;
	ledgers(subject?: string): Promise<BudgetView[]>;

	/** `more`: what else is kept with shared settings, by key, for whoever reads it there; null takes a key out. */
	configure(config: ConfigInput, options?: Act & { more?: Record<string, unknown> }): Promise<void>;
	config(): Config;
	/** What else is kept with the settings; empty where they are not shared. */
	more(): Record<string, unknown>;
	/** Forgets jobs that ended long ago, but none that an active job refers to, and none whose merge is open. */
	gc(options?: { days?: number }): Promise<GcReport>;
	/** What this host found at start: recovery is the next reconcile, nothing more. */
	recover(
		found: { run: string; state: "alive" | "exited" | "gone" | "unstarted"; exit_code?: number }[],
		options?: { host?: string; reboot?: boolean },
	): Promise<{ adopted: string[]; ended: string[]; lost: string[]; start: string[] }>;
	/** The repos that this host can work in; null = any. Jobs of others do not come here. */
	offer(repos: string[] | null): Promise<void>;

	/** Runs `fn` for jobs of the lane, up to `concurrency` at a time, until stopped. A thrown error is a failed run. */
	work(lane: string, fn: (job: Claimed) => Promise<unknown>, options?: { concurrency?: number; worker?: string }): Worker;
	/** One pass by hand: sweeps, settles, probes. Returns when the next one is due, or null. `cycle: "now"` does not wait for the next cycle. */
	tick(options?: { cycle?: "now" }): Promise<number | null>;
	readonly kernel: Kernel;
	/** What hosts that share the store know of each other's runs. */
	readonly outputs: Outputs;
	close(): Promise<void>;
}

export type Worker = { stop(): Promise<void> };

export type { AgentState, EnqueueParams, Imported, Kernel, KernelDump, ReadyEntry } from "./kernel.ts";
