// What follows from the scheduler's settings, whose table is schema/config.ts, and the five presets.

import * as check from "./input/check.ts";
import { CARD_RETRY, type Config, DEFAULTS, LANE_DEFAULT, type LaneConfig, NO_RETRY, readConfig } from "./schema/config.ts";

export { CARD_RETRY, type Config, DEFAULTS, LANE_DEFAULT, type LaneConfig, NO_RETRY, readConfig } from "./schema/config.ts";

/** The defaults with changes, written as people write them: a key that is not named here is inherited. */
const preset = (changes: { [K in keyof Config]?: unknown }): Config => readConfig(changes, DEFAULTS);
const lane = (max: number, priority = 0) => ({ max, priority });
const FIFO = {
	age_boost_per_minute: 0,
	age_boost_max: 0,
	depth_boost_per_level: 0,
	retry_penalty_per_iteration: 0,
	retry_penalty_max: 0,
	overdue_share: 0,
};

export const PRESETS = {
	cards: preset({
		max_concurrent: 1,
		lanes: { default: null, implement: lane(1), review: lane(1), research: lane(1) },
		flow_max: 1,
		queue: { hard_limit: "auto", count_serial: true, limit_items: true },
		order: FIFO,
		retry: CARD_RETRY,
		agent_retry: CARD_RETRY,
		dispatch_breaker: "run",
		environment_breaker: { failures: 0 },
	}),
	town: preset({
		max_concurrent: -1,
		safety_cap: 0,
		batch_size: 1,
		cycle_interval_ms: 180_000,
		order: FIFO,
		agent_retry: NO_RETRY,
	}),
	dag: preset({ max_concurrent: -1, safety_cap: 0, order: FIFO, agent_retry: NO_RETRY, dispatch_breaker: "off" }),
	loops: preset({
		max_concurrent: 50,
		safety_cap: 0,
		lanes: { default: null, plan: lane(2, 40), spec: lane(5, 60), phase: lane(20, 80), code: lane(50, 100) },
		order: { age_from: "created" },
		parents: { gate: "success" },
		on_missing: "wait",
		retry: CARD_RETRY,
		agent_retry: CARD_RETRY,
	}),
	kernel: preset({ order: FIFO, agent_retry: NO_RETRY }),
};
export type PresetName = keyof typeof PRESETS;

export function presetConfig(preset: PresetName | undefined): Config {
	return preset === undefined ? DEFAULTS : PRESETS[check.oneOf(preset, Object.keys(PRESETS) as PresetName[], "preset")];
}

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
