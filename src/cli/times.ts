// Times as people write and read them: "in 3m", "12s ago", "18:30", "2h".

import { usage } from "./failure.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const UNITS: Record<string, number> = { ms: 1, s: SECOND, m: MINUTE, h: HOUR, d: DAY };

/** Two units at most: 850ms, 12s, 3m 20s, 2h 5m, 4d 1h. */
export function durationWords(ms: number): string {
	if (ms < SECOND) return `${Math.max(0, Math.round(ms))}ms`;
	if (ms < 10 * SECOND) return `${Math.floor(ms / 100) / 10}s`;
	const two = (big: number, bigName: string, small: number, smallName: string) => {
		const rest = Math.floor((ms % big) / small);
		return `${Math.floor(ms / big)}${bigName}${rest > 0 ? ` ${rest}${smallName}` : ""}`;
	};
	if (ms < MINUTE) return `${Math.floor(ms / SECOND)}s`;
	if (ms < HOUR) return two(MINUTE, "m", SECOND, "s");
	return ms < DAY ? two(HOUR, "h", MINUTE, "m") : two(DAY, "d", HOUR, "h");
}

/** One unit: 12s, 3m, 2h, 4d. */
export function shortDuration(ms: number): string {
	for (const [size, name] of [
		[DAY, "d"],
		[HOUR, "h"],
		[MINUTE, "m"],
	] as const)
		if (ms >= size) return `${Math.floor(ms / size)}${name}`;
	return `${Math.max(0, Math.floor(ms / SECOND))}s`;
}

/** Relative to now: "in 3m 10s", "12s ago", "now". */
export function relative(at: number, now: number): string {
	const gap = at - now;
	if (Math.abs(gap) < SECOND) return "now";
	if (gap < 0) return `${shortDuration(-gap)} ago`;
	// Future times are rounded up and past times down: something announced in 3m does not come earlier, and nearly two hours are not shown as one.
	const step = gap < MINUTE ? SECOND : gap < HOUR ? 10 * SECOND : gap < DAY ? MINUTE : HOUR;
	return `in ${durationWords(Math.ceil(gap / step) * step).replace(/^(\d+)\.\d+s$/, "$1s")}`;
}

/** RFC 3339 text or epoch milliseconds from a document; undefined if it is neither. */
export function instantOf(value: unknown): number | undefined {
	const at = typeof value === "string" ? Date.parse(value) : typeof value === "number" ? value : Number.NaN;
	// Outside this range there is no date.
	return Math.abs(at) <= 8.64e15 ? at : undefined;
}

/** `3m ago`; empty where there is no time. */
export function agoWords(value: unknown, now: number): string {
	const at = instantOf(value);
	return at === undefined ? "" : relative(at, now);
}

/** `2030-01-31 08:00:00 (in 3m)`; empty where there is no time. */
export function momentWords(value: unknown, now: number): string {
	const at = instantOf(value);
	return at === undefined ? "" : `${localTime(at)} (${relative(at, now)})`;
}

const two = (value: number) => String(value).padStart(2, "0");

/** Local date and time, to the second. */
export function localTime(at: number): string {
	const date = new Date(at);
	return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clockTime(at)}`;
}

export function clockTime(at: number): string {
	const date = new Date(at);
	return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** "90s", "5m", "1h30m" → milliseconds. */
export function durationOf(value: string, option: string): number {
	const parts = [...value.matchAll(/(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h|d)/g)];
	if (parts.length === 0 || parts.map((part) => part[0]).join("") !== value)
		throw usage(`--${option}: ${JSON.stringify(value)} is not a duration`, "for example 30s, 5m, 1h30m, 2d");
	return Math.round(parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit ?? ""] ?? 0), 0));
}

/**
 * | written                   | means                                             |
 * |---------------------------|---------------------------------------------------|
 * | `18:30`, `18:30:15`       | the next time the local clock shows this          |
 * | `2030-01-31`              | the beginning of that day, local                  |
 * | `2030-01-31T08:00`        | local time (a space may replace the T)            |
 * | `2030-01-31T08:00:00Z`    | RFC 3339, with its zone                           |
 * | `2h`, `1h30m`             | this long from now                                |
 */
export function timeOf(value: string, option: string, now: number): string {
	const clock = /^(\d{1,2}):(\d\d)(?::(\d\d))?$/.exec(value);
	if (clock) {
		const [hours, minutes, seconds] = [Number(clock[1]), Number(clock[2]), Number(clock[3] ?? 0)];
		if (hours < 24 && minutes < 60 && seconds < 60) {
			const date = new Date(now);
			date.setHours(hours, minutes, seconds, 0);
			if (date.getTime() <= now) date.setDate(date.getDate() + 1);
			return date.toISOString();
		}
	} else if (/^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?$/i.test(value)) {
		// A date alone would be parsed as UTC; people mean their local day.
		const at = Date.parse(value.length === 10 ? `${value}T00:00` : value.replace(" ", "T"));
		if (!Number.isNaN(at)) return new Date(at).toISOString();
	} else if (/^\d[\d.]*(?:ms|s|m|h|d)/.test(value)) return new Date(now + durationOf(value, option)).toISOString();
	throw usage(
		`--${option}: ${JSON.stringify(value)} is not a time`,
		"for example 18:30, 2030-01-31T08:00, 2030-01-31T08:00:00Z, or 2h from now",
	);
}

/** Converts times inside a sentence to local times of day; with the date if it is another day. */
export function withLocalTimes(text: string, now: number): string {
	return text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (moment) => {
		const at = Date.parse(moment);
		return Number.isNaN(at) ? moment : Math.abs(at - now) < DAY / 2 ? clockTime(at) : localTime(at);
	});
}
