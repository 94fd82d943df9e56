// What the fuzz tests share: values nobody should hand over, places to put them, a look at everything a store holds, a judge of errors.

import fc from "fast-check";
import { expect } from "vitest";
import { type ErrorCode, SluiceError } from "../../src/core/errors.ts";
import { type Database, openDatabase } from "../../src/stores/sqlite/driver.ts";

// ---- values -------------------------------------------------------------------------------------------------------------------------

/** A value with a name: some of these cannot be printed without harm. `trap`: looking at it throws. */
export type Wild = { value: unknown; trap: boolean; [fc.toStringMethod]: () => string };
export const named = (name: string, value: unknown): Wild => ({
	value,
	trap: name.startsWith("throwing"),
	[fc.toStringMethod]: () => name,
});

const struck = () => {
	throw new Error("a getter was struck");
};
const cyclic: Record<string, unknown> = { a: 1 };
cyclic.self = cyclic;
const ring: unknown[] = [];
ring.push(ring);
/** Small in memory, 2³⁰ when written out. */
const folded = Array.from({ length: 30 }).reduce<unknown>((inner) => ({ a: inner, b: inner }), 1);
const TEN_MB = "x".repeat(10_000_000);
class Thing {
	a = 1;
}

const TERRIBLE: [string, unknown][] = [
	["null", null],
	["NaN", Number.NaN],
	["Infinity", Number.POSITIVE_INFINITY],
	["-Infinity", Number.NEGATIVE_INFINITY],
	["-0", -0],
	["-1", -1],
	["0.5", 0.5],
	["1e308", 1e308],
	["2^53", 2 ** 53],
	["-2^53", -(2 ** 53)],
	["5n", 5n],
	["true", true],
	["false", false],
	["empty text", ""],
	["a space", " "],
	["NUL", "a\u0000b"],
	["escape", "\u001b[31mred"],
	["newline", "a\nb"],
	["lone high surrogate", "a\ud800"],
	["lone low surrogate", "\udc00b"],
	["right-to-left", "\u202eabc"],
	["option", "--upload-pack=touch x"],
	["path out", "../../etc/passwd"],
	["__proto__", "__proto__"],
	["constructor", "constructor"],
	["toString", "toString"],
	["10 MB of text", TEN_MB],
	["SQL", "'; DROP TABLE job; --"],
	["empty list", []],
	["list of null", [null]],
	["hole", Array(1)],
	["list of a list of itself", ring],
	["100,001 entries", Array(100_001).fill("a")],
	["empty object", {}],
	["cyclic object", cyclic],
	["folded object", folded],
	["own __proto__", JSON.parse('{"__proto__": {"x": 1}}')],
	["no prototype", Object.create(null)],
	["inherited key", Object.create({ key: "k" })],
	["throwing getter", Object.defineProperty({}, "key", { get: struck, enumerable: true })],
	["throwing toString", { toString: struck, valueOf: struck, [Symbol.toPrimitive]: struck }],
	["throwing toJSON", { toJSON: struck }],
	["hidden toJSON", Object.defineProperty({ a: 1 }, "toJSON", { value: () => "other" })],
	["throwing proxy", new Proxy({}, { get: struck, ownKeys: struck, has: struck, getPrototypeOf: struck })],
	["throwing proxy of a list", new Proxy([], { get: struck, ownKeys: struck, has: struck })],
	["Symbol", Symbol("s")],
	["symbol key", { [Symbol("s")]: 1 }],
	["function", () => 1],
	["class", Thing],
	["instance", new Thing()],
	["Date", new Date(0)],
	["bad Date", new Date(Number.NaN)],
	["Map", new Map([["a", 1]])],
	["Set", new Set([1])],
	["RegExp", /a/],
	["Error", new Error("an error")],
	["Promise", Promise.resolve(1)],
	// biome-ignore lint/suspicious/noThenProperty: that is the point
	["thenable", { then: struck }],
	["boxed text", new String("x")],
	["boxed number", new Number(1)],
	["typed list", new Uint8Array(3)],
	["buffer", new ArrayBuffer(8)],
	["globalThis", globalThis],
];

export const wild: fc.Arbitrary<Wild> = fc.oneof(
	{ weight: 3, arbitrary: fc.constantFrom(...TERRIBLE).map(([name, value]) => named(name, value)) },
	{
		weight: 1,
		arbitrary: fc
			.oneof(
				fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withNullPrototype: true, maxDepth: 2 }),
				fc.string({ unit: "binary", maxLength: 30 }),
				fc.double(),
				fc.integer(),
			)
			.map((value) => named(fc.stringify(value), value)),
	},
);

