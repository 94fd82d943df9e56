// The order among startable jobs: the example of preset loops, each term by itself, and what must hold for any numbers.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeJob } from "../../test/make/job.ts";
import { type Config, DEFAULTS, LANE_DEFAULT, PRESETS } from "./config.ts";
import type { Job } from "./job.ts";
import { ageAt, ageBoost, depthOf, levelOf, PRIORITY_SUM, priorityAt, STRICT_ORDER } from "./order.ts";

const { priorityTerms } = PRIORITY_SUM;

const MINUTE = 60_000;
const NOW = 1_000_000 * MINUTE;

const job = (more: Partial<Job> = {}): Job => makeJob({ kind: "agent", created_at: NOW, runnable_at: NOW, ...more });

const total = (one: Job, config: Config, now = NOW) => priorityTerms(one, now, config).total;

describe("the example of preset loops", () => {
	const a = job({ lane: "code", path: [1, 2, 3], created_at: NOW - 5 * MINUTE });
	const b = job({ lane: "phase", path: [1, 2], created_at: NOW - 30 * MINUTE });
	const c = job({ lane: "code", path: [1, 2, 3], created_at: NOW - MINUTE, failures: 4 });

	test("A 135, B 130, C 111", () => {
		expect([a, b, c].map((one) => total(one, PRESETS.loops))).toEqual([135, 130, 111]);
	});

	test("term by term", () => {
		expect(priorityTerms(a, NOW, PRESETS.loops).terms).toEqual([
			{ name: "lane code", value: 100 },
			{ name: "priority", value: 0 },
			{ name: "depth 3", value: 30 },
			{ name: "age", value: 5 },
			{ name: "iteration 1", value: 0 },
		]);
		expect(priorityTerms(c, NOW, PRESETS.loops).terms).toEqual([
			{ name: "lane code", value: 100 },
			{ name: "priority", value: 0 },
			{ name: "depth 3", value: 30 },
			{ name: "age", value: 1 },
			{ name: "iteration 5", value: -20 },
		]);
	});
});

describe("one term at a time", () => {
	test.each([
		["nothing", {}, 0],
		["priority", { priority: 7 }, 7],
		["priority below zero", { priority: -7 }, -7],
		["depth", { path: [1, 2] }, 20],
		["one failure", { failures: 1 }, -5],
		["failures up to the maximum", { failures: 6 }, -30],
		["and not beyond it", { failures: 60 }, -30],
		["59.9 seconds are no minute", { ready_at: NOW - 59_999 }, 0],
		["60 seconds are one", { ready_at: NOW - MINUTE }, 1],
		["50 minutes are the most", { ready_at: NOW - 50 * MINUTE }, 50],
		["a day is not more", { ready_at: NOW - 1440 * MINUTE }, 50],
		["a time to come is no age", { ready_at: NOW + 10 * MINUTE }, 0],
	] as [string, Partial<Job>, number][])("%s", (_name, more, sum) => {
		expect(total(job(more), DEFAULTS)).toBe(sum);
	});

	test("age counts since it was ready, or since it was created", () => {
		const one = job({ created_at: NOW - 30 * MINUTE, ready_at: NOW - 3 * MINUTE });
		expect(ageAt(one, DEFAULTS)).toBe(NOW - 3 * MINUTE);
		expect(ageAt(one, PRESETS.loops)).toBe(NOW - 30 * MINUTE);
		expect(ageAt(job({ created_at: 5 }), DEFAULTS)).toBe(5);
	});

	test("a kernel entry has its priority and its runnable_at, nothing else", () => {
		const entry = job({ kind: "kernel", lane: "code", priority: 9, path: [1], failures: 3, runnable_at: 77, ready_at: 1 });
		expect(STRICT_ORDER.levelOf(entry, PRESETS.loops)).toBe(9);
		expect(STRICT_ORDER.ageAt(entry, PRESETS.loops)).toBe(77);
		expect(STRICT_ORDER.priorityTerms(entry, NOW, PRESETS.loops)).toEqual({ total: 9, terms: [{ name: "priority", value: 9 }] });
	});

	test.each(["cards", "town", "dag", "kernel"] as const)("preset %s is first come, first served", (preset) => {
		const old = job({ ready_at: NOW - 1000 * MINUTE, path: [1, 2, 3], failures: 5, lane: Object.keys(PRESETS[preset].lanes)[0] ?? "" });
		expect(total(old, PRESETS[preset])).toBe(0);
	});

	test("depth is the number of ancestors", () => {
		expect(depthOf({})).toBe(0);
		expect(depthOf({ path: [4, 5] })).toBe(2);
	});
});

