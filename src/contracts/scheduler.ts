// Contract of the engine, called by the library, the daemon, the CLI and the simulator. Each method's changes are durable before its promise resolves.

import type { Config, PresetName } from "../core/config.ts";
import type { EventRow } from "../core/event.ts";
import type { Forecast } from "../core/forecast/forecast.ts";
import type { Graph } from "../core/graph/text.ts";
import type { After, HIDDEN_FIELDS, Job, JobInput, JobSpec, MergeReport, Run, Status, StopKind } from "../core/job.ts";
import type { Reason, ReasonCode } from "../core/reason.ts";
import type { Stats, StatsOptions } from "../core/rollups/stats.ts";
import type { RunVerdict, VerdictWord } from "../core/runs/verdict.ts";
import type { ClaimOptions, RunEnd } from "../core/schema/run.ts";
import type { RunBounds } from "../core/trust/run-bounds.ts";
import type { AddResult, ApplyOptions, ApplyResult, Manifest, OfItems } from "./adding.ts";
import type { Fleet, HostView, PeopleRecord } from "./fleet.ts";
import type { Clock, Facts, Host } from "./host.ts";
import type { Kernel } from "./kernel.ts";
import type { Log } from "./log.ts";
import type { AccountView, BudgetView } from "./money.ts";
import type { Outputs } from "./output.ts";
import type { QueueReport, Spent } from "./queue.ts";
import type { Steering } from "./steering.ts";
import type { WebhookStates } from "./webhook.ts";

export type { ClaimOptions, RunEnd } from "../core/schema/run.ts";
export type { AddResult, ApplyOptions, ApplyResult, ForEach, Manifest } from "./adding.ts";
export type { CancelReport, EditResult, HoldReport, RewindAllReport, RewindReport } from "./steering.ts";

/** Partial configuration, as in config.yml; durations as numbers of ms or "30s". Unknown keys are errors. */
export type ConfigInput = Record<string, unknown>;

export type Lead = "prefer" | "may" | "never";

export type OpenOptions = {
	/** SQLite file; ":memory:" for tests. Give this or `url`. */
	path?: string;
	/** A PostgreSQL database that several hosts share: postgres://user@host/database, with ?schema=NAME for another schema than `sluice`. */
	url?: string;
	/** With `url`: whether this process may lead the fleet (default), prefers to, or never does. */
	lead?: Lead;
	preset?: PresetName;
	config?: ConfigInput;
	clock?: Clock;
	host?: Host;
	/** Jitter: a number in [0, 1). */
	chance?: () => number;
	/** The actor in events, if a call names none. */
	by?: string;
	/**
	 * This host's name, labels and repos; `repos` absent = all. `home`: the owner of the name, where several hosts share the store. Such a host has a lease that
	 * `heartbeat` renews: if no heartbeat comes for `stale_after_ms`, its runs go to other hosts. It also follows what other hosts commit.
	 */
	join?: { name?: string; labels?: string[]; repos?: string[]; home?: string };
	/** "shared": settings come from the store, for all processes that have it open; `config` and `preset` count only if the store has none yet. */
	settings?: "own" | "shared";
	/** Other processes write to the same store: poll this often whether they have. Absent: their commits are seen with our next transaction. */
	poll_others_ms?: number;
	/** Known agent names: a job that names another agent is refused, unless with `force` or if the setting `agents` lists it. Absent = any. */
	agents?: () => readonly string[];
	/** Gets a line when a pass of the timer loop is abandoned. */
	log?: Pick<Log, "error">;
	/** "manual": no timers; call `tick()`. For tests and the simulator. */
	drive?: "auto" | "manual";
	/** Called at each named point of a transaction; may throw, to simulate a crash or a full disk. For the simulator. */
	fault?: (point: string) => void;
	/** Most jobs of a manifest in one transaction, a larger manifest goes in stages of this size; and most jobs that one transaction cancels. For tests and the simulator. */
	piece?: number;
};

