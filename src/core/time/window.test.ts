// Windows of local time: days with a clock change, zones off the full hour, hours during which jobs may start.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isTimezone, outsideHours, parseHours, windowEnd, windowStart } from "./window.ts";

const at = (text: string) => Date.parse(text);
const iso = (time: number) => new Date(time).toISOString().replace(".000Z", "Z");
const HOUR = 3_600_000;

/** Date and time of day as a person in that zone reads them, computed in another way than the code under test. */
function local(time: number, timezone: string): { date: string; minutes: number; seconds: number } {
	const text = new Intl.DateTimeFormat("sv-SE", { timeZone: timezone, dateStyle: "short", timeStyle: "medium" }).format(time);
	const [date = "", clock = ""] = text.split(" ");
	const [hour = 0, minute = 0, second = 0] = clock.split(":").map(Number);
	return { date, minutes: hour * 60 + minute, seconds: second };
}

describe("days", () => {
	test.each([
		// zone, a moment, the start of its day, the start of the next
		["UTC", "2026-05-05T13:14:15Z", "2026-05-05T00:00:00Z", "2026-05-06T00:00:00Z"],
		["UTC", "2026-05-05T00:00:00Z", "2026-05-05T00:00:00Z", "2026-05-06T00:00:00Z"],
		["Europe/Berlin", "2026-01-15T22:59:59Z", "2026-01-14T23:00:00Z", "2026-01-15T23:00:00Z"],
		["Europe/Berlin", "2026-01-15T23:00:00Z", "2026-01-15T23:00:00Z", "2026-01-16T23:00:00Z"],
		// 29 March: the clock goes from 2:00 to 3:00; the day has 23 hours.
		["Europe/Berlin", "2026-03-28T23:00:00Z", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"],
		["Europe/Berlin", "2026-03-29T00:59:59Z", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"],
		["Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"],
		["Europe/Berlin", "2026-03-29T21:59:59Z", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"],
		["Europe/Berlin", "2026-03-29T22:00:00Z", "2026-03-29T22:00:00Z", "2026-03-30T22:00:00Z"],
		// 25 October: from 3:00 back to 2:00; 25 hours.
		["Europe/Berlin", "2026-10-24T22:00:00Z", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"],
		["Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"],
		["Europe/Berlin", "2026-10-25T01:30:00Z", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"],
		["Europe/Berlin", "2026-10-25T22:59:59Z", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"],
		// 8 March and 1 November.
		["America/New_York", "2026-03-08T06:59:59Z", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"],
		["America/New_York", "2026-03-08T07:00:00Z", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"],
		["America/New_York", "2026-03-09T03:59:59Z", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"],
		["America/New_York", "2026-11-01T05:30:00Z", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"],
		["America/New_York", "2026-11-01T06:30:00Z", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"],
		["America/New_York", "2026-11-02T04:59:59Z", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"],
		["Asia/Kolkata", "2026-05-05T18:29:59Z", "2026-05-04T18:30:00Z", "2026-05-05T18:30:00Z"],
		// Midnight itself is skipped: the day begins at 1:00.
		["Africa/Cairo", "2026-04-24T09:00:00Z", "2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"],
		// Midnight occurs twice: the day begins with the first one.
		["America/Havana", "2026-11-01T04:30:00Z", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"],
		["America/Havana", "2026-11-01T05:30:00Z", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"],
		["America/Havana", "2026-11-01T15:00:00Z", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"],
	])("%s %s", (timezone, moment, start, end) => {
		expect(iso(windowStart("day", at(moment), timezone))).toBe(start);
		expect(iso(windowEnd("day", at(moment), timezone))).toBe(end);
	});

	const zones = fc.constantFrom(
		"UTC",
		"Europe/Berlin",
		"America/New_York",
		"Asia/Kolkata",
		"Asia/Kathmandu",
		"Australia/Adelaide",
		"Pacific/Apia",
		"America/St_Johns",
		"Africa/Cairo",
	);
	const moments = fc.integer({ min: at("2020-01-01T00:00:00Z"), max: at("2035-01-01T00:00:00Z") });

	test("a day begins with its first moment and ends before the next one's", () => {
		fc.assert(
			fc.property(zones, moments, (timezone, moment) => {
				const [start, end] = [windowStart("day", moment, timezone), windowEnd("day", moment, timezone)];
				const { date } = local(moment, timezone);
				expect(start).toBeLessThanOrEqual(moment);
				expect(end).toBeGreaterThan(moment);
				expect([local(start, timezone).date, local(end - 1, timezone).date]).toEqual([date, date]);
				expect(local(start - 1, timezone).date).not.toBe(date);
				expect(local(end, timezone).date).not.toBe(date);
				expect([23, 24, 25]).toContain((end - start) / HOUR);
			}),
			{ numRuns: 500 },
		);
	});

	test("the days of a year follow one another without a gap", () => {
		for (const timezone of ["Europe/Berlin", "America/New_York"]) {
			const lengths: number[] = [];
			let start = windowStart("day", at("2026-01-01T12:00:00Z"), timezone);
			for (let day = 0; day < 365; day++) {
				const end = windowEnd("day", start, timezone);
				lengths.push((end - start) / HOUR);
				expect(windowStart("day", end - 1, timezone)).toBe(start);
				expect(windowStart("day", end, timezone)).toBe(end);
				start = end;
			}
			expect(lengths.filter((hours) => hours !== 24).sort()).toEqual([23, 25]);
		}
	});
});

describe("hours", () => {
	test.each([
		["UTC", "2026-05-05T13:14:15Z", "2026-05-05T13:00:00Z"],
		["Asia/Kolkata", "2026-05-05T13:14:15Z", "2026-05-05T12:30:00Z"],
		["Asia/Kolkata", "2026-05-05T13:30:00Z", "2026-05-05T13:30:00Z"],
		["Asia/Kathmandu", "2026-05-05T13:14:15Z", "2026-05-05T12:15:00Z"],
		["America/St_Johns", "2026-05-05T13:29:59Z", "2026-05-05T12:30:00Z"],
		["Australia/Adelaide", "2026-05-05T13:31:00Z", "2026-05-05T13:30:00Z"],
		["Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-29T01:00:00Z"],
		["Europe/Berlin", "2026-10-25T01:30:00Z", "2026-10-25T01:00:00Z"],
	])("%s %s", (timezone, moment, start) => {
		expect(iso(windowStart("hour", at(moment), timezone))).toBe(start);
		expect(windowEnd("hour", at(moment), timezone)).toBe(at(start) + HOUR);
	});

	test("begin on the full hour of the zone and hold the moment", () => {
		const zones = fc.constantFrom("UTC", "Europe/Berlin", "Asia/Kolkata", "Asia/Kathmandu", "America/St_Johns", "Australia/Adelaide");
		fc.assert(
			fc.property(zones, fc.integer({ min: 1e12, max: 2e12 }), (timezone, moment) => {
				const start = windowStart("hour", moment, timezone);
				expect(start).toBeLessThanOrEqual(moment);
				expect(moment).toBeLessThan(windowEnd("hour", moment, timezone));
				expect([local(start, timezone).minutes % 60, local(start, timezone).seconds, start % 1000]).toEqual([0, 0, 0]);
			}),
			{ numRuns: 300 },
		);
	});
});

describe("active hours", () => {
	test.each([
		["08:00-18:00", { from: 480, to: 1080 }],
		["22:00-06:00", { from: 1320, to: 360 }],
		["00:00-24:00", { from: 0, to: 1440 }],
		["00:00-00:01", { from: 0, to: 1 }],
		["8:00-18:00", undefined],
		["08:00-08:00", undefined],
		["08:00-24:01", undefined],
		["24:00-08:00", undefined],
		["08:60-09:00", undefined],
		["08:00–18:00", undefined],
		["08:00-18:00 ", undefined],
		["", undefined],
	])("%s", (text, hours) => {
		expect(parseHours(text)).toEqual(hours);
	});

	test.each([
		["UTC", ["08:00-18:00"], "2026-05-05T08:00:00Z", null],
		["UTC", ["08:00-18:00"], "2026-05-05T17:59:59Z", null],
		["UTC", ["08:00-18:00"], "2026-05-05T18:00:00Z", "2026-05-06T08:00:00Z"],
		["UTC", ["08:00-18:00"], "2026-05-05T07:59:59Z", "2026-05-05T08:00:00Z"],
		["UTC", ["22:00-06:00"], "2026-05-05T23:00:00Z", null],
		["UTC", ["22:00-06:00"], "2026-05-05T05:59:59Z", null],
		["UTC", ["22:00-06:00"], "2026-05-05T06:00:00Z", "2026-05-05T22:00:00Z"],
		["UTC", ["08:00-10:00", "12:00-14:00"], "2026-05-05T10:30:00Z", "2026-05-05T12:00:00Z"],
		["UTC", ["08:00-10:00", "12:00-14:00"], "2026-05-05T15:00:00Z", "2026-05-06T08:00:00Z"],
		["UTC", ["00:00-24:00"], "2026-05-05T15:00:00Z", null],
		["UTC", [], "2026-05-05T15:00:00Z", null],
		["Asia/Kolkata", ["08:00-18:00"], "2026-05-05T02:29:59Z", "2026-05-05T02:30:00Z"],
		["Europe/Berlin", ["08:00-18:00"], "2026-01-05T20:00:00Z", "2026-01-06T07:00:00Z"],
		// Across a clock change: eight o'clock stays eight o'clock.
		["Europe/Berlin", ["08:00-18:00"], "2026-03-28T20:00:00Z", "2026-03-29T06:00:00Z"],
		["Europe/Berlin", ["08:00-18:00"], "2026-10-24T20:00:00Z", "2026-10-25T07:00:00Z"],
		["America/New_York", ["08:00-18:00"], "2026-03-08T02:00:00Z", "2026-03-08T12:00:00Z"],
		["America/New_York", ["08:00-18:00"], "2026-11-01T02:00:00Z", "2026-11-01T13:00:00Z"],
	] as [string, string[], string, string | null][])("%s %j %s", (timezone, ranges, moment, opens) => {
		const found = outsideHours(ranges, at(moment), timezone);
		expect(found === null ? null : iso(found)).toBe(opens);
	});

	test("at the returned moment the hours have begun, and just before they have not", () => {
		const clock = fc.integer({ min: 0, max: 1439 });
		const text = (minutes: number) => `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
		const zone = fc.constantFrom("UTC", "Asia/Kolkata", "Asia/Kathmandu");
		fc.assert(
			fc.property(zone, clock, clock, fc.integer({ min: 1e12, max: 2e12 }), (timezone, from, to, moment) => {
				fc.pre(from !== to);
				const ranges = [`${text(from)}-${text(to)}`];
				const opens = outsideHours(ranges, moment, timezone);
				const { minutes } = local(moment, timezone);
				const inside = from < to ? minutes >= from && minutes < to : minutes >= from || minutes < to;
				expect(opens === null).toBe(inside);
				if (opens === null) return;
				expect(opens).toBeGreaterThan(moment);
				expect(outsideHours(ranges, opens, timezone)).toBe(null);
				expect(outsideHours(ranges, opens - 1, timezone)).toBe(opens);
			}),
			{ numRuns: 300 },
		);
	});
});

test("time zones by name", () => {
	expect(["UTC", "Europe/Berlin", "Asia/Kathmandu"].every(isTimezone)).toBe(true);
	expect(["", "Europe/Nowhere", "Berlin", "UTC+25", "\u0000"].some(isTimezone)).toBe(false);
});
