// Cron expressions: fields, time zones, the two nights in which clocks change, and invalid schedules.

import { describe, expect, test } from "vitest";
import { readSchedule } from "./schedule.ts";

function slots(schedule: string, timezone: string, from: string, count: number): string[] {
	const next = readSchedule(schedule, timezone);
	const found: string[] = [];
	for (let at: number | null = Date.parse(from); found.length < count; ) {
		at = next(at);
		if (at === null) break;
		found.push(new Date(at).toISOString().replace(":00.000Z", "Z"));
	}
	return found;
}

describe("slots", () => {
	test("in a time zone", () => {
		expect(slots("30 2 * * *", "UTC", "2026-01-05T12:00:00Z", 2)).toEqual(["2026-01-06T02:30Z", "2026-01-07T02:30Z"]);
		expect(slots("30 2 * * *", "Asia/Tokyo", "2026-01-05T12:00:00Z", 1)).toEqual(["2026-01-05T17:30Z"]);
		expect(slots("@daily", "Europe/Berlin", "2026-01-05T12:00:00Z", 1)).toEqual(["2026-01-05T23:00Z"]);
		expect(slots("*/20 * * * * *", "UTC", "2026-01-05T12:00:05Z", 2)).toEqual(["2026-01-05T12:00:20.000Z", "2026-01-05T12:00:40.000Z"]);
	});

	test("clocks go forward: a time that does not exist comes an hour later, once", () => {
		expect(slots("30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z", 3)).toEqual([
			"2026-03-28T01:30Z",
			"2026-03-29T01:30Z",
			"2026-03-30T00:30Z",
		]);
	});

	test("clocks go back: a time that exists twice counts once", () => {
		expect(slots("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2)).toEqual(["2026-10-25T01:30Z", "2026-10-26T01:30Z"]);
	});

	test("an hourly schedule goes on through the repeated hour", () => {
		expect(slots("0 * * * *", "Europe/Berlin", "2026-10-24T22:30:00Z", 4)).toEqual([
			"2026-10-24T23:00Z",
			"2026-10-25T00:00Z",
			"2026-10-25T01:00Z",
			"2026-10-25T02:00Z",
		]);
		expect(slots("*/30 * * * *", "America/St_Johns", "2026-11-01T03:40:00Z", 4)).toEqual([
			"2026-11-01T04:00Z",
			"2026-11-01T04:30Z",
			"2026-11-01T05:00Z",
			"2026-11-01T05:30Z",
		]);
		expect(slots("0 * * * *", "Europe/Berlin", "2026-03-28T23:30:00Z", 3)).toEqual([
			"2026-03-29T00:00Z",
			"2026-03-29T01:00Z",
			"2026-03-29T02:00Z",
		]);
		expect(slots("@hourly", "Europe/Berlin", "2026-10-24T23:30:00Z", 2)).toEqual(["2026-10-25T00:00Z", "2026-10-25T01:00Z"]);
	});

	test("a date that never comes", () => expect(slots("0 0 30 2 *", "UTC", "2026-01-01T00:00:00Z", 1)).toEqual([]));

	test.each(["", "daily", "61 * * * *", "* * * *", "* * * * * * *", "2026-10-25T23:20:00", "@never", "1 2 3 4 x"])(
		"no schedule: %j",
		(text) => {
			expect(() => readSchedule(text, "UTC")).toThrow(expect.objectContaining({ code: "invalid", field: "schedule" }));
		},
	);
});