/** A job as it is shown: its document, its spec and its edges. */
export type JobView = Omit<Job, (typeof HIDDEN_FIELDS)[number]> & {
	spec: JobSpec;
	after: After[];
	parent: number | null;
	depth: number;
	/** Waits for something other than its turn. */
	blocked: boolean;
	/** Ready, but a hold, a budget or the lack of a host keeps it from being dispatched: the first such reason. */
	held?: { kind: ReasonCode; detail: string };
	/** Its run waits for these jobs and lends its slot meanwhile. */
	waits_for?: number[];
};

/** `report`: what this cycle did, with the jobs that it actually started as `dispatch`. */
export type Cycled = { claimed: Claimed[]; report: PlanReport };
export type Claimed = { job: Job; spec: JobSpec; run: Run };

export type Ended = { job: number; status: Status; retry_at?: number };

export type PlanReport = {
	dispatch: number[];
	skipped: { job: number; reason: string }[];
	reason: "capacity" | "batch" | "ready" | "paused" | "none";
	/** More about `reason`, in words: when the next cycle is, what follows after spawn_delay. */
	detail?: string;
};

/** A job whose result a prompt refers to. `result`: compact JSON; null if it left none. */
export type ResultView = { job: number; name: string | null; status: Status; result: string | null };
export type Why = {
	job: JobView;
	reasons: Reason[];
	position: number | null;
	priority: { total: number; terms: { name: string; value: number }[] };
	/** Jobs whose runs wait for this one. */
	waiters: number[];
	/** The jobs whose results its prompt refers to. */
	results: ResultView[];
};

export type PauseScope = { lane?: string; repo?: string; batch?: string; account?: string };
export type Act = { by?: string; reason?: string };

export type StatusReport = {
	/** Entries of the kernel's queue. Outside workers claim them, whatever is paused here. */
	kernel: { queued: number; dispatched: number };
	paused: boolean;
	paused_by: string | null;
	paused_at: number | null;
	queued_total: number;
	/** Jobs whose own gates have passed, held or not. */
	queued_ready: number;
	/** Ready jobs that a hold, a budget or the lack of a host keeps from being dispatched. */
	queued_held: number;
	/** The reasons of the held jobs, and of the jobs that people hold one by one, at most a hundred, that of the most jobs first. */
	held: { kind: ReasonCode; subject: string; detail: string; jobs: number }[];
	running: number;
	/** Runs among these that wait for jobs and lend their slots. */
	lending: number;
	max_concurrent: number;
	lanes: Record<string, { queued: number; running: number; lending: number; max: number | null }>;
	/** `agent`: the agent whose provider is down. */
	holds: { scope: string; kind: string; agent?: string; since: number; until: number | null; by: string; reason: string }[];
	hosts: HostView[];
	backpressure: string | null;
	last_dispatch_at: number | null;
	/**
	 * Jobs that wait for a person, oldest first, at most a hundred. `question` is null where approval is asked for. `denied`: what the job's last run was not
	 * allowed to do.
	 */
	needs_human: { job: number; name: string | null; agent: string | null; question: string | null; denied: string[]; since: number }[];
	/** Budgets that are used up or nearly so, including what is reserved. */
	budgets: BudgetView[];
	/** Jobs that failed or were blocked in the last 24 hours and were not retried since; each is counted up to 10,000. */
	recent_failures: { since: number; failed: number; blocked_by_dependency: number };
	/** Jobs among the last hundred that ended, within 24 hours, whose last run was not allowed something. */
	denied: { job: number; name: string | null; denied: string[] }[];
};

/**
 * `events`: of this process's commit. `heard`: what other processes have committed since the last call; may be incomplete. `compare`: something may have happened to
 * runs of this host that `heard` does not show, so it should compare them with those that are assigned to it.
 */
export type CommitSummary = { stirred: boolean; events: readonly EventRow[]; heard: readonly EventRow[]; compare?: true };
export type { EventRow, QueueReport, Spent };

/** Caps to assume instead of those in force. `batch`: report only its jobs. `frozen`: jobs whose runs are suspended and keep their slots. */
export type ForecastOptions = {
	max_concurrent?: number;
	lanes?: Record<string, number | null>;
	batch?: string;
	frozen?: number[];
	/** A job that is not there yet: it is simulated with the others, and is number 0 in the answer. */
	also?: JobInput;
};

