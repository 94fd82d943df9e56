// Everything the reference model knows, as plain data: arrays that are scanned from end to end, nothing derived, nothing indexed.

import type { FactValue } from "../../src/contracts/host.ts";
import type { AgentState } from "../../src/contracts/scheduler.ts";
import type { Config } from "../../src/core/config.ts";
import type { After, Condition, ExitKind, JobKind, Lock, MergeStatus, RetryPolicy, Status } from "../../src/core/job.ts";

export type ModelRun = {
	attempt: number;
	token: number;
	host: string;
	worker: string;
	account?: string;
	started_at: number;
	lease_until?: number;
	/** A clock jump made its lease uncertain: either end is right until it is renewed. */
	unsure?: true;
	intent?: "cancelled" | "timeout" | "preempted" | "drained";
	launched: boolean;
	/** A person froze it. */
	frozen?: true;
	/** What it has said of itself so far. */
	verdict?: Said;
	/** Started by run-now --force: past max_concurrent and its lane's cap. */
	forced?: true;
	/** By ledger. */
	reserved: Record<string, number>;
	/** What it waits for, by the number of the wait (null: the caller died before it could say so); only jobs that have not ended. */
	waits?: { wait: number | null; jobs: number[] }[];
};

export type Said = { verdict: "ok" | "fail" | "ask"; text: string };

export type ModelJob = {
	id: number;
	status: Status;
	kind: JobKind;
	name?: string;
	lane: string;
	repo?: string;
	account?: string;
	prefer?: string;
	session?: string;
	/** Its last run crashed, and the next one goes on with its session. */
	goes_on?: true;
	owner?: string;
	agent?: string;
	batch?: string;
	item?: string;
	/** Added with force while another worker had its item. */
	take_over?: true;
	/** Jobs of one item that came with one manifest share it; else its own id. */
	chain: number;
	phase?: string;
	/** Ancestors, root first. */
	path: number[];
	trigger: string;
	priority: number;
	/** 0 none, > 0 promoted, < 0 demoted; the larger, the later it was done. */
	rank: number;
	/** run-now: 0 no; the larger, the later. */
	first: number;
	forced: boolean;
	created_at: number;
	runnable_at: number;
	deadline?: number;
	after: After[];
	needs: string[];
	on_missing: "block" | "wait";
	produces: string[];
	pinned_head?: { branch: string; commit: string };
	conditions: Condition[];
	locks: Lock[];
	uses: Record<string, number>;
	host_labels: string[];
	/** The host that has its worktree or session. */
	stays?: string;
	/** Its own policy, if it was given one. */
	retry?: RetryPolicy;
	will_merge: boolean;
	merge_status?: MergeStatus;
	/** A person holds it. */
	hold?: true;
	approval?: "needed" | "given";
	question?: string;
	/** What its last run said, once that has ended; and its result, as JSON. */
	verdict?: Said;
	result?: string;
	/** What was granted with an answer. */
	granted?: { permission?: "edit" | "full"; allow?: string[] };
	/** What its last run was denied, and what its last words asked. */
	denied?: string[];
	closing_question?: string;
	failures: number;
	attempt: number;
	dispatch_failures: number;
	/** When the last outage began that a run of it met. */
	outage?: number;
	backoff_until?: number;
	/** Its time has been seen to come (or nobody set one): a clock set back does not take that back. */
	come: boolean;
	/** The latest time at which it was looked at, for its back-off: likewise. */
	noticed_at?: number;
	/** Since when gates `held` to `approval` pass without a break. */
	rest_at?: number;
	/** Since when the job gates but `locks` pass without a break. */
	ready_at?: number;
	/** Overdue and startable: its place among those when first seen so, and how many were started before it since. */
	passed?: { place: number; times: number; older: number };
	/** The first job gate that refuses it, as last decided. */
	wait?: { gate: string; codes: string[] };
	run?: ModelRun;
	ended_at?: number;
	exit_code?: number | null;
	raw_exit_code?: number;
	exit_kind?: ExitKind;
	end_reason?: string;
	unique?: { key: string; window_ms?: number };
	/** What a manifest said of it, word for word. */
	said?: string;
	/** Kernel entries only. */
	pid?: number;
	cancel_requested?: boolean;
	worker?: string;
	dispatched_at?: number;
	heartbeat_at?: number;
};

export type Hold = { scope: string; until: number | null; since: number };

export type Account = {
	hits: number;
	until: number | null;
	/** The provider said when: a success does not end it. */
	provider: boolean;
	closed: string | null;
	/** After a limit, until a success: starts are spaced. */
	staggered: boolean;
	/** By the setting of the moment of its last start. */
	spaced_until: number | null;
	/** Providers that are down, by agent. */
	outages: Record<string, Outage>;
};

export type Outage = { since: number; until: number; hits: number; probe?: number; probed?: number };

export type Breaker = {
	/** Jobs whose launch failed, one entry a failure, since the last start; and what it was counted as. */
	failed: { job: number; as: "launch" | "run" }[];
	open_until: number | null;
	/** The job whose run is the one probe of a half-open breaker. */
	probe: number | null;
	/** The job that was its last probe. */
	probed: number | null;
};

