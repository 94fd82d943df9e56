// Configuration as people write it: every key in its documented form, every mistake named, nothing applied after a mistake.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Config, DEFAULTS, hardLimit, isDirect, LANE_DEFAULT, laneOf, NO_RETRY, PRESETS, presetConfig, softLimit } from "../config.ts";
import { SluiceError } from "../errors.ts";
import { readConfig } from "./config.ts";

const read = (value: unknown, before: Config = DEFAULTS) => readConfig(value, before);

function refusal(value: unknown, before: Config = DEFAULTS): SluiceError {
	try {
		read(value, before);
	} catch (error) {
		if (error instanceof SluiceError) return error;
		throw error;
	}
	throw new Error("nothing was refused");
}

/** `{a: {b: 1}}` from "a.b", 1. */
const nest = (path: string, value: unknown): Record<string, unknown> =>
	path
		.split(".")
		.reverse()
		.reduce((inner, key) => ({ [key]: inner }), value as Record<string, unknown>);
const dig = (value: unknown, path: string): unknown => path.split(".").reduce((one, key) => (one as Record<string, unknown>)?.[key], value);

describe("every key in its documented form", () => {
	test.each([
		["max_concurrent", -1, -1],
		["max_concurrent", 12, 12],
		["safety_cap", 0, 0],
		["batch_size", 3, 3],
		["spawn_delay_ms", 500, 500],
		["spawn_delay_ms", "500ms", 500],
		["cycle_interval_ms", "3m", 180_000],
		["poll_interval_ms", "2s", 2000],
		["lanes.default.max", 5, 5],
		["lanes.default.max", null, null],
		["lanes.default.max", 0, 0],
		["lanes.code.priority", -40, -40],
		["lanes.code.active_hours", ["22:00-06:00"], ["22:00-06:00"]],
		["lanes.code.retry", 5, { ...NO_RETRY, max: 5 }],
		["lanes.code.retry", null, null],
		["lanes.code.retry", { max: 2, base_ms: "1m" }, { ...NO_RETRY, max: 2, base_ms: 60_000 }],
		["repos.web.max", 2, 2],
		["repos.web.prefix", "WEB-", "WEB-"],
		["repos.web.prefix", null, null],
		["accounts.work.max", 1, 1],
		["accounts.work.max_api_calls", 3, 3],
		["hosts.h1.max", 9, 9],
		["resources.build", 2, 2],
		["agents", ["claude", "codex"], ["claude", "codex"]],
		["queue.soft_limit", "auto", "auto"],
		["queue.soft_limit", 100, 100],
		["queue.hard_limit", 0, 0],
		["queue.count_serial", true, true],
		["queue.limit_items", true, true],
		["flow_max", 1, 1],
		["flow_max", null, null],
		["order.age_boost_per_minute", 2, 2],
		["order.age_boost_max", 0, 0],
		["order.depth_boost_per_level", -5, -5],
		["order.retry_penalty_per_iteration", 1, 1],
		["order.retry_penalty_max", 10, 10],
		["order.age_from", "created", "created"],
		["order.overdue_share", 0, 0],
		["order.overdue_after_ms", "2h", 7_200_000],
		["parents.gate", "success", "success"],
		["parents.max_depth", 3, 3],
		["parents.max_descendants", 10, 10],
		["on_missing", "wait", "wait"],
		["retry.max", 3, 3],
		["retry", 4, { ...NO_RETRY, max: 4 }],
		["retry.base_ms", "10s", 10_000],
		["retry.factor", 1.5, 1.5],
		["retry.jitter", 0, 0],
		["retry.cap_ms", 1, 1],
		["retry.on", ["lost"], ["lost"]],
		["agent_retry.max", 0, 0],
		["dispatch_breaker", 1, 1],
		["dispatch_breaker", "off", "off"],
		["dispatch_breaker", "run", "run"],
		["dispatch_backoff_ms", 0, 0],
		["environment_breaker.failures", 0, 0],
		["environment_breaker.cooldown_ms", "1m", 60_000],
		["rate_limit.margin_ms", 0, 0],
		["rate_limit.stagger_ms", "2s", 2000],
		["rate_limit.failover_after_ms", "1h", 3_600_000],
		["lease_ms", "10m", 600_000],
		["timezone", "Europe/Berlin", "Europe/Berlin"],
		["kernel.enabled", false, false],
	] as [string, unknown, unknown][])("%s: %j", (path, value, expected) => {
		const config = read(nest(path, value));
		expect(dig(config, path)).toEqual(expected);
		// All other settings are unchanged.
		const [first = ""] = path.split(".");
		const { [first as keyof Config]: _changed, ...rest } = config;
		const { [first as keyof Config]: _before, ...before } = DEFAULTS;
		expect(rest).toEqual(before);
	});

	test.each(["spawn_delay", "cycle_interval", "poll_interval", "dispatch_backoff", "lease"])("%s without its unit", (key) => {
		expect(read({ [key]: "20s" })).toEqual({ ...DEFAULTS, [`${key}_ms`]: 20_000 });
	});
	test("the same inside a group", () => {
		expect(read({ rate_limit: { margin: "10s" }, order: { overdue_after: "30m" }, environment_breaker: { cooldown: 5 } })).toEqual({
			...DEFAULTS,
			rate_limit: { ...DEFAULTS.rate_limit, margin_ms: 10_000 },
			order: { ...DEFAULTS.order, overdue_after_ms: 1_800_000 },
			environment_breaker: { ...DEFAULTS.environment_breaker, cooldown_ms: 5 },
		});
	});
	test("lanes with accounts, both given at once", () => {
		const config = read({ accounts: { work: {} }, lanes: { code: { accounts: ["work"] } } });
		expect(config.lanes.code).toEqual({ ...LANE_DEFAULT, accounts: ["work"] });
		expect(config.accounts.work).toEqual({ max: null, max_api_calls: 10 });
	});
	test("nothing changes nothing", () => {
		expect(read({})).toEqual(DEFAULTS);
	});
});