/** The state of a trigger. Slots up to `since` are never fired; those up to `slot` are done. */
export type TriggerView = {
	name: string;
	since: number;
	slot: number | null;
	fired_at: number | null;
	/** The job that the trigger added last. */
	job: number | null;
	/** Slots that passed without a job since it was armed. */
	skipped: number;
	/** Why the last slot got no job, if that was an error. */
	error: string | null;
};
/** `open`: nothing was added, because a job of this trigger is still open (or its item or unique key is taken). `past`: the slot was already done. */
export type FireResult = { outcome: "added"; job: number } | { outcome: "open"; job: number } | { outcome: "past" };

/** `unmerged`: how many jobs are kept because their merge is open; absent if none. */
export type GcReport = { deleted: number; kept: number; unmerged?: number };

/** A lock that is held, or reserved for a job. */
export type LockView = { key: string; holders: { job: number; mode: "shared" | "exclusive" }[]; reserved_for: number | null };
export type BatchView = { name: string; open: number; total: number; owned: boolean };
/** `present` is null until a host has probed it, or if the probe failed. */
export type ArtifactView = { artifact: string; repo: string | null; present: boolean | null; observed_at: number; error: string | null };

export type { HostView } from "./fleet.ts";
export type { AccountView, BudgetView, LedgerView } from "./money.ts";

export interface Scheduler extends Fleet, Steering {
	add(job: JobInput, options?: Act & { force?: boolean; items?: OfItems; within?: RunBounds }): Promise<AddResult>;
	/**
	 * With `check` everything is checked and nothing is added: `jobs` is empty. If jobs already have names of the manifest, the table in core/reapply.ts applies.
	 */
	apply(manifest: Manifest, options?: ApplyOptions): Promise<ApplyResult>;
	/** Registers a trigger; if it is armed with the same mark as before, it keeps its state. */
	arm(trigger: string, mark: string): Promise<TriggerView>;
	disarm(trigger: string): Promise<void>;
	triggers(): Promise<TriggerView[]>;
	/**
	 * Adds a trigger's job for one of its slots, once. While an earlier job of the trigger is open, the slot is skipped, or left for later (`when_open: "wait"`).
	 * Without `job` the slot is only marked as done. Without `slot`: fired by hand, now. A full queue does not defer the job.
	 */
	fire(
		trigger: string,
		firing: { slot?: number; job?: JobInput; when_open?: "skip" | "wait"; error?: string },
		options?: Act,
	): Promise<FireResult>;
	claim(options: ClaimOptions): Promise<Claimed[]>;
	/**
	 * A claim that may stand at the leader of a fleet: the worker's next one gets what was assigned to it meanwhile, and `watch` calls back when there is something.
	 * Without a fleet it is a claim. `retire` ends the claims of a worker, and returns what was still assigned to it.
	 */
	claimStanding(options: ClaimOptions): Promise<Claimed[]>;
	retire(worker: string): Promise<Claimed[]>;
	/** A cycle by hand (`sluice run`): opens one now, claims what it may start, and reports what limited it. The next regular cycle comes at its usual time. */
	runCycle(options: ClaimOptions): Promise<Cycled>;
	/** The run's process exists: resets dispatch_failures, closes a half-open breaker. */
	started(run: { job: number; token: number }): Promise<void>;
	/** The provider answered the run: ends an outage of its account. Call it for runs that have `run.probe`. */
	answered(run: { job: number; token: number }): Promise<void>;
	complete(ending: RunEnd): Promise<Ended>;
	/** Heartbeat: renews the lease and returns whether a stop was requested. */
	extend(run: { job: number; token: number }): Promise<{ cancel_requested: boolean; lease_until: number | null }>;
	/**
	 * The run waits for these jobs from now on and lends its slot meanwhile, in every cap on runs but the safety cap; it keeps its locks and resources. It gets
	 * its slot back when the last of them has ended, or with `endWait`. Refused if one of them can end only after the run. `wait` null: all of them have ended.
	 */
	beginWait(run: { job: number; token: number }, ids: readonly number[]): Promise<{ wait: number | null; open: number[] }>;
	/** Ends a wait. A wait that is already over, or a run that has ended, is no error. */
	endWait(run: { job: number; token: number }, wait: number): Promise<void>;
	/** Ends all waits of a host's runs, because the callers that waited are no longer connected. */
	endWaits(host?: string): Promise<void>;
	/** Records the run's verdict on its own work; the last one counts, also without a `text`. Its effect on the end of the run: the table in core/runs/verdict.ts. */
	verdict(
		run: { job: number; token: number },
		said: { verdict: VerdictWord; text?: string },
		options?: { by?: string },
	): Promise<RunVerdict>;
	/** Records the run's result for later jobs: any JSON of at most 64 KiB; the last one counts. It stays when the job has ended. */
	result(run: { job: number; token: number }, result: unknown, options?: { by?: string }): Promise<{ bytes: number }>;
	/**
	 * The results that a run's prompt refers to, as they are now; its host calls this when it starts the run. An event records which results were handed over and
	 * which were missing.
	 */
	takeResults(run: { job: number; token: number }): Promise<ResultView[]>;
	/**
	 * Records that a live run is to be stopped, before the first signal is sent: however its program exits, the run ends as `kind`. The first intent counts.
	 * `resumes`: the job, if it waits again, is first in the order.
	 */
	stop(run: { job: number; token: number }, stop: { kind: StopKind; reason: string; resumes?: true }, options?: Act): Promise<void>;
	/** Takes back a stop that `resumes`: the run's own end counts. False if the run is to be stopped for another reason. */
	takeBackStop(run: { job: number; token: number }): Promise<boolean>;
	/** The run has got these texts of its job's `told`, in its prompt. */
	toldGiven(run: { job: number; token: number }, numbers: readonly number[]): Promise<void>;
	/** The live runs that are assigned to a host, with what it needs to continue them. */
	assigned(host?: string): Promise<Claimed[]>;

