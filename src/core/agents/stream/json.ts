// Reads JSON from other programs: fields of any type, truncated lines, lines with other text in front.

import { orElse } from "../../errors.ts";
import type { Happening, Json } from "./happening.ts";

export const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
export const objectIn = (value: unknown): Json => (isObject(value) ? value : {});
export const listIn = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
export const textIn = (value: unknown): string => (typeof value === "string" ? value : "");
export const sessionIn = (id: unknown): Happening[] => (typeof id === "string" && id !== "" ? [{ is: "session", id }] : []);
/** A number, also if it is written as text; undefined for anything else. */
export const numberOr = (value: unknown): number | undefined => {
	const number = typeof value === "string" && /^\s*-?\d{1,20}(?:\.\d{1,20})?(?:e-?\d{1,3})?\s*$/i.test(value) ? Number(value) : value;
	return typeof number === "number" && Number.isFinite(number) ? number : undefined;
};
export const numberIn = (value: unknown): number => numberOr(value) ?? 0;
/** A count: whole and not below zero. */
export const countIn = (value: unknown): number => Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.round(numberIn(value))));
/** Dollars → micro-dollars. */
export const microIn = (value: unknown): number | null => {
	const dollars = numberOr(value);
	return dollars === undefined ? null : countIn(dollars * 1e6);
};

/** The last moment that a Date can hold, less a margin of years, so that sums with it are still valid. */
const LAST_MOMENT = 8e15;
/** Milliseconds since 1970, whole; null if no Date can hold them. */
export const momentOr = (ms: number): number | null => (ms > 0 && ms <= LAST_MOMENT ? Math.round(ms) : null);
/** Seconds since 1970, as most providers write them → milliseconds; null if no Date can hold them. */
export const secondsIn = (value: unknown): number | null => {
	const seconds = numberOr(value);
	return seconds === undefined ? null : momentOr(seconds * 1000);
};

/** The object on a line, or null. Skips text in front of it, such as a warning without a line end. */
export function objectOn(line: string): Json | null {
	const start = line.indexOf("{");
	if (start < 0) return null;
	const found = parsed(start === 0 ? line : line.slice(start));
	if (found !== null || start === 0) return found;
	// The text in front contained a brace.
	const next = line.indexOf('{"', start + 1);
	return next < 0 ? null : parsed(line.slice(next));
}

/** The object that a text is; null if it is no object. */
export function parsed(text: string): Json | null {
	// Rejects most lines that are not JSON without the parser: its error costs as much as parsing a kilobyte.
	if (!text.trimEnd().endsWith("}")) return null;
	const value: unknown = orElse(() => JSON.parse(text), null);
	return isObject(value) ? value : null;
}

/** Whether a line is a JSON list or string. */
export function isJson(line: string): boolean {
	const last = line.trimEnd().at(-1);
	if (!(line.startsWith("[") && last === "]") && !(line.startsWith('"') && last === '"')) return false;
	return orElse(() => JSON.parse(line) !== undefined, false);
}

/** The members of a truncated object, up to the last complete one. Null if there is none. */
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

/** Truncates a text for a stored document. Copies it, because a slice would keep the original, perhaps ten megabytes, in memory. */
export const short = (text: string, max: number): string =>
	text.length <= max ? text : `${decoder.decode(encoder.encode(text.slice(0, max - 1).replace(/[\ud800-\udbff]$/, "")))}…`;

/** The part of a tool's input that people want to see. */
export function toolText(input: Json): string {
	for (const key of ["command", "file_path", "path", "filePath", "pattern", "query", "url", "description", "prompt"]) {
		const text = textIn(input[key]);
		if (text !== "") return short(text, 500);
	}
	const whole = writtenOut(input);
	return whole === "{}" ? "" : short(whole, 500);
}

/** JSON of a tool's input. Input from a program can be nested too deeply for JSON.stringify; then the text is empty. */
export const writtenOut = (input: Json): string => orElse(() => JSON.stringify(input), "…");

export const MESSAGE_MAX = 4000;
/** More denied calls than are stored, so that the rest can be counted. */
export const DENIALS_MAX = 1000;
export const DENIAL_MAX = 1000;
/** Distinct texts, up to the maximum that is kept. An agent often repeats a call. */
export const unique = (texts: readonly string[]): string[] =>
	[...new Set(texts.map((text) => short(text, DENIAL_MAX)))].slice(0, DENIALS_MAX);
