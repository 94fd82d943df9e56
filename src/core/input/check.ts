// Checks of single values: each returns the normalised value, or throws an error that names the field and what to do.

import { SluiceError } from "../errors.ts";
import { JsonText } from "../text/json-text.ts";
import { isOneOf } from "../text/one-of.ts";
import { nearest } from "./nearest.ts";

export const MAX_TEXT = 1_000_000;
export const MAX_NAME = 200;
/** Whole milliseconds that a Date can hold. */
export const MAX_TIME = 8.64e15;

export const wrong = (field: string, message: string, hint?: string) =>
	new SluiceError("invalid", `${field}: ${message}`, { field, ...(hint === undefined ? {} : { hint }) });

/** Reads what a caller passed in. An exception thrown by the value itself (a getter, a proxy, a cycle) is reported as the caller's mistake. */
export function taking<T>(field: string, read: () => T): T {
	try {
		return read();
	} catch (error) {
		if (error instanceof SluiceError) throw error;
		throw new SluiceError("invalid", `${field}: cannot be read: ${error instanceof Error ? error.message : typeof error}`, {
			field,
			hint: "hand over plain data",
			cause: error,
		});
	}
}

/** A value as shown in an error message; long ones are shortened. */
export function shown(value: unknown): string {
	if (value === null) return "null";
	if (Array.isArray(value)) return `a list of ${value.length}`;
	switch (typeof value) {
		case "string":
			return value.length > 60 ? `"${value.slice(0, 60)}…" (${value.length} characters)` : JSON.stringify(value);
		case "object":
			return "an object";
		case "function":
		case "symbol":
			return `a ${typeof value}`;
		default:
			return String(value);
	}
}

export function record(value: unknown, field: string): Record<string, unknown> {
	if (value === null || typeof value !== "object" || Array.isArray(value)) throw wrong(field, `must be an object, not ${shown(value)}`);
	if (!isPlain(value)) throw wrong(field, "must be a plain object");
	return value as Record<string, unknown>;
}

const isPlain = (value: object): boolean => {
	const prototype = Object.getPrototypeOf(value);
	return prototype === null || prototype === Object.prototype;
};

export function knownKeys(value: Record<string, unknown>, known: readonly string[], field: string): void {
	for (const key of Object.keys(value)) {
		if (known.includes(key)) continue;
		const short = key.length > 60 ? `${key.slice(0, 60)}…` : key;
		const path = field === "" ? short : `${field}.${short}`;
		const guess = nearest(key, known);
		throw new SluiceError("unknown_key", `${path}: there is no such key`, {
			field: path,
			hint: guess ? `did you mean "${guess}"?` : `known keys: ${known.join(", ")}`,
		});
	}
}

/** Text without control characters that would garble a terminal or end a line; `lines` says whether newlines and tabs are allowed. */
export function text(
	value: unknown,
	field: string,
	{ max = MAX_TEXT, lines = "many" }: { max?: number; lines?: "one" | "many" } = {},
): string {
	if (typeof value !== "string")
		throw wrong(
			field,
			`must be text, not ${shown(value)}`,
			/^(number|boolean)$/.test(typeof value) ? `put it in quotes: "${value}"` : undefined,
		);
	if (value.length > max)
		throw new SluiceError("limit", `${field}: is ${value.length} characters long; the limit is ${max}`, {
			field,
			hint: max >= 100_000 ? "put it into a file and tell the agent to read that" : "make it shorter",
		});
	for (let index = 0; index < value.length; index++) {
		const code = value.charCodeAt(index);
		const bad =
			code === 0 || (lines === "one" && (code < 32 || code === 127)) || (code >= 0xd800 && code <= 0xdfff && !isPair(value, index));
		if (bad) throw wrong(field, `has the character U+${code.toString(16).padStart(4, "0")} at ${index}, which cannot be stored`);
		if (code >= 0xd800 && code <= 0xdbff) index++;
	}
	return value;
}

const isPair = (value: string, index: number): boolean => {
	const [first, second] = [value.charCodeAt(index), value.charCodeAt(index + 1)];
	return first <= 0xdbff && second >= 0xdc00 && second <= 0xdfff;
};

/** A word that is used in paths, keys and command lines: no path traversal, nothing that looks like an option. */
export function word(value: unknown, field: string): string {
	const it = text(value, field, { max: MAX_NAME, lines: "one" });
	if (it === "") throw wrong(field, "is empty");
	if (it.startsWith("-")) throw wrong(field, `${shown(it)} looks like an option`, "start it with a letter or digit");
	if (it.trim() !== it) throw wrong(field, `${shown(it)} begins or ends with a space`);
	if (it === "." || it === ".." || it.includes("../") || it.includes("/..") || it.includes("\\"))
		throw wrong(field, `${shown(it)} looks like a path out of its folder`);
	return it;
}

/** The name of a thing in the configuration: a word without the characters that separate our keys. */
export function label(value: unknown, field: string): string {
	const it = word(value, field);
	if (!/^[\p{L}\p{N}_][\p{L}\p{N}_.@+-]*$/u.test(it))
		throw wrong(field, `${shown(it)} is not a name`, "letters, digits and _ . @ + - are allowed");
	if (it === "__proto__" || it === "constructor" || it === "prototype") throw wrong(field, `${shown(it)} is not a name that can be used`);
	return it;
}

/** A number always means a job's id, so a job with a number as its name could not be addressed. */
export function jobName(value: unknown, field: string): string {
	const it = label(value, field);
	if (/^\d+$/.test(it)) throw wrong(field, `${shown(it)} is a number, and would be taken for a job's id`, "add a letter");
	return it;
}

