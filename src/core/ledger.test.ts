// Budgets: charges, windows that roll over, and what is announced once.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { announce, charged, isSpent, isTaken, ledgerKey, refillsAt, reservedKey, reserveOf, usedNow } from "./ledger.ts";
import type { Ledger } from "./limits-view.ts";

const HOUR = 3_600_000;
const NOW = Date.parse("2026-05-05T10:30:00Z");
const DAY = Date.parse("2026-05-05T00:00:00Z");

const ledger = (more: Partial<Ledger> = {}): Ledger => ({
	subject: "owner:ann",
	dim: "tokens",
	used: 0,
	limit: 100,
	warn_at: 0.8,
	window: null,
	window_at: 0,
	...more,
});

describe("used up", () => {
	test.each([
		[0, 100, false],
		[99, 100, false],
		[100, 100, true],
		[101, 100, true],
		[0, 0, true],
		[1e12, null, false],
	])("%d of %s: %s", (used, limit, spent) => {
		expect(isSpent(ledger({ used, limit }), NOW, "UTC")).toBe(spent);
	});

	test("a kernel ledger only above its limit", () => {
		expect(isSpent(ledger({ subject: "pid:7", used: 100 }), NOW, "UTC")).toBe(false);
		expect(isSpent(ledger({ subject: "pid:7", used: 101 }), NOW, "UTC")).toBe(true);
	});
});

describe("windows", () => {
	const daily = ledger({ window: "day", window_at: DAY, used: 100 });

	test("count until they roll over", () => {
		expect(usedNow(daily, NOW, "UTC")).toBe(100);
		expect(usedNow(daily, DAY + 24 * HOUR - 1, "UTC")).toBe(100);
		expect(usedNow(daily, DAY + 24 * HOUR, "UTC")).toBe(0);
		expect(isSpent(daily, DAY + 24 * HOUR, "UTC")).toBe(false);
		expect(refillsAt(daily, NOW, "UTC")).toBe(DAY + 24 * HOUR);
		expect(refillsAt(ledger(), NOW, "UTC")).toBeUndefined();
	});

	test("follow their time zone", () => {
		const berlin = ledger({ window: "day", window_at: DAY - 2 * HOUR, used: 5 });
		expect(refillsAt(berlin, NOW, "Europe/Berlin")).toBe(DAY + 22 * HOUR);
		expect(usedNow(berlin, DAY + 22 * HOUR, "Europe/Berlin")).toBe(0);
	});

	test("a charge in a new window starts from nothing, and so do the announcements", () => {
		const spent = { ...daily, warned: true as const, breached: true as const };
		expect(charged(spent, 7, DAY + 30 * HOUR, "UTC")).toEqual(ledger({ window: "day", window_at: DAY + 24 * HOUR, used: 7 }));
		expect(charged(spent, 7, NOW, "UTC")).toEqual({ ...spent, used: 107 });
	});

	test("a clock that goes back does not open an old window again", () => {
		expect(charged(daily, 1, DAY - HOUR, "UTC")).toEqual({ ...daily, used: 101 });
	});

	test("the hour of a zone off the full hour", () => {
		const start = Date.parse("2026-05-05T10:00:00Z") - HOUR / 2;
		const hourly = ledger({ window: "hour", window_at: start, used: 3 });
		expect(usedNow(hourly, start + HOUR - 1, "Asia/Kolkata")).toBe(3);
		expect(usedNow(hourly, start + HOUR, "Asia/Kolkata")).toBe(0);
	});
});

