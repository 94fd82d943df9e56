// Rollups as pure functions: nothing is lost when cells are added, split by hour or merged, and figures follow from them.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DEFAULTS } from "../config.ts";
import { dayStart, localDay } from "../time/window.ts";
import { addCounts, binOf, byHour, type CellNames, HOUR_MS, namesOf, OTHER, quantileOf, type RollupCounts } from "./cell.ts";
import { capsIn, mergeCells, mergePeriods, type RollupCell } from "./period.ts";
import { bucketsIn, MOST_GROUPS, type StatsAsked, statsOf } from "./stats.ts";

const names = (lane: string, more: Partial<Record<"agent" | "model" | "owner", string>> = {}): CellNames =>
	namesOf({ lane, agent: undefined, model: undefined, owner: undefined, repo: undefined, account: undefined, ...more });
const cell = (lane: string, counts: RollupCounts): RollupCell => ({ of: names(lane), counts });

describe("counts", () => {
	test("are added, and what is added stays as it was", () => {
		const more: RollupCounts = { started: 1, wait_ms: { turn: 5 } };
		const sum = addCounts(addCounts({ started: 2, wait_ms: { locks: 1 } }, more), more);
		expect(sum).toEqual({ started: 4, wait_ms: { locks: 1, turn: 10 } });
		expect(more).toEqual({ started: 1, wait_ms: { turn: 5 } });
	});

	test("stay whole numbers, however large the report", () => {
		expect(addCounts({ tokens: Number.MAX_SAFE_INTEGER }, { tokens: 7 }).tokens).toBe(Number.MAX_SAFE_INTEGER);
	});

	test("a long name is cut", () => {
		expect(names("x", { owner: "o".repeat(500) })[3]).toHaveLength(80);
	});

	test("the parts of a run by hour add up to what it held", () => {
		fc.assert(
			fc.property(fc.nat(50 * HOUR_MS), fc.nat(40 * HOUR_MS), fc.double({ min: 0, max: 1, noNaN: true }), (from, length, share) => {
				const held = Math.round(length * share);
				const parts = byHour(from, from + length, held);
				expect(parts.reduce((sum, [, ms]) => sum + ms, 0)).toBe(held);
				for (const [hour, ms] of parts) {
					expect(ms).toBeGreaterThan(0);
					expect(ms).toBeLessThanOrEqual(HOUR_MS + 1);
					expect((hour + 1) * HOUR_MS).toBeGreaterThan(from);
				}
			}),
		);
		expect(byHour(1000, 1000, 0)).toEqual([]);
	});

	test("a quantile of the bins is within a factor of 1.5", () => {
		const bins: Record<string, number> = {};
		for (let ms = 1; ms <= 1000; ms++) bins[binOf(ms)] = (bins[binOf(ms)] ?? 0) + 1;
		for (const share of [0.1, 0.5, 0.9]) {
			const found = quantileOf(bins, share) ?? 0;
			expect(found / (share * 1000)).toBeGreaterThan(1 / 1.5);
			expect(found / (share * 1000)).toBeLessThan(1.5);
		}
		expect(quantileOf({}, 0.5)).toBeNull();
		expect(quantileOf({ 0: 3 }, 0.9)).toBe(0);
	});
});

describe("periods", () => {
	test("cells of the same names become one; of too many, the largest stay and the rest is added up", () => {
		const merged = mergeCells(
			[cell("a", { started: 5 }), cell("b", { started: 3 }), cell("a", { started: 1 }), cell("c", { started: 1 })],
			2,
		);
		expect(merged.map(({ of: [lane, agent], counts }) => [lane, agent, counts.started])).toEqual([
			["a", "", 6],
			["b", "", 3],
			[OTHER, OTHER, 1],
		]);
	});

	test("nothing is lost, however few cells are kept", () => {
		const lane = fc.constantFrom("a", "b", "c", "d");
		const some = fc.array(fc.record({ lane, started: fc.nat(9), cost_micro: fc.nat(99) }), { maxLength: 30 });
		fc.assert(
			fc.property(some, fc.integer({ min: 1, max: 5 }), (cells, most) => {
				const sum = (all: readonly RollupCell[]) => all.reduce((into, { counts }) => addCounts(into, counts), {} as RollupCounts);
				const before = cells.map(({ lane, ...counts }) => cell(lane, counts));
				expect(sum(mergeCells(before, most))).toEqual(sum(before));
			}),
		);
	});

	test("the last caps count for a merged period", () => {
		const periods = [
			{ caps: { all: 4 }, cells: [] },
			{ caps: { all: 8 }, cells: [] },
			{ caps: {}, cells: [] },
		];
		expect(mergePeriods(periods).caps).toEqual({ all: 8 });
	});

	test("caps are those of the configuration: the smaller of max_concurrent and safety_cap", () => {
		expect(capsIn({ ...DEFAULTS, max_concurrent: 4, safety_cap: 3 }).all).toBe(3);
		expect(capsIn({ ...DEFAULTS, max_concurrent: -1, safety_cap: 0 })).toEqual({});
	});
});