/** The keys of a value that can be looked at. */
export function keysOf(value: unknown): string[] {
	try {
		return value !== null && typeof value === "object" ? Object.keys(value) : [];
	} catch {
		return [];
	}
}

// ---- places -------------------------------------------------------------------------------------------------------------------------

type Path = (string | number)[];

/** Every place inside a plain value, itself included. */
function placesIn(value: unknown, path: Path = []): Path[] {
	if (value === null || typeof value !== "object") return [path];
	const inner = Array.isArray(value) ? value.map((_, index) => index) : Object.keys(value);
	return [path, ...inner.flatMap((key) => placesIn((value as Record<string | number, unknown>)[key], [...path, key]))];
}

/** A copy with another value at one place; what is put there is not copied. */
function putAt(value: unknown, [key, ...rest]: Path, put: unknown): unknown {
	if (key === undefined) return put;
	const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string | number, unknown>;
	copy[key] = putAt(copy[key], rest, put);
	return copy;
}

/** The value with one of its places spoilt: replaced, or given a key that it should not have. */
export const spoilt = (valid: unknown): fc.Arbitrary<Wild> =>
	fc.tuple(fc.constantFrom(...placesIn(valid)), wild, fc.integer({ min: 0, max: 9 })).map(([path, one, extra]) => {
		const at = path.reduce<unknown>((inner, key) => (inner as Record<string | number, unknown>)[key], valid);
		const grows = extra === 0 && at !== null && typeof at === "object" && !Array.isArray(at);
		const value = grows ? putAt(valid, [...path, "unheard_of"], one.value) : putAt(valid, path, one.value);
		const name = `${grows ? [...path, "unheard_of"].join(".") : path.join(".")}: ${one[fc.toStringMethod]()}`;
		return { value, trap: one.trap, [fc.toStringMethod]: () => name };
	});

// ---- the store ----------------------------------------------------------------------------------------------------------------------

const TABLES = ["job", "done", "spec", "edge", "link", "run", "event", "record"];

/** Looks at everything that a file holds, over a connection of its own. */
export class Witness {
	private readonly database: Database;
	constructor(path: string) {
		this.database = openDatabase(path);
	}
	dump(): Record<string, unknown[]> {
		return Object.fromEntries(TABLES.map((table) => [table, this.database.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all()]));
	}
	text(): string {
		return JSON.stringify(this.dump());
	}
	close(): void {
		this.database.close();
	}
}

// ---- the judge ----------------------------------------------------------------------------------------------------------------------

const CODES: Record<ErrorCode, true> = {
	invalid: true,
	unknown_key: true,
	not_found: true,
	cycle: true,
	conflict: true,
	illegal_transition: true,
	fenced: true,
	impossible: true,
	limit: true,
	forbidden: true,
	store: true,
	closed: true,
};

/** What is wrong with an error, or undefined. `fields`: where the offending field may be said to be; long ones may be cut short. */
export function fault(error: unknown, fields: readonly string[]): string | undefined {
	if (!(error instanceof SluiceError))
		return `not a typed error: ${error instanceof Error ? `${error.name}: ${error.message}` : typeof error}`;
	const { code, field, message, hint } = error;
	if (!Object.hasOwn(CODES, code)) return `unknown code ${code}`;
	if (code === "store" || code === "closed") return `code ${code} for a caller's mistake: ${message.slice(0, 200)}`;
	if (field === undefined) return `no field: ${message.slice(0, 200)}`;
	const names = (one: string) =>
		field === one || field.startsWith(`${one}.`) || field.startsWith(`${one}[`) || (one.length > 40 && field.startsWith(one.slice(0, 40)));
	if (!fields.some(names)) return `field ${field.slice(0, 100)}, not one of ${fields.join(", ").slice(0, 200)}: ${message.slice(0, 200)}`;
	if (field.length > 500) return `a field of ${field.length} characters`;
	if (message.length > 2000 || (hint?.length ?? 0) > 2000) return `a message of ${message.length} characters`;
	const told = `${message}\n${hint ?? ""}`;
	const bad = /\n\s+at |Cannot read|is not a function|is not iterable|\[object |TypeError|RangeError|SQLITE|constraint failed/.exec(told);
	if (bad) return `tells of our insides (${bad[0].trim()}): ${told.slice(0, 200)}`;
	if (message.length < 8) return `says nothing: ${message}`;
	return undefined;
}

export function expectTyped(error: unknown, fields: readonly string[]): void {
	const complaint = fault(error, fields);
	if (complaint !== undefined) expect.fail(complaint);
}