	pause(scope?: PauseScope, options?: Act & { until?: number }): Promise<void>;
	resume(scope?: PauseScope, options?: Act): Promise<void>;
	/** Closes the open breaker of an agent or repo without a probe, because a person repaired the environment. False: none was open. */
	closeBreaker(of: { agent: string } | { repo: string }, options?: Act): Promise<boolean>;
	clear(options?: Act & { item?: string }): Promise<{ cleared: number[] }>;
	/** Records what became of a succeeded job's branch, with a report. */
	merged(id: number, status: NonNullable<Job["merge_status"]>, report?: MergeReport): Promise<void>;
	/** Tries the merge of a succeeded job once more, without a run, on the host that has its worktree. */
	mergeAgain(id: number, options?: Act): Promise<void>;
	/** Gives up the merge: `kept`. Jobs that wait for it with policy `merged` can no longer start. */
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
		/** Only jobs below this number, and of these the highest. */
		before?: number;
		/** Only these jobs, active or ended; numbers that do not exist are left out. */
		ids?: number[];
		/** Instead of active jobs: this many of those that ended last. */
		recent?: number;
	}): Promise<JobView[]>;
	why(id: number): Promise<Why>;
	history(id: number): Promise<EventRow[]>;
	/** Jobs with their edges: the active and blocked ones, all, those of a batch, or one job with its predecessors and dependents. */
	graph(filter?: { all?: boolean; job?: number; batch?: string; max_depth?: number }): Promise<Graph>;
	/** The number of the job that has this name; the error suggests similar names. */
	find(name: string): Promise<number>;
	status(): Promise<StatusReport>;
	/** The first `limit` (200) ready jobs in the order of their starts, and what they wait for. `behind`: jobs whose dependents are counted. */
	queue(options?: { limit?: number; behind?: number[] }): Promise<QueueReport>;
	/** How many jobs have each status, active or ended; entries of the kernel's queue are left out. */
	counts(): Promise<Record<Status, number>>;
	/** What jobs cost that ended at or after this moment. */
	spent(since: number): Promise<Spent>;
	locks(): Promise<LockView[]>;
	batches(): Promise<BatchView[]>;
	/** Closes a batch that its caller owns: now, or when its last open job ends. */
	closeBatch(name: string, options?: Act): Promise<BatchView>;
	artifacts(): Promise<ArtifactView[]>;
	/** When each job and batch is likely to start and end, based on past runs, and what that depends on. Changes nothing. */
	forecast(options?: ForecastOptions): Promise<Forecast>;
	/**
	 * Figures of a span of time, from rollups that are kept for a year: what started and ended, waits by cause, cost, slots in use; and the same by lane, agent,
	 * model, owner, repo, account or cause. Kernel entries are not counted. Changes nothing.
	 */
	stats(options?: StatsOptions): Promise<Stats>;
	/**
	 * What one dispatch pass would start now, and what limits it. Changes nothing. `cycle: "now"`: as if the next cycle were due. `kinds`: for a pass that starts
	 * only these kinds.
	 */
	plan(options?: { max?: number; cycle?: "now"; kinds?: ClaimOptions["kinds"] }): Promise<PlanReport>;
	events(options?: { since?: number }): AsyncIterable<EventRow>;
	/** The sequence number of the newest event. Numbers go up by one; missing ones belong to jobs that `gc` forgot. */
	lastEvent(): Promise<number>;
	/**
	 * Calls back after each commit of this process that wrote events or may have made a job startable, and also at intervals. Returns a function that ends it.
	 * Only a hint: commits of other processes are seen with the next transaction, and at the next poll (`poll_others_ms`). `call` must not throw.
	 */
	watch(call: (summary: CommitSummary) => void): () => void;

	/** Records facts from outside: artifacts, heads, conditions, items. Jobs parked on them are decided again. */
	observe(facts: Facts): Promise<void>;
	/** Sets a `custom:` or `sentinel:` marker. */
	mark(artifact: string, options?: Act & { absent?: boolean }): Promise<void>;

	/** All accounts: those in the configuration, those with a hold, and the implicit ones of agents that have no account. */
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

	/** `more`: other values stored with the shared settings, by key, for other parts of the daemon; null removes a key. */
	configure(config: ConfigInput, options?: Act & { more?: Record<string, unknown> }): Promise<void>;
	config(): Config;
	/** Other values stored with the settings; empty if the settings are not shared. */
	more(): Record<string, unknown>;
	/** Forgets jobs that ended long ago, but none that an active job refers to, and none whose merge is open. */
	gc(options?: { days?: number }): Promise<GcReport>;
	/** Compares the runs assigned to a host with the processes it found at start. Recovery is this comparison and nothing more. */
	recover(
		found: { run: string; state: "alive" | "exited" | "gone" | "unstarted"; exit_code?: number }[],
		options?: { host?: string; reboot?: boolean },
	): Promise<{ adopted: string[]; ended: string[]; lost: string[]; start: string[] }>;
	/** Sets the repos that this host can work in; null = any. It gets no jobs of other repos. */
	offer(repos: string[] | null): Promise<void>;

	/** Runs `fn` for jobs of the lane, up to `concurrency` at a time, until stopped. A thrown error is a failed run. */
	work(lane: string, fn: (job: Claimed) => Promise<unknown>, options?: { concurrency?: number; worker?: string }): Worker;
	/**
	 * Runs one pass of the timer loop by hand: sweeps, settles, probes. Returns when the next one is due, or null. `cycle: "now"` does not wait for the next
	 * cycle.
	 */
	tick(options?: { cycle?: "now" }): Promise<number | null>;
	readonly kernel: Kernel;
	/** Outputs of runs and questions about them, between hosts that share the store. */
	readonly outputs: Outputs;
	/** The people who share the daemons of this store. */
	readonly people: PeopleRecord;
	/** How far the events of webhooks are sent; the daemon sends them. */
	readonly webhooks: WebhookStates;
	close(): Promise<void>;
}

export type Worker = { stop(): Promise<void> };

export type { AgentState, EnqueueParams, Imported, Kernel, KernelDump, ReadyEntry } from "./kernel.ts";