describe("for any numbers", () => {
	const order = fc.record({
		age_boost_per_minute: fc.integer({ min: 0, max: 1000 }),
		age_boost_max: fc.integer({ min: 0, max: 1000 }),
		depth_boost_per_level: fc.integer({ min: -1000, max: 1000 }),
		retry_penalty_per_iteration: fc.integer({ min: 0, max: 1000 }),
		retry_penalty_max: fc.integer({ min: 0, max: 10_000 }),
		age_from: fc.constantFrom("ready" as const, "created" as const),
		overdue_share: fc.integer({ min: 0, max: 10 }),
		overdue_after_ms: fc.nat(),
	});
	const config = fc
		.record({ order, base: fc.integer({ min: -1000, max: 1000 }) })
		.map(({ order, base }): Config => ({ ...DEFAULTS, order, lanes: { default: { ...LANE_DEFAULT, priority: base } } }));
	const time = fc.integer({ min: NOW - 10_000 * MINUTE, max: NOW + 100 * MINUTE });
	const anyJob = fc
		.record({
			priority: fc.integer({ min: -1_000_000, max: 1_000_000 }),
			path: fc.array(fc.nat(), { maxLength: 10 }),
			failures: fc.nat({ max: 1000 }),
			created_at: time,
			ready_at: time,
		})
		.map((more) => job(more));

	test("the terms add up to the total, which is base + level + age", () => {
		fc.assert(
			fc.property(anyJob, config, (one, config) => {
				const { total, terms } = priorityTerms(one, NOW, config);
				expect(terms.reduce((sum, term) => sum + term.value, 0)).toBe(total);
				expect(total).toBe(priorityAt(config.lanes.default?.priority ?? 0, levelOf(one, config), ageAt(one, config), NOW, config));
				expect(terms.every((term) => Number.isSafeInteger(term.value))).toBe(true);
			}),
		);
	});

	test("age never takes away, is never more than its maximum, and grows with time", () => {
		fc.assert(
			fc.property(time, fc.nat({ max: 1e9 }), config, (since, later, config) => {
				const [now, then] = [ageBoost(since, NOW, config), ageBoost(since, NOW + later, config)];
				expect(now).toBeGreaterThanOrEqual(0);
				expect(then).toBeGreaterThanOrEqual(now);
				expect(then).toBeLessThanOrEqual(config.order.age_boost_max);
			}),
		);
	});

	test("older is never worse within a level", () => {
		fc.assert(
			fc.property(time, time, fc.integer({ min: -100, max: 100 }), config, (one, other, level, config) => {
				const [first, second] = [Math.min(one, other), Math.max(one, other)];
				expect(priorityAt(0, level, first, NOW, config)).toBeGreaterThanOrEqual(priorityAt(0, level, second, NOW, config));
			}),
		);
	});

	test("a level does not change while a job waits; a failure never raises it", () => {
		fc.assert(
			fc.property(anyJob, config, time, (one, config, other) => {
				expect(levelOf({ ...one, created_at: other, ready_at: other, runnable_at: other }, config)).toBe(levelOf(one, config));
				expect(levelOf({ ...one, failures: (one.failures ?? 0) + 1 }, config)).toBeLessThanOrEqual(levelOf(one, config));
			}),
		);
	});
});
