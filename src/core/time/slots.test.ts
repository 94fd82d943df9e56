// Slots: each policy by example, and against a naive list for any schedule.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CATCH_UPS, dueSlot, LATE_MS, type NextSlot, newestSlot } from "./slots.ts";

const HOUR = 3_600_000;
const hourly: NextSlot = (after) => (Math.floor(after / HOUR) + 1) * HOUR;
const among =
	(slots: readonly number[]): NextSlot =>
	(after) =>
		slots.find((slot) => slot > after) ?? null;

describe("what is due", () => {
	test.each([
		["on time", 10 * HOUR, 11 * HOUR + 5, { skip: { fire: 11 * HOUR }, one: { fire: 11 * HOUR }, all: { fire: 11 * HOUR } }],
		["before its time", 10 * HOUR, 11 * HOUR - 1, { skip: null, one: null, all: null }],
		["eight hours missed", 2 * HOUR, 10.5 * HOUR, { skip: { pass: 10 * HOUR }, one: { fire: 10 * HOUR }, all: { fire: 3 * HOUR } }],
		[
			"missed, and one is on time",
			2 * HOUR,
			10 * HOUR + 900,
			{ skip: { fire: 10 * HOUR }, one: { fire: 10 * HOUR }, all: { fire: 3 * HOUR } },
		],
		["registered just now", 10.2 * HOUR, 10.3 * HOUR, { skip: null, one: null, all: null }],
		["the clock was set back", 10 * HOUR, 3 * HOUR, { skip: null, one: null, all: null }],
	])("%s", (_, from, now, expected) => {
		for (const policy of CATCH_UPS) expect([policy, dueSlot(hourly, from, now, policy)]).toEqual([policy, expected[policy]]);
	});

	test("the newest of millions is found with few calls", () => {
		let asked = 0;
		const secondly: NextSlot = (after) => {
			asked++;
			return (Math.floor(after / 1000) + 1) * 1000;
		};
		expect(newestSlot(secondly, 0, 90 * 24 * HOUR + 1)).toBe(90 * 24 * HOUR);
		expect(asked).toBeLessThan(10);
	});

	test("for any schedule: the same as a naive list", () => {
		const times = fc.uniqueArray(fc.integer({ min: 0, max: 5_000_000 }), { maxLength: 40 }).map((all) => all.sort((a, b) => a - b));
		fc.assert(
			fc.property(times, fc.nat({ max: 5_000_000 }), fc.nat({ max: 5_000_000 }), (slots, from, now) => {
				const due = slots.filter((slot) => slot > from && slot <= now);
				const newest = due.at(-1);
				expect(dueSlot(among(slots), from, now, "all")).toEqual(due[0] === undefined ? null : { fire: due[0] });
				expect(dueSlot(among(slots), from, now, "one")).toEqual(newest === undefined ? null : { fire: newest });
				expect(dueSlot(among(slots), from, now, "skip")).toEqual(
					newest === undefined ? null : now - newest <= LATE_MS ? { fire: newest } : { pass: newest },
				);
			}),
		);
	});
});
