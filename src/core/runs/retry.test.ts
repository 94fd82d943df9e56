// Back-off: the schedule of preset cards, and delays that stay whole, finite and under their cap for any valid policy.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeJob } from "../../../test/make/job.ts";
import { CARD_RETRY, DEFAULTS, LANE_DEFAULT, NO_RETRY } from "../config.ts";
import { dispatchDelayMs, limitDelayMs, policyOf, retriesUsed, retryDelayMs } from "./retry.ts";

describe("the schedule of preset cards", () => {
	const seconds = (chance: number) => [1, 2, 3, 4, 5].map((n) => retryDelayMs(CARD_RETRY, n, chance) / 1000);

	test("30, 60, 120, 240, 300 s", () => {
		expect(seconds(0.5)).toEqual([30, 60, 120, 240, 300]);
	});

	test("ten per cent less and more, the cap after the jitter", () => {
		expect(seconds(0)).toEqual([27, 54, 108, 216, 300]);
		expect(seconds(0.999_999_999)).toEqual([33, 66, 132, 264, 300]);
	});

	test("a delay under the cap stays within its jitter", () => {
		fc.assert(
			fc.property(fc.integer({ min: 1, max: 4 }), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (n, chance) => {
				const plain = 30_000 * 2 ** (n - 1);
				const delay = retryDelayMs(CARD_RETRY, n, chance);
				expect(delay).toBeGreaterThanOrEqual(plain * 0.9);
				expect(delay).toBeLessThanOrEqual(plain * 1.1);
			}),
		);
	});
});

describe("any policy", () => {
	const policy = fc.record({
		max: fc.nat({ max: 1000 }),
		base_ms: fc.oneof(fc.constant(0), fc.nat({ max: 1e9 }), fc.constant(8.64e15)),
		factor: fc.oneof(fc.constant(1), fc.constant(2), fc.double({ min: 1, max: 100, noNaN: true }), fc.constant(100)),
		jitter: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1, noNaN: true }), fc.constant(1)),
		cap_ms: fc.oneof(fc.constant(0), fc.nat({ max: 1e9 }), fc.constant(8.64e15)),
		on: fc.constant(NO_RETRY.on),
	});
	const chance = fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }));

	test("returns whole milliseconds from 0 to its cap for any retry", () => {
		fc.assert(
			fc.property(policy, fc.integer({ min: 1, max: 1001 }), chance, (policy, n, chance) => {
				const delay = retryDelayMs(policy, n, chance);
				expect(Number.isInteger(delay)).toBe(true);
				expect(delay).toBeGreaterThanOrEqual(0);
				expect(delay).toBeLessThanOrEqual(policy.cap_ms);
			}),
			{ numRuns: 1000 },
		);
	});

	test("a base of zero is no delay, also for the thousandth retry", () => {
		expect(retryDelayMs({ ...NO_RETRY, base_ms: 0, factor: 100 }, 1000, 0.5)).toBe(0);
	});

	test("a jitter of 100 % does not turn an endless delay into none", () => {
		expect(retryDelayMs({ ...NO_RETRY, factor: 100, jitter: 1 }, 1000, 0)).toBeGreaterThanOrEqual(0);
	});
});

test("the job's own policy, else its lane's, else the one for its kind", () => {
	const config = { ...DEFAULTS, lanes: { default: { ...LANE_DEFAULT, retry: { ...NO_RETRY, max: 2 } } } };
	expect(policyOf(makeJob({ retry: { ...NO_RETRY, max: 9 } }), config).max).toBe(9);
	expect(policyOf(makeJob(), config).max).toBe(2);
	expect(policyOf(makeJob(), DEFAULTS)).toEqual(NO_RETRY);
	expect(policyOf(makeJob({ kind: "payload" }), DEFAULTS)).toEqual(NO_RETRY);
	expect(policyOf(makeJob({ kind: "agent" }), DEFAULTS)).toEqual({ ...CARD_RETRY, on: ["crashed", "stalled", "lost"] });
});

test("dispatch failures wait 10 s, doubled by each further one, an hour at most", () => {
	expect([1, 2, 3, 4].map((n) => dispatchDelayMs(DEFAULTS, n) / 1000)).toEqual([10, 20, 40, 80]);
	expect(dispatchDelayMs(DEFAULTS, 10)).toBe(3_600_000);
	expect(dispatchDelayMs(DEFAULTS, 100_000)).toBe(3_600_000);
	expect(dispatchDelayMs({ ...DEFAULTS, dispatch_backoff_ms: 0 }, 5)).toBe(0);
});

test("a limit holds for 2^hits seconds, at most 64, or for as long as the provider says", () => {
	expect([1, 2, 3, 4, 5, 6, 7, 100].map((hits) => limitDelayMs(hits, undefined) / 1000)).toEqual([2, 4, 8, 16, 32, 64, 64, 64]);
	expect(limitDelayMs(1, 30_000)).toBe(30_000);
	expect(limitDelayMs(6, 30_000)).toBe(64_000);
	expect(limitDelayMs(1, 0)).toBe(2000);
});

describe("retries that were used", () => {
	test.each([
		["none, before and while it first runs", { status: "running" }, 0],
		["the one it waits for", { status: "queued", failures: 1, exit_kind: "crashed" }, 1],
		["the one that went well", { status: "succeeded", failures: 1, exit_kind: "completed" }, 1],
		["not the failure that ended it", { status: "failed", failures: 3, exit_kind: "crashed" }, 2],
		["none, where the first failure ended it", { status: "failed", failures: 1, exit_kind: "stalled" }, 0],
		["nor launches that are counted as runs", { status: "failed", failures: 3, exit_kind: "launch_failed" }, 2],
		["launches are counted apart", { status: "failed", failures: 1, exit_kind: "launch_failed", end_reason: "circuit-broken" }, 1],
		["one that a person cancelled has had those before", { status: "cancelled", failures: 2, exit_kind: "cancelled" }, 2],
	])("%s", (_name, tried, used) => {
		expect(retriesUsed(tried)).toBe(used);
	});
});