describe("maps", () => {
	test("naming an entry adds or changes it, null removes it", () => {
		const one = read({ lanes: { code: { max: 3 } }, resources: { build: 1, gpu: 2 } });
		const two = read({ lanes: { code: { priority: 7 }, default: null }, resources: { gpu: null } }, one);
		expect(two.lanes).toEqual({ code: { ...LANE_DEFAULT, max: 3, priority: 7 } });
		expect(two.resources).toEqual({ build: 1 });
		expect(one.lanes.default).toEqual(LANE_DEFAULT);
	});

	test.each(["toString", "valueOf", "hasOwnProperty", "isPrototypeOf"])(
		"a lane, repo, account, host called %s is one like any other",
		(name) => {
			const config = read({
				lanes: { [name]: {} },
				repos: { [name]: {} },
				accounts: { [name]: {} },
				hosts: { [name]: {} },
				resources: { [name]: 1 },
			});
			expect(config.lanes[name]).toEqual(LANE_DEFAULT);
			expect(config.repos[name]).toEqual({ max: null, prefix: null });
			expect(config.accounts[name]).toEqual({ max: null, max_api_calls: 10 });
			expect(config.hosts[name]).toEqual({ max: null });
		},
	);

	test.each(["toString", "valueOf", "hasOwnProperty"])("a lane that is not configured is none, also when it is called %s", (name) => {
		expect(laneOf(DEFAULTS, name)).toEqual(LANE_DEFAULT);
	});

	test("at least one lane is left", () => {
		expect(refusal({ lanes: { default: null } })).toMatchObject({ code: "invalid", field: "lanes" });
	});
});

describe("unknown keys, with a suggestion", () => {
	test.each([
		[{ max_concurent: 3 }, "max_concurent", 'did you mean "max_concurrent"?'],
		[{ spawn_dellay: 3 }, "spawn_dellay", 'did you mean "spawn_delay"?'],
		[{ order: { age_from_: 1 } }, "order.age_from_", 'did you mean "age_from"?'],
		[{ lanes: { code: { maxx: 1 } } }, "lanes.code.maxx", 'did you mean "max"?'],
		[{ retry: { base_m: 1 } }, "retry.base_m", 'did you mean "base_ms"?'],
		[{ lanes: { code: { retry: { fctor: 2 } } } }, "lanes.code.retry.fctor", 'did you mean "factor"?'],
		[{ kernel: { enable: true } }, "kernel.enable", 'did you mean "enabled"?'],
	])("%j", (value, field, hint) => {
		expect(refusal(value)).toMatchObject({ code: "unknown_key", field, hint });
	});
	test("or all there are", () => {
		expect(refusal({ kernel: { frobnicate: 1 } }).hint).toBe("known keys: enabled");
		expect(refusal(JSON.parse('{"__proto__": {"max_concurrent": 1}}'))).toMatchObject({ code: "unknown_key", field: "__proto__" });
	});
});

