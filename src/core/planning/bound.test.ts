// The number of starts of preset town, and which limit bound it.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { boundOf, planDispatch } from "./bound.ts";

describe("the count of preset town", () => {
	test.each([
		// capacity, batch, ready → starts, reason
		[3, 5, 2, 2, "ready"],
		[3, 5, 3, 3, "ready"],
		[3, 5, 9, 3, "capacity"],
		[9, 5, 9, 5, "batch"],
		[5, 5, 9, 5, "batch"],
		[5, 5, 5, 5, "batch"],
		[9, 5, 5, 5, "batch"],
		[9, 1, 9, 1, "batch"],
		[1, 9, 9, 1, "capacity"],
		[0, 5, 3, 0, "capacity"],
		[-2, 5, 3, 0, "capacity"],
		[3, 5, 0, 0, "none"],
		[0, 5, 0, 0, "none"],
		[Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 4, 4, "ready"],
		[Number.POSITIVE_INFINITY, 3, 4, 3, "batch"],
	])("capacity %d, batch %d, ready %d", (capacity, batch, count, starts, reason) => {
		const ready = Array.from({ length: count }, (_, index) => index + 1);
		expect(planDispatch(capacity, batch, ready)).toEqual({ dispatch: ready.slice(0, starts), skipped: ready.slice(starts), reason });
		expect(boundOf(capacity, batch, count)).toBe(reason);
	});

	test("for any numbers: min of the three, and the reason is one that binds", () => {
		const some = fc.integer({ min: -2, max: 6 });
		fc.assert(
			fc.property(some, fc.integer({ min: 1, max: 6 }), fc.nat({ max: 6 }), (capacity, batch, count) => {
				const ready = Array.from({ length: count }, (_, index) => index);
				const { dispatch, skipped, reason } = planDispatch(capacity, batch, ready);
				expect(dispatch.length).toBe(Math.max(0, Math.min(capacity, batch, count)));
				expect([...dispatch, ...skipped]).toEqual(ready);
				const bound = { capacity: Math.max(0, capacity), batch, ready: count, none: 0, paused: Number.NaN }[reason];
				expect(bound).toBe(dispatch.length);
			}),
		);
	});
});
