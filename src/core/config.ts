// Every setting of the scheduler: type, default, and the five presets. config-input.ts checks input.

import type { RetryPolicy } from "./job.ts";

export type LaneConfig = {
	/** Maximum live runs; null = no cap. */
	max: number | null;
	/** The lane's base in the priority sum. */
	priority: number;
	/** Accounts to use, the first open one wins; empty = the job's own. */
	accounts: string[];
	retry: RetryPolicy | null;
	/** Local times during which jobs may start, "HH:MM-HH:MM"; empty = always. */
	active_hours: string[];
};

type Cap = { max: number | null };
/** `merge`: what becomes of the work of jobs that do not say; `none` for a repo without a folder, which Sluice does not merge. Absent = direct. */
/** `base`: the branch that jobs begin from and merge into, if configured; the engine only shows it. */
export type RepoConfig = Cap & { prefix: string | null; merge?: "direct" | "mr" | "local" | "none"; base?: string | null };

export type Config = {
	/** −1 or 0 = direct, N > 0 = deferred, with at most N live runs. */
	max_concurrent: number;
	/** Applies in every mode; 0 = off. */
	safety_cap: number;
	/** Maximum starts in one cycle; 0 = no limit. */
	batch_size: number;
	spawn_delay_ms: number;
	/** 0 = a cycle after every change. */
	cycle_interval_ms: number;
	poll_interval_ms: number;
	lanes: Record<string, LaneConfig>;
	repos: Record<string, RepoConfig>;
	accounts: Record<string, Cap & { max_api_calls: number }>;
	hosts: Record<string, Cap>;
	resources: Record<string, number>;
	/** Agents that jobs may name; empty = any. */
	agents: string[];
	/** The cap of a lane that `lanes` does not name, for items whose kind of work asks for that lane; null = such an item is refused. */
	flow_max: number | null;
	queue: {
		soft_limit: number | "auto";
		hard_limit: number | "auto";
		/** Jobs that wait for a serial lock count like ready jobs. */
		count_serial: boolean;
		/** The hard limit also applies to items that are slung or watched. */
		limit_items: boolean;
	};
	order: {
		age_boost_per_minute: number;
		age_boost_max: number;
		depth_boost_per_level: number;
		retry_penalty_per_iteration: number;
		retry_penalty_max: number;
		age_from: "ready" | "created";
		/** Every nth start goes to the job that has been startable for longest; 0 = off. */
		overdue_share: number;
		overdue_after_ms: number;
	};
	parents: { gate: "none" | "success"; max_depth: number; max_descendants: number };
	on_missing: "block" | "wait";
	/** Default retry for commands and payloads, and for agents. */
	retry: RetryPolicy;
	agent_retry: RetryPolicy;
	/** Consecutive dispatch failures that end a job: a count, "off" (the job stays queued) or "run" (each failure counts as a failed run). */
	dispatch_breaker: number | "off" | "run";
	dispatch_backoff_ms: number;
	/** Launch failures in a row that open the breaker of an agent or repo, if different jobs fail for a shared reason; 0 = off. */
	environment_breaker: { failures: number; cooldown_ms: number };
	/** `outage_max_ms`: once a provider has been down for longer, its failures count against the jobs that meet them; 0 = at once. */
	rate_limit: { margin_ms: number; stagger_ms: number; failover_after_ms: number; outage_max_ms: number };
	lease_ms: number;
	/** For several hosts with one store: a host without a heartbeat for this long is stale, and soon lost. */
	stale_after_ms: number;
	timezone: string;
	kernel: { enabled: boolean };
};

export const NO_RETRY: RetryPolicy = {
	max: 0,
	base_ms: 30_000,
	factor: 2,
	jitter: 0.1,
	cap_ms: 300_000,
	on: ["failed", "crashed", "timeout", "stalled", "lost"],
};
/** The retry schedule of preset cards: 30 s, ×2, ±10 %, at most five minutes, five times. */
export const CARD_RETRY: RetryPolicy = { ...NO_RETRY, max: 5 };
const AGENT_RETRY: RetryPolicy = { ...CARD_RETRY, on: ["crashed", "stalled", "lost"] };

export const LANE_DEFAULT: LaneConfig = { max: null, priority: 0, accounts: [], retry: null, active_hours: [] };

