// A random configuration: a preset or none, with some of its settings changed.

import { type Config, DEFAULTS, LANE_DEFAULT, PRESETS } from "../../src/core/config.ts";
import type { Plan } from "../operation.ts";
import type { Random } from "../random.ts";
import { ACCOUNTS, LANES, REPOS, type Themes } from "./themes.ts";

const MINUTE = 60_000;

export function drawConfig(random: Random, themes: Themes): { preset?: NonNullable<Plan["preset"]>; config: Config } {
	const preset = random.chance(0.5) ? undefined : random.pick(["cards", "town", "dag", "loops", "kernel"] as const);
	const config = structuredClone(preset === undefined ? DEFAULTS : PRESETS[preset]) as Config;
	drawCaps(random, config, themes);
	drawOrder(random, config);
	drawFailure(random, config, themes);
	return preset === undefined ? { config } : { preset, config };
}

const cap = (random: Random) => (random.chance(0.5) ? null : random.between(1, 3));

function drawCaps(random: Random, config: Config, themes: Themes): void {
	if (random.chance(0.7)) config.max_concurrent = random.pick([-1, 0, 1, 2, 3, 4, 8]);
	if (random.chance(0.4)) config.safety_cap = random.pick([0, 2, 3, 5, 25]);
	// Few enough that all runs may come to wait.
	if (themes.has("waits") && random.chance(0.5)) config.safety_cap = random.between(1, 2);
	if (random.chance(0.25)) config.batch_size = random.between(0, 3);
	if (random.chance(0.2)) config.cycle_interval_ms = random.pick([0, 2000, 20_000, 3 * MINUTE]);
	else config.cycle_interval_ms = 0;
	if (random.chance(0.2)) config.spawn_delay_ms = random.pick([0, 500, 5000]);
	const lanes = random.some(LANES, 0.7);
	for (const lane of lanes) config.lanes[lane] = { ...LANE_DEFAULT, max: cap(random), priority: random.pick([0, 0, 5, 20]) };
	config.lanes.default ??= { ...LANE_DEFAULT };
	if (themes.has("repos")) for (const repo of REPOS) config.repos[repo] = { max: cap(random), prefix: random.chance(0.3) ? "app" : null };
	if (themes.has("accounts")) {
		for (const account of ACCOUNTS) config.accounts[account] = { max: cap(random), max_api_calls: random.between(1, 3) };
		for (const lane of Object.values(config.lanes)) if (random.chance(0.4)) lane.accounts = random.some(ACCOUNTS, 0.7);
	}
	if (themes.has("calls")) for (const account of ACCOUNTS) config.accounts[account] ??= { max: null, max_api_calls: random.between(0, 2) };
	if (themes.has("uses")) config.resources = { build: random.between(1, 3), gpu: 2 };
	if (themes.has("two") && random.chance(0.4)) config.hosts = { h0: { max: random.between(1, 3) } };
	if (themes.has("hours")) {
		for (const lane of Object.values(config.lanes))
			if (random.chance(0.5)) lane.active_hours = random.pick([["09:00-17:00"], ["22:00-06:00"], ["00:00-12:00", "13:30-14:00"]]);
		config.timezone = random.pick(["UTC", "Europe/Berlin", "Asia/Kolkata", "America/New_York"]);
	}
	if (random.chance(0.2))
		config.queue = {
			...config.queue,
			soft_limit: random.pick(["auto" as const, 2, 4]),
			hard_limit: random.pick([0, "auto" as const, 5, 8]),
			count_serial: random.chance(0.5),
		};
}

function drawOrder(random: Random, config: Config): void {
	const { order } = config;
	if (random.chance(0.4)) order.age_from = random.pick(["ready", "created"]);
	if (random.chance(0.3)) order.age_boost_per_minute = random.pick([0, 1, 3]);
	if (random.chance(0.3)) order.age_boost_max = random.pick([0, 5, 50]);
	if (random.chance(0.3)) order.depth_boost_per_level = random.pick([0, 10, -3]);
	if (random.chance(0.3)) order.retry_penalty_per_iteration = random.pick([0, 5]);
	if (random.chance(0.3)) order.retry_penalty_max = random.pick([7, 30]);
	if (random.chance(0.6)) order.overdue_share = random.pick([0, 1, 2, 3, 4]);
	if (random.chance(0.7)) order.overdue_after_ms = random.pick([0, 20_000, MINUTE, 10 * MINUTE]);
}

function drawFailure(random: Random, config: Config, themes: Themes): void {
	if (themes.has("retries")) {
		config.retry = {
			...config.retry,
			max: random.between(0, 3),
			base_ms: random.pick([1000, 30_000]),
			factor: random.pick([1, 2]),
			jitter: random.pick([0, 0.1]),
		};
		config.agent_retry = {
			...config.agent_retry,
			max: random.between(0, 3),
			on: random.pick([
				["crashed", "lost"],
				["failed", "crashed", "timeout", "stalled", "lost"],
			]),
		};
		for (const lane of Object.values(config.lanes)) if (random.chance(0.3)) lane.retry = { ...config.retry, max: random.between(0, 2) };
	}
	if (random.chance(0.5)) config.dispatch_breaker = random.pick([1, 2, 3, "off" as const, "run" as const]);
	if (random.chance(0.5))
		config.environment_breaker = {
			failures: random.pick(themes.has("launches") ? [0, 2, 2, 2, 3] : [0, 2, 3, 5]),
			cooldown_ms: random.pick([10_000, MINUTE]),
		};
	if (random.chance(0.3))
		config.rate_limit = {
			margin_ms: random.pick([0, 5000]),
			stagger_ms: random.pick([0, 1000, 20_000]),
			failover_after_ms: random.pick([1000, 30 * MINUTE]),
			outage_max_ms: 12 * 60 * MINUTE,
		};
	if (random.chance(0.3)) config.lease_ms = random.pick([10_000, 10 * MINUTE]);
	if (random.chance(0.3)) config.on_missing = random.pick(["block", "wait"]);
	if (themes.has("parents")) {
		config.parents.gate = random.pick(["none", "none", "success"]);
		if (random.chance(0.3)) config.parents.max_depth = random.between(1, 3);
		if (random.chance(0.3)) config.parents.max_descendants = random.between(2, 6);
	}
}

/** A live change: the same lanes, repos and accounts, some settings different. */
export function changeConfig(random: Random, before: Config, themes: Themes): Config {
	const config = structuredClone(before);
	const change = random.weighted({ caps: 4, lanes: 4, order: 2, failure: 2, repos: 1, uses: 1 });
	if (change === "caps") {
		config.max_concurrent = random.pick([-1, 1, 2, 3, 5]);
		config.safety_cap = random.pick([0, 2, 4, 25]);
	}
	if (change === "lanes")
		for (const lane of Object.values(config.lanes))
			if (random.chance(0.6)) Object.assign(lane, { max: cap(random), priority: random.pick([0, 5, 20, 40]) });
	if (change === "order") drawOrder(random, config);
	if (change === "failure") drawFailure(random, config, themes);
	if (change === "repos") for (const repo of Object.values(config.repos)) repo.max = cap(random);
	if (change === "uses") for (const name of Object.keys(config.resources)) config.resources[name] = random.between(1, 4);
	return config;
}