describe("bad values, named", () => {
	test.each([
		[null, "config"],
		[[], "config"],
		["x", "config"],
		[{ max_concurrent: "4" }, "max_concurrent"],
		[{ max_concurrent: -2 }, "max_concurrent"],
		[{ max_concurrent: 1.5 }, "max_concurrent"],
		[{ max_concurrent: Number.NaN }, "max_concurrent"],
		[{ max_concurrent: null }, "max_concurrent"],
		[{ max_concurrent: undefined }, "max_concurrent"],
		[{ safety_cap: -1 }, "safety_cap"],
		[{ spawn_delay_ms: "soon" }, "spawn_delay_ms"],
		[{ spawn_delay: -1 }, "spawn_delay"],
		[{ poll_interval_ms: 0 }, "poll_interval_ms"],
		[{ lanes: [] }, "lanes"],
		[{ lanes: { "a b": {} } }, "lanes.a b"],
		[{ lanes: { constructor: {} } }, "lanes.constructor"],
		[{ lanes: { code: 5 } }, "lanes.code"],
		[{ lanes: { code: { max: -1 } } }, "lanes.code.max"],
		[{ lanes: { code: { accounts: "work" } } }, "lanes.code.accounts"],
		[{ lanes: { code: { accounts: ["nobody"] } } }, "lanes.code.accounts"],
		[{ lanes: { code: { active_hours: ["8-18"] } } }, "lanes.code.active_hours[0]"],
		[{ lanes: { code: { retry: { on: ["faild"] } } } }, "lanes.code.retry.on[0]"],
		[{ repos: { web: { prefix: "../x" } } }, "repos.web.prefix"],
		[{ resources: { build: -1 } }, "resources.build"],
		[{ resources: { build: 1.5 } }, "resources.build"],
		[{ agents: ["a", 5] }, "agents[1]"],
		[{ queue: { soft_limit: "Auto" } }, "queue.soft_limit"],
		[{ order: { age_from: "birth" } }, "order.age_from"],
		[{ order: { overdue_share: 1001 } }, "order.overdue_share"],
		[{ parents: { max_depth: 1001 } }, "parents.max_depth"],
		[{ on_missing: "skip" }, "on_missing"],
		[{ retry: { max: 1001 } }, "retry.max"],
		[{ retry: { factor: 0.5 } }, "retry.factor"],
		[{ retry: { jitter: 1.5 } }, "retry.jitter"],
		[{ retry: -1 }, "retry"],
		[{ dispatch_breaker: 0 }, "dispatch_breaker"],
		[{ dispatch_breaker: "never" }, "dispatch_breaker"],
		[{ lease_ms: 999 }, "lease_ms"],
		[{ timezone: "Europe/Nowhere" }, "timezone"],
		[{ timezone: 5 }, "timezone"],
		[{ kernel: { enabled: 1 } }, "kernel.enabled"],
	] as [unknown, string][])("%j", (value, field) => {
		expect(refusal(value)).toMatchObject({ code: "invalid", field });
	});

	test("any value under any key is applied completely or refused by name", () => {
		const frozen = JSON.stringify(DEFAULTS);
		fc.assert(
			fc.property(
				fc.constantFrom(...Object.keys(DEFAULTS)),
				fc.anything({ withDate: true, withMap: true, withBigInt: true }),
				(key, value) => {
					try {
						const config = read({ [key]: value });
						// What was read can be read again.
						expect(read(JSON.parse(JSON.stringify({ [key]: config[key as keyof Config] })))).toEqual(config);
					} catch (error) {
						if (!(error instanceof SluiceError)) throw error;
						expect(error.field?.startsWith(key)).toBe(true);
						expect(error.message.startsWith(key)).toBe(true);
					}
					expect(JSON.stringify(DEFAULTS)).toBe(frozen);
				},
			),
			{ numRuns: 2000 },
		);
	});
});

describe("presets", () => {
	test.each(Object.keys(PRESETS) as (keyof typeof PRESETS)[])("%s can be written down and read again", (name) => {
		const preset = presetConfig(name);
		expect(read(JSON.parse(JSON.stringify(preset)), preset)).toEqual(preset);
		expect(Object.keys(preset)).toEqual(Object.keys(DEFAULTS));
	});
	test.each(Object.keys(PRESETS) as (keyof typeof PRESETS)[])("%s inherits each key of a group that it does not change", (name) => {
		const groups = ["queue", "order", "parents", "retry", "agent_retry", "environment_breaker", "rate_limit", "kernel"] as const;
		for (const group of groups) expect(Object.keys(presetConfig(name)[group])).toEqual(Object.keys(DEFAULTS[group]));
	});
	test("none is the defaults", () => {
		expect(presetConfig(undefined)).toEqual(DEFAULTS);
	});
	test("values of the presets", () => {
		expect(PRESETS.cards).toMatchObject({ max_concurrent: 1, retry: { max: 5 }, dispatch_breaker: "run" });
		expect([softLimit(PRESETS.cards), hardLimit(PRESETS.cards)]).toEqual([8, 16]);
		expect(isDirect(PRESETS.town) && isDirect(PRESETS.dag)).toBe(true);
		expect(PRESETS.town).toMatchObject({ cycle_interval_ms: 180_000, batch_size: 1, safety_cap: 0 });
		expect(PRESETS.loops.order.age_from).toBe("created");
		expect(PRESETS.loops).toMatchObject({ on_missing: "wait", parents: { gate: "success" } });
	});
});

describe("queue limits", () => {
	test.each([
		[1, "auto", "auto", 8, 16],
		[2, "auto", "auto", 8, 16],
		[4, "auto", "auto", 16, 32],
		[4, "auto", 0, 16, Number.POSITIVE_INFINITY],
		[4, 3, "auto", 3, 6],
		[4, 3, 100, 3, 100],
		[0, 3, 5, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
		[-1, 3, 5, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
	] as [number, number | "auto", number | "auto", number, number][])(
		"max_concurrent %d, %s / %s",
		(max_concurrent, soft_limit, hard_limit, soft, hard) => {
			const config = { ...DEFAULTS, max_concurrent, queue: { ...DEFAULTS.queue, soft_limit, hard_limit } };
			expect([softLimit(config), hardLimit(config)]).toEqual([soft, hard]);
		},
	);
});