export const DEFAULTS: Config = {
	max_concurrent: 4,
	safety_cap: 25,
	batch_size: 0,
	spawn_delay_ms: 0,
	cycle_interval_ms: 0,
	poll_interval_ms: 1000,
	lanes: { default: LANE_DEFAULT },
	repos: {},
	accounts: {},
	hosts: {},
	resources: {},
	agents: [],
	flow_max: null,
	queue: { soft_limit: "auto", hard_limit: 0, count_serial: false, limit_items: false },
	order: {
		age_boost_per_minute: 1,
		age_boost_max: 50,
		depth_boost_per_level: 10,
		retry_penalty_per_iteration: 5,
		retry_penalty_max: 30,
		age_from: "ready",
		overdue_share: 4,
		overdue_after_ms: 3_600_000,
	},
	parents: { gate: "none", max_depth: 10, max_descendants: 200 },
	on_missing: "block",
	retry: NO_RETRY,
	agent_retry: AGENT_RETRY,
	dispatch_breaker: 3,
	dispatch_backoff_ms: 10_000,
	environment_breaker: { failures: 3, cooldown_ms: 60_000 },
	rate_limit: { margin_ms: 5_000, stagger_ms: 1_000, failover_after_ms: 1_800_000, outage_max_ms: 43_200_000 },
	lease_ms: 600_000,
	stale_after_ms: 600_000,
	timezone: "UTC",
	kernel: { enabled: true },
};

const FIFO = {
	...DEFAULTS.order,
	age_boost_per_minute: 0,
	age_boost_max: 0,
	depth_boost_per_level: 0,
	retry_penalty_per_iteration: 0,
	retry_penalty_max: 0,
	overdue_share: 0,
};
const lane = (max: number, priority = 0): LaneConfig => ({ ...LANE_DEFAULT, max, priority });

export const PRESETS = {
	cards: {
		...DEFAULTS,
		max_concurrent: 1,
		lanes: { implement: lane(1), review: lane(1), research: lane(1) },
		flow_max: 1,
		queue: { soft_limit: "auto", hard_limit: "auto", count_serial: true, limit_items: true },
		order: FIFO,
		retry: CARD_RETRY,
		agent_retry: CARD_RETRY,
		dispatch_breaker: "run",
		environment_breaker: { ...DEFAULTS.environment_breaker, failures: 0 },
	},
	town: {
		...DEFAULTS,
		max_concurrent: -1,
		safety_cap: 0,
		batch_size: 1,
		cycle_interval_ms: 180_000,
		order: FIFO,
		retry: NO_RETRY,
		agent_retry: NO_RETRY,
		dispatch_breaker: 3,
	},
	dag: {
		...DEFAULTS,
		max_concurrent: -1,
		safety_cap: 0,
		order: FIFO,
		retry: NO_RETRY,
		agent_retry: NO_RETRY,
		dispatch_breaker: "off",
	},
	loops: {
		...DEFAULTS,
		max_concurrent: 50,
		safety_cap: 0,
		lanes: { plan: lane(2, 40), spec: lane(5, 60), phase: lane(20, 80), code: lane(50, 100) },
		order: { ...DEFAULTS.order, age_from: "created" },
		parents: { ...DEFAULTS.parents, gate: "success" },
		on_missing: "wait",
		retry: CARD_RETRY,
		agent_retry: CARD_RETRY,
	},
	kernel: { ...DEFAULTS, order: FIFO, retry: NO_RETRY, agent_retry: NO_RETRY },
} as const satisfies Record<string, Config>;
export type PresetName = keyof typeof PRESETS;

/** In direct mode there is no queue whose length could be limited. */
export const isDirect = (config: Config) => config.max_concurrent <= 0;

export function softLimit(config: Config): number {
	if (isDirect(config)) return Number.POSITIVE_INFINITY;
	const { soft_limit } = config.queue;
	return soft_limit === "auto" ? Math.max(8, 4 * config.max_concurrent) : soft_limit;
}

export function hardLimit(config: Config): number {
	if (isDirect(config)) return Number.POSITIVE_INFINITY;
	const { hard_limit } = config.queue;
	if (hard_limit === "auto") return 2 * softLimit(config);
	return hard_limit === 0 ? Number.POSITIVE_INFINITY : hard_limit;
}

/** The number that queue limits compare: ready jobs, and perhaps jobs that wait for a serial lock. */
export const backlogOf = (config: Config, ready: number, serial: number): number => ready + (config.queue.count_serial ? serial : 0);

/** Also for a lane that the configuration does not name: `default`, a lane that an item's kind of work asked for, or a lane that was removed. */
export const laneOf = (config: Config, name: string): LaneConfig =>
	(Object.hasOwn(config.lanes, name) ? config.lanes[name] : undefined) ?? unnamedLane(config.flow_max ?? null);

const unnamedLane = (max: number | null): LaneConfig => (max === null ? LANE_DEFAULT : { ...LANE_DEFAULT, max });