describe("figures", () => {
	const day = Date.UTC(2026, 0, 5);
	const asked = (more: Partial<StatsAsked> = {}): StatsAsked => ({
		since: day,
		until: day + 3 * HOUR_MS,
		by: "lane",
		bucket: "hour",
		timezone: "UTC",
		known_since: day,
		caps: {},
		...more,
	});
	const at = (hour: number, cells: RollupCell[], caps = {}) => ({ at: day + hour * HOUR_MS, period: { caps, cells } });

	test("by hour, with caps that a later hour without work takes over", () => {
		const found = statsOf(
			[
				at(
					0,
					[
						cell("a", {
							succeeded: 2,
							failed: 1,
							runs: 4,
							retried: 1,
							slot_ms: HOUR_MS,
							cost_micro: 7,
							wait_ms: { capacity: 10, turn: 3 },
						}),
					],
					{
						all: 2,
						lanes: { a: 1 },
					},
				),
				at(2, [cell("b", { succeeded: 1, runs: 1, slot_ms: HOUR_MS / 2 })]),
			],
			asked(),
		);
		expect(found.times).toEqual([day, day + HOUR_MS, day + 2 * HOUR_MS]);
		expect(found.series).toMatchObject({
			ended: [3, 0, 1],
			failed: [1, 0, 0],
			utilisation: [0.5, 0, 0.25],
			slots: [2, 2, 2],
			retry_rate: [0.25, null, 0],
			waits: { capacity: [10, 0, 0], turn: [3, 0, 0] },
		});
		expect(found.total).toMatchObject({ ended: 4, utilisation: 0.25, cost_micro: 7, wait_ms: 13, retry_rate: 0.2 });
		expect(found.groups.map(({ name, total }) => [name, total.ended, total.utilisation])).toEqual([
			["a", 3, 0.333],
			["b", 1, null],
		]);
	});

	test("by cause: only waits", () => {
		const found = statsOf([at(1, [cell("a", { started: 9, wait_ms: { locks: 5, turn: 7 } })])], asked({ by: "cause" }));
		expect(found.groups.map(({ name, total, series }) => [name, total.wait_ms, total.started, series.wait_ms])).toEqual([
			["turn", 7, 0, [0, 7, 0]],
			["locks", 5, 0, [0, 5, 0]],
		]);
	});

	test("the time before anything is known is no unused time", () => {
		const found = statsOf([at(2, [cell("a", { slot_ms: HOUR_MS / 2 })], { all: 1 })], asked({ known_since: day + 2.5 * HOUR_MS }));
		expect(found.total.utilisation).toBe(1);
	});

	test("many groups: the rest is added up, and jobs without a name are told apart from it", () => {
		const cells = Array.from({ length: MOST_GROUPS + 4 }, (_, index) => cell(`l${index}`, { succeeded: 1, cost_micro: 100 - index }));
		const found = statsOf([at(0, [...cells, cell("", { succeeded: 1, cost_micro: 999 })])], asked());
		expect(found.groups).toHaveLength(MOST_GROUPS + 1);
		expect(found.groups[0]?.name).toBeNull();
		expect(found.groups.at(-1)).toMatchObject({ name: OTHER, total: { ended: 5 } });
		expect(found.groups.reduce((sum, { total }) => sum + total.ended, 0)).toBe(found.total.ended);
	});

	test("days begin at local midnight, also on the day of a clock change", () => {
		const berlin = "Europe/Berlin";
		const since = Date.UTC(2026, 2, 28, 12);
		const days = bucketsIn(since, since + 3 * 24 * HOUR_MS, "day", berlin);
		expect(days.map((start) => new Date(start).toISOString())).toEqual([
			"2026-03-27T23:00:00.000Z",
			"2026-03-28T23:00:00.000Z",
			"2026-03-29T22:00:00.000Z",
			"2026-03-30T22:00:00.000Z",
		]);
		for (const zone of ["UTC", berlin, "Pacific/Kiritimati", "Pacific/Niue", "Asia/Kolkata"])
			for (let number = 20_500; number < 20_520; number++) {
				expect(localDay(dayStart(number, zone), zone)).toBe(number);
				expect(localDay(dayStart(number, zone) - 1, zone)).toBe(number - 1);
			}
	});
});