export type Ledger = {
	subject: string;
	dim: string;
	used: number;
	limit: number | null;
	warn_at: number;
	window: "hour" | "day" | null;
	on_breach: "finish" | "stop";
	reserve?: number;
	/** Start of the window that `used` counts in. */
	since: number;
};

export type ModelHost = {
	name: string;
	labels: string[];
	repos: string[] | null;
	heartbeat_at: number;
	/** Whose name it is; only such a host has a lease. */
	home?: string;
	lease_until?: number;
	/** Since when somebody knows that its lease is over. */
	found_stale_at?: number;
	gone?: "left" | "lost";
	drained?: true;
};

export type State = {
	now: number;
	config: Config;
	jobs: ModelJob[];
	/** Descendants ever added, by root, for as long as the root is there: a runaway is not forgiven what gc took away. */
	families: Record<number, number>;
	/** The last job added under each unique key, also when gc has taken it. */
	uniques: Record<string, number>;
	/** Ids that were here once: never given out again. */
	last_id: number;
	last_token: number;
	starts: number;
	/** Those of them that run-now put first. */
	first_starts: number;
	/** Ledger subjects that were used up before this step. */
	over_before: string[];
	last_start_at: number | null;
	/** When the last regular cycle began. */
	last_cycle_at: number | null;
	/** Starts that the present cycle has left: at least, since the engine may keep jobs with locks in a line for longer, and at most. */
	cycle_left: { least: number; most: number };
	/** Rare things that happened in this step, for the marks. */
	deeds: Record<string, number>;
	ranks: number;
	holds: Hold[];
	accounts: Record<string, Account>;
	breakers: Record<string, Breaker>;
	ledgers: Ledger[];
	facts: Record<string, FactValue | { error: string }>;
	/** The chain of each item of which a job has started, for as long as one of it is active. */
	begun: Record<string, number>;
	markers: string[];
	calls: Record<string, { holder: string; until: number }[]>;
	hosts: ModelHost[];
	agents: { pid: number; name: string; state: AgentState }[];
	/** Keys kept for overdue jobs, as the engine's events tell. */
	reserved: { key: string; job: number }[];
	/** During a cycle: those that were really kept when it began. */
	kept_before: { key: string; job: number }[];
	/** Runs that ended, for late and double reports: job, token. */
	past: { job: number; token: number; lost_with?: string }[];
	/** Among calls of one turn, several were cancelled: what one transaction cannot end keeps every claim waiting until it has ended. */
	cancelling: boolean;
	/** Hosts have homes and leases. */
	fleet: boolean;
	/** Events about hosts that the next look must find. */
	told: string[];
};

export const emptyState = (config: Config, now: number): State => ({
	now,
	config,
	jobs: [],
	families: {},
	uniques: {},
	last_id: 0,
	last_token: 0,
	starts: 0,
	first_starts: 0,
	over_before: [],
	last_start_at: null,
	last_cycle_at: null,
	cycle_left: { least: 0, most: 0 },
	deeds: {},
	ranks: 0,
	holds: [],
	accounts: {},
	breakers: {},
	ledgers: [],
	facts: {},
	begun: {},
	markers: [],
	calls: {},
	hosts: [],
	agents: [],
	reserved: [],
	kept_before: [],
	past: [],
	cancelling: false,
	fleet: false,
	told: [],
});

/** A state to try a reading on. The configuration is never changed, only replaced. */
export const copyState = (state: State): State => ({ ...(copied({ ...state, config: null }) as State), config: state.config });

/** Plain data only, so it is several times faster than structuredClone. */
function copied(value: unknown): unknown {
	if (value === null || typeof value !== "object") return value;
	if (Array.isArray(value)) return value.map(copied);
	const result: Record<string, unknown> = {};
	for (const key in value) result[key] = copied(value[key as keyof typeof value]);
	return result;
}

export const isWaiting = (job: ModelJob) =>
	job.status === "queued" || job.status === "waiting_on_deps" || job.status === "waiting_on_locks";
export const isActive = (job: ModelJob) => isWaiting(job) || job.status === "running";
export const isKernel = (job: ModelJob) => job.kind === "kernel";
export const find = (state: State, id: number) => state.jobs.find((job) => job.id === id);
/** The job that a name means: the open one, else the newest. */
export const named = (state: State, name: string): ModelJob | undefined => {
	const all = state.jobs.filter((job) => job.name === name);
	return all.find(isActive) ?? all.sort((a, b) => b.id - a.id)[0];
};
export const waiting = (state: State) => state.jobs.filter((job) => isWaiting(job) && !isKernel(job));
export const running = (state: State) => state.jobs.filter((job) => job.status === "running" && !isKernel(job));

export const freshAccount = (): Account => ({
	hits: 0,
	until: null,
	provider: false,
	closed: null,
	staggered: false,
	spaced_until: null,
	outages: {},
});

export const accountOf = (state: State, name: string): Account => {
	state.accounts[name] ??= freshAccount();
	return state.accounts[name];
};

export const breakerOf = (state: State, name: string): Breaker => {
	state.breakers[name] ??= { failed: [], open_until: null, probe: null, probed: null };
	return state.breakers[name];
};

export const note = (state: State, deed: string) => {
	state.deeds[deed] = (state.deeds[deed] ?? 0) + 1;
};
