// Windows of wall-clock time in a time zone: budgets that reset every hour or day, and hours during which jobs may start.

import { orElse } from "../errors.ts";

const formats = new Map<string, Intl.DateTimeFormat>();

function partsAt(at: number, timezone: string): { minutes: number; seconds: number } {
	let format = formats.get(timezone);
	if (!format) {
		format = new Intl.DateTimeFormat("en-GB", {
			timeZone: timezone,
			hour: "2-digit",
			minute: "2-digit",
			second: "2-digit",
			hourCycle: "h23",
		});
		formats.set(timezone, format);
	}
	let hour = 0;
	let minute = 0;
	let second = 0;
	for (const part of format.formatToParts(at)) {
		if (part.type === "hour") hour = Number(part.value);
		else if (part.type === "minute") minute = Number(part.value);
		else if (part.type === "second") second = Number(part.value);
	}
	return { minutes: hour * 60 + minute, seconds: second };
}

export const isTimezone = (name: string): boolean => orElse(() => Boolean(new Intl.DateTimeFormat("en-GB", { timeZone: name })), false);

/** When the window that contains `at` began. A day with a clock change is 23 or 25 hours long; it begins at its first local midnight. */
export function windowStart(window: "hour" | "day", at: number, timezone: string): number {
	const { minutes, seconds } = partsAt(at, timezone);
	const intoHour = ((minutes % 60) * 60 + seconds) * 1000 + (at % 1000);
	if (window === "hour") return at - intoHour;
	let start = localMidnight(at - (minutes * 60 + seconds) * 1000 - (at % 1000), timezone);
	// If midnight occurs twice, the day began at the first one.
	for (const earlier of [start - 3_600_000, start - 1_800_000])
		if (partsAt(earlier, timezone).minutes === 0 && partsAt(earlier, timezone).seconds === 0) start = earlier;
	return start;
}

/** Corrects `guess` to the local midnight, from which a clock change may have moved it. */
function localMidnight(guess: number, timezone: string): number {
	const off = partsAt(guess, timezone).minutes;
	if (off === 0) return guess;
	return off > 720 ? guess + (1440 - off) * 60_000 : guess - off * 60_000;
}

/** The first moment after `at` that lies in the next window. */
export function windowEnd(window: "hour" | "day", at: number, timezone: string): number {
	const start = windowStart(window, at, timezone);
	if (window === "hour") return start + 3_600_000;
	return windowStart("day", start + 27 * 3_600_000, timezone);
}

const DAY_MS = 86_400_000;
const dates = new Map<string, Intl.DateTimeFormat>();

/** The number of the local date at `at`: days from 1970-01-01, whatever the zone. */
export function localDay(at: number, timezone: string): number {
	let format = dates.get(timezone);
	if (!format) {
		format = new Intl.DateTimeFormat("en-GB", { timeZone: timezone, year: "numeric", month: "2-digit", day: "2-digit" });
		dates.set(timezone, format);
	}
	const found = { year: 1970, month: 1, day: 1 };
	for (const { type, value } of format.formatToParts(at))
		if (type === "year" || type === "month" || type === "day") found[type] = Number(value);
	return Math.floor(Date.UTC(found.year, found.month - 1, found.day) / DAY_MS);
}

/** Starts of days that were computed, by zone. `Intl` takes about 30 µs for one, and figures of a year need 365 of them. */
const starts = new Map<string, number>();
const KEPT_STARTS = 5000;

/** When the local date of this number began. */
export function dayStart(day: number, timezone: string): number {
	const key = `${day} ${timezone}`;
	let start = starts.get(key);
	if (start === undefined) {
		const noon = day * DAY_MS + DAY_MS / 2;
		start = windowStart("day", noon + (day - localDay(noon, timezone)) * DAY_MS, timezone);
		if (starts.size >= KEPT_STARTS) starts.clear();
		starts.set(key, start);
	}
	return start;
}

export type Hours = { from: number; to: number };

/** "22:00-06:00" → minutes of the day; undefined if it is invalid. */
export function parseHours(text: string): Hours | undefined {
	const match = /^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-4]):([0-5]\d)$/.exec(text);
	if (!match) return undefined;
	const from = Number(match[1]) * 60 + Number(match[2]);
	const to = Number(match[3]) * 60 + Number(match[4]);
	return from === to || to > 1440 ? undefined : { from, to };
}

/** null inside one of the ranges; else when the next one begins. */
export function outsideHours(ranges: readonly string[], at: number, timezone: string): number | null {
	const { minutes, seconds } = partsAt(at, timezone);
	let wait = Number.POSITIVE_INFINITY;
	for (const text of ranges) {
		const range = parseHours(text);
		if (!range) continue;
		const inside = range.from < range.to ? minutes >= range.from && minutes < range.to : minutes >= range.from || minutes < range.to;
		if (inside) return null;
		wait = Math.min(wait, (range.from - minutes + 1440) % 1440);
	}
	if (wait === Number.POSITIVE_INFINITY) return null;
	const guess = at + wait * 60_000 - seconds * 1000 - (at % 1000);
	// A clock change in between moves the opening by as much.
	const drift = (minutes + wait - partsAt(guess, timezone).minutes + 2880) % 1440;
	return guess + (drift > 720 ? drift - 1440 : drift) * 60_000;
}