export function oneOf<T extends string>(value: unknown, options: readonly T[], field: string): T {
	if (isOneOf(value, options)) return value;
	const guess = typeof value === "string" ? nearest(value, options) : undefined;
	throw wrong(field, `must be one of ${options.join(", ")}, not ${shown(value)}`, guess && `did you mean "${guess}"?`);
}

export function integer(value: unknown, field: string, min: number, max = Number.MAX_SAFE_INTEGER): number {
	if (typeof value !== "number" || !Number.isInteger(value)) throw wrong(field, `must be a whole number, not ${shown(value)}`);
	if (value < min || value > max) throw wrong(field, `must be from ${min} to ${max}, not ${value}`);
	return value === 0 ? 0 : value;
}

export function number(value: unknown, field: string, min: number, max: number): number {
	if (typeof value !== "number" || !Number.isFinite(value)) throw wrong(field, `must be a number, not ${shown(value)}`);
	if (value < min || value > max) throw wrong(field, `must be from ${min} to ${max}, not ${value}`);
	return value;
}

export function flag(value: unknown, field: string): boolean {
	if (typeof value !== "boolean") throw wrong(field, `must be true or false, not ${shown(value)}`);
	return value;
}

export function list(value: unknown, field: string, max = 100_000): unknown[] {
	if (!Array.isArray(value)) throw wrong(field, `must be a list, not ${shown(value)}`);
	if (value.length > max) throw new SluiceError("limit", `${field}: ${value.length} entries, at most ${max}`, { field });
	// Array holes become undefined, which every check refuses.
	return Array.from(value as unknown[]);
}

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds, or "90s", "5m", "1h30m". */
export function duration(value: unknown, field: string): number {
	if (typeof value === "number") return integer(value, field, 0, MAX_TIME);
	if (typeof value !== "string") throw wrong(field, `must be a duration, not ${shown(value)}`, 'for example 500, "30s", "5m", "1h30m"');
	const parts = value.length > 100 ? [] : [...value.matchAll(/(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h|d)/g)];
	if (parts.length === 0 || parts.map((part) => part[0]).join("") !== value)
		throw wrong(field, `${shown(value)} is not a duration`, 'for example 500, "30s", "5m", "1h30m"');
	const sum = parts.reduce((total, part) => total + Number(part[1]) * (UNITS[part[2] as string] as number), 0);
	return integer(Math.round(sum), field, 0, MAX_TIME);
}

/** Epoch milliseconds, or RFC 3339 with a zone. */
export function instant(value: unknown, field: string): number {
	if (typeof value === "number") return integer(value, field, 0, MAX_TIME);
	const hint = 'epoch milliseconds or RFC 3339 with a zone, for example "2030-01-31T08:00:00Z"';
	if (typeof value !== "string") throw wrong(field, `must be a time, not ${shown(value)}`, hint);
	if (!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/i.test(value))
		throw wrong(field, `${shown(value)} is not a time`, hint);
	const at = Date.parse(value.replace(" ", "T"));
	const day = Number(value.slice(8, 10));
	const lastDay = new Date(Date.UTC(Number(value.slice(0, 4)), Number(value.slice(5, 7)), 0)).getUTCDate();
	if (Number.isNaN(at) || day > lastDay) throw wrong(field, `${shown(value)} is not a time`, hint);
	return integer(at, field, 0, MAX_TIME);
}

export function labels(value: unknown, field: string): string[] {
	const all = list(value, field, 100).map((one, index) => label(one, `${field}[${index}]`));
	return [...new Set(all)];
}

export type JsonLimits = {
	/** Maximum characters, counted roughly. */
	max?: number;
	depth?: number;
	/** `any`: also texts with U+0000 or half a surrogate pair, which only JSON escapes can express. */
	strings?: "any";
};
type Left = { count: number; field: string; depth: number; strings: "any" | undefined };

/** JSON only, of a depth and size that can be stored and read again. */
export function json(value: unknown, field: string, { max = MAX_TEXT, depth = 64, strings }: JsonLimits = {}): unknown {
	measure(value, field, 0, { count: max, field, depth, strings });
	return value;
}

/** Counts during the traversal, so that a value that refers to the same part thousands of times cannot keep it busy forever. */
function measure(value: unknown, field: string, depth: number, left: Left): void {
	if (depth > left.depth) throw new SluiceError("limit", `${left.field}: nested more than ${left.depth} deep`, { field: left.field });
	left.count -= typeof value === "string" ? value.length + 2 : value instanceof JsonText ? value.text.length : 2;
	if (left.count < 0)
		throw new SluiceError("limit", `${left.field}: more JSON than can be stored`, {
			field: left.field,
			hint: "put large data into a file and pass its path",
		});
	if (value === null || typeof value === "boolean" || value instanceof JsonText) return;
	if (typeof value === "string") {
		if (left.strings !== "any") text(value, field);
		return;
	}
	if (typeof value === "number") {
		if (!Number.isFinite(value)) throw wrong(field, `${value} is not JSON`);
		return;
	}
	if (Array.isArray(value)) {
		for (let index = 0; index < value.length; index++) measure(value[index], `${field}[${index}]`, depth + 1, left);
		return;
	}
	if (typeof value !== "object") throw wrong(field, `must be JSON, not ${shown(value)}`);
	if (!isPlain(value)) throw wrong(field, "must be plain JSON data");
	for (const [key, one] of Object.entries(value)) {
		const path = `${field}.${key.length > 40 ? `${key.slice(0, 40)}…` : key}`;
		if (left.strings !== "any") text(key, path);
		left.count -= key.length + 2;
		if (one !== undefined) measure(one, path, depth + 1, left);
	}
}
