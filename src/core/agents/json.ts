// Reading JSON that others have written: fields of whatever type, lines that are cut off, lines with something else in front.

import type { Json } from "./happening.ts";

export const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
export const objectIn = (value: unknown): Json => (isObject(value) ? value : {});
export const listIn = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
export const textIn = (value: unknown): string => (typeof value === "string" ? value : "");
/** A number, also one that is written as text; undefined for anything else. */
export const numberOr = (value: unknown): number | undefined => {
	const number = typeof value === "string" && /^\s*-?\d{1,20}(?:\.\d{1,20})?(?:e-?\d{1,3})?\s*$/i.test(value) ? Number(value) : value;
	return typeof number === "number" && Number.isFinite(number) ? number : undefined;
};
export const numberIn = (value: unknown): number => numberOr(value) ?? 0;
/** A count: whole and not below zero. */
export const countIn = (value: unknown): number => Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.round(numberIn(value))));
/** Dollars → millionths of one. */
export const microIn = (value: unknown): number | null => {
	const dollars = numberOr(value);
	return dollars === undefined ? null : countIn(dollars * 1e6);
};

/** The last moment that there is a date for, with years to spare: what is added to it still has one. */
const LAST_MOMENT = 8e15;
/** Milliseconds since 1970, whole; null for what is no moment. */
export const momentOr = (ms: number): number | null => (ms > 0 && ms <= LAST_MOMENT ? Math.round(ms) : null);
/** The same from seconds, as most providers tell it. */
export const secondsIn = (value: unknown): number | null => {
	const seconds = numberOr(value);
	return seconds === undefined ? null : momentOr(seconds * 1000);
};

/** The object on a line, or null. Words in front of it (a warning without an end of line) are passed over. */
export function objectOn(line: string): Json | null {
	const start = line.indexOf("{");
	if (start < 0) return null;
	const found = parsed(start === 0 ? line : line.slice(start));
	if (found !== null || start === 0) return found;
	// What stood in front had a brace of its own.
	const next = line.indexOf('{"', start + 1);
	return next < 0 ? null : parsed(line.slice(next));
}

function parsed(text: string): Json | null {
	try {
		const value: unknown = JSON.parse(text);
		return isObject(value) ? value : null;
	} catch {
		return null;
	}
}

/** A list, or a text in quotes, on a line of its own. */
export function isJson(line: string): boolean {
	if (!line.startsWith("[") && !line.startsWith('"')) return false;
	try {
		JSON.parse(line);
		return true;
	} catch {
		return false;
	}
}

/** Of an object whose end is missing: its members up to the last whole one. Null when there is none. */
export function beginningOf(line: string): Json | null {
	const start = line.indexOf("{");
	if (start < 0) return null;
	let depth = 0;
	let inside = false;
	let whole = -1;
	for (let at = start; at < line.length; at++) {
		const letter = line[at];
		if (inside) {
			if (letter === "\\") at++;
			else if (letter === '"') inside = false;
			continue;
		}
		if (letter === '"') inside = true;
		else if (letter === "{" || letter === "[") depth++;
		else if (letter === "}" || letter === "]") depth--;
		else if (letter === "," && depth === 1) whole = at;
	}
	return whole < 0 ? null : parsed(`${line.slice(start, whole)}}`);
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Not too long for a document that is kept. A copy: a mere slice would keep the ten megabytes that it is of. */
export const short = (text: string, max: number): string =>
	text.length <= max ? text : `${decoder.decode(encoder.encode(text.slice(0, max - 1).replace(/[\ud800-\udbff]$/, "")))}…`;