describe("announcements", () => {
	const announcedFor = (one: Ledger) => {
		const { ledger: next, ...announced } = announce(one, NOW, "UTC");
		return { ...announced, marks: [next.warned ?? false, next.breached ?? false] };
	};

	test.each([
		[79, { warned: false, first_breach: false, marks: [false, false] }],
		[80, { warned: true, first_breach: false, marks: [true, false] }],
		[99, { warned: true, first_breach: false, marks: [true, false] }],
		[100, { warned: true, first_breach: true, marks: [true, true] }],
	])("at %d of 100", (used, announced) => {
		expect(announcedFor(ledger({ used }))).toEqual(announced);
	});

	test("each only once", () => {
		expect(announcedFor(ledger({ used: 90, warned: true }))).toEqual({ warned: false, first_breach: false, marks: [true, false] });
		expect(announcedFor(ledger({ used: 120, warned: true, breached: true }))).toEqual({
			warned: false,
			first_breach: false,
			marks: [true, true],
		});
	});

	test("again after a grant has cleared them", () => {
		expect(announcedFor(ledger({ used: 100, limit: 1000, warned: true, breached: true })).marks).toEqual([false, false]);
		expect(announcedFor(ledger({ used: 1000, limit: 1000 }))).toEqual({ warned: true, first_breach: true, marks: [true, true] });
	});

	test("nothing without a limit", () => {
		expect(announcedFor(ledger({ used: 1e9, limit: null }))).toEqual({ warned: false, first_breach: false, marks: [false, false] });
	});
});

describe("for any charges", () => {
	const charge = fc.record({ amount: fc.integer({ min: -1000, max: 1000 }), after: fc.nat({ max: 30 * HOUR }) });
	const start = fc.constantFrom(null, "hour" as const, "day" as const);

	test("used is what was charged in the present window, never below zero; one breach for each time over the limit", () => {
		fc.assert(
			fc.property(start, fc.array(charge, { maxLength: 30 }), (window, charges) => {
				const length = window === "hour" ? HOUR : window === "day" ? 24 * HOUR : Number.POSITIVE_INFINITY;
				const first = Number.isFinite(length) ? NOW - (NOW % length) : 0;
				let one = ledger({ window, window_at: window === null ? 0 : first, limit: 500 });
				let [now, used, cell, over] = [NOW, 0, first, false];
				for (const { amount, after } of charges) {
					now += after;
					const next = Number.isFinite(length) ? now - (now % length) : 0;
					if (next !== cell) [used, over] = [0, false];
					cell = next;
					used = Math.max(0, used + amount);
					const announced = announce(charged(one, amount, now, "UTC"), now, "UTC");
					one = announced.ledger;
					expect(one.used).toBe(used);
					expect(usedNow(one, now, "UTC")).toBe(used);
					expect(announced.first_breach).toBe(used >= 500 && !over);
					over = used >= 500;
				}
			}),
		);
	});

	test("the given ledger is not changed", () => {
		const one = Object.freeze(ledger({ used: 500, window: "day", window_at: 0, breached: true }));
		charged(one, 5, NOW, "UTC");
		announce(one, NOW, "UTC");
		expect(one.used).toBe(500);
	});
});

test("the key of a ledger", () => {
	expect(ledgerKey("owner:a/b", "tokens")).toBe("owner:a/b/tokens");
});

describe("reserved", () => {
	test("one of runs, nothing of other dimensions, or what the grant says; never of a kernel's ledger", () => {
		expect([ledger({ dim: "runs" }), ledger(), ledger({ reserve: 7 }), ledger({ dim: "runs", reserve: 0 })].map(reserveOf)).toEqual([
			1, 0, 7, 0,
		]);
		expect(reserveOf(ledger({ subject: "pid:7", dim: "runs" }))).toBe(0);
		expect(reservedKey(ledger())).toBe("budget:owner:ann/tokens");
	});
	test.each([
		[99, 0, false],
		[99, 1, true],
		[60, 39, false],
		[60, 40, true],
		[100, 0, true],
		[0, 200, true],
	])("%d used and %d set aside of 100: taken %s", (used, reserved, taken) => {
		expect(isTaken(ledger({ used }), reserved, NOW, "UTC")).toBe(taken);
	});
	test("a ledger without a limit is never full; after its window only reservations remain", () => {
		expect(isTaken(ledger({ used: 1e9, limit: null }), 1e9, NOW, "UTC")).toBe(false);
		const old = ledger({ used: 100, window: "day", window_at: DAY - 24 * HOUR });
		expect([isTaken(old, 99, NOW, "UTC"), isTaken(old, 100, NOW, "UTC")]).toEqual([false, true]);
	});
});
