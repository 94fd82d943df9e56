// A field of a document that callers write, as one value: its check, its meaning, its JSON Schema, and for the compiler its type. The table of a job's fields
// (job.ts) and the parameters of RPC methods are made of these. Each constructor takes the meaning first.

import { SluiceError } from "../errors.ts";
import * as check from "../input/check.ts";

export type JsonSchema = { [key: string]: unknown };
/** Returns the normalised value, or throws an error that names `field`. */
export type Reader<T> = (value: unknown, field: string) => T;

/** What the reference calls a field's type. */
type Kind =
	| "id"
	| "ids"
	| "word"
	| "words"
	| "text"
	| "flag"
	| "whole"
	| "number"
	| "time"
	| "duration"
	| "choice"
	| "choices"
	| "list"
	| "json"
	| "object";

export type Field<Read = unknown, Given = Read, Needed extends boolean = boolean> = {
	readonly kind: Kind;
	readonly about: string;
	readonly read: Reader<Read>;
	/** Without the meaning. */
	readonly schema: JsonSchema;
	readonly needed: Needed;
	/** May also be null, which means none. */
	readonly nullable?: true;
	/** The options of a choice, the bounds of a number. */
	readonly options?: readonly string[];
	readonly min?: number;
	readonly max?: number;
	/** What a caller may write, for the compiler only. */
	readonly given?: Given;
};
export type Fields = Readonly<Record<string, Field>>;

/** A job's number, or text: "7" or a job's name. */
export type Ref = number | string;

const MAX_LIST = 1000;
const MAX_KEYS = 10_000;
const TEXT: JsonSchema = { type: "string" };
const REF: JsonSchema = { type: ["integer", "string"] };

type More = Partial<Pick<Field, "options" | "min" | "max">>;
export const field = <Read, Given = Read>(
	kind: Kind,
	about: string,
	read: Reader<Read>,
	schema: JsonSchema,
	more: More = {},
): Field<Read, Given, true> => ({ kind, about, read, schema, ...more, needed: true });

export const id = (about = "the job: its number or its name") => field<Ref>("id", about, readRef, REF);
export const ids = (about: string) => field<Ref[]>("ids", about, readRefs, { type: "array", items: REF, minItems: 1 });
export const word = (about: string) => field("word", about, check.word, TEXT);
export const label = (about: string) => field("word", about, check.label, TEXT);
export const words = (about: string) => listOf(about, check.word, { kind: "words", max: MAX_LIST });
export const text = (about: string, max = check.MAX_TEXT, lines: "one" | "many" = "many") =>
	field("text", about, (value, at) => check.text(value, at, { max, lines }), { type: "string", maxLength: max }, { max });
export const flag = (about: string) => field("flag", about, check.flag, { type: "boolean" });
export const whole = (about: string, min: number, max: number) =>
	field("whole", about, (value, at) => check.integer(value, at, min, max), { type: "integer", ...bounds(min, max) }, { min, max });
export const decimal = (about: string, min: number, max: number) =>
	field("number", about, (value, at) => check.number(value, at, min, max), { type: "number", ...bounds(min, max) }, { min, max });
export const time = (about: string) => field<number, number | string>("time", about, check.instant, REF);
export const duration = (about: string) => field<number, number | string>("duration", about, check.duration, REF);
export const choice = <const T extends string>(about: string, options: readonly T[]) =>
	field("choice", about, (value, at) => check.oneOf(value, options, at), { type: "string", enum: [...options] }, { options });
export const choices = <const T extends string>(about: string, options: readonly T[]) =>
	listOf(about, (value, at) => check.oneOf(value, options, at), {
		kind: "choices",
		max: MAX_LIST,
		items: { type: "string", enum: [...options] },
		options,
	});
export const json = (about: string) => field("json", about, (value, at) => check.json(value, at), {});
/** An object whose keys are checked elsewhere. */
export const object = <T = Record<string, unknown>>(about: string) =>
	field<Record<string, unknown>, T>("object", about, boundedRecord, { type: "object" });

type ListOptions = { kind?: Kind; max: number; items?: JsonSchema; options?: readonly string[] };
export const listOf = <Read, Given = Read>(about: string, read: Reader<Read>, options: ListOptions): Field<Read[], Given[], true> =>
	field<Read[], Given[]>(
		options.kind ?? "list",
		about,
		(value, at) => check.list(value, at, options.max).map((one, index) => read(one, `${at}[${index}]`)),
		{ type: "array", items: options.items ?? TEXT },
		options.options ? { options: options.options } : {},
	);

/** An object with exactly these fields. */
export const shape = <const F extends Fields>(about: string, fields: F): Field<ReadOf<F>, GivenOf<F>, true> =>
	field<ReadOf<F>, GivenOf<F>>("object", about, fieldsReader(fields), objectSchema(fields));

/** Optional. */
export const maybe = <Read, Given>(one: Field<Read, Given, true>): Field<Read, Given, false> => ({ ...one, needed: false });
/** May be null. */
export const orNull = <Read, Given>(one: Field<Read, Given, true>): Field<Read | null, Given | null, true> => ({
	...one,
	read: (value, at) => (value === null ? null : one.read(value, at)),
	nullable: true,
});

type Merged<T> = { -readonly [K in keyof T]: T[K] };
type NeededKeys<F> = { [K in keyof F]: F[K] extends { needed: true } ? K : never }[keyof F];
type ReadType<F> = F extends Field<infer Read, infer _Given> ? Read : never;
export type GivenType<F> = F extends { readonly given?: infer Given } ? Exclude<Given, undefined> : never;
export type ReadOf<F> = Merged<
	{ [K in NeededKeys<F>]: ReadType<F[K]> } & { [K in keyof F as K extends NeededKeys<F> ? never : K]?: ReadType<F[K]> }
>;
type GivenOf<F> = Merged<
	{ [K in NeededKeys<F>]: GivenType<F[K]> } & { [K in keyof F as K extends NeededKeys<F> ? never : K]?: GivenType<F[K]> }
>;

/** Reads an object with exactly these fields. At "" they are named without a prefix, and the object itself is called `name`. */
export function fieldsReader<F extends Fields>(fields: F, name = "it"): Reader<ReadOf<F>> {
	const rows = Object.entries(fields);
	const keys = Object.keys(fields);
	return (value, at) => {
		const given = check.record(value, at === "" ? name : at);
		check.knownKeys(given, keys, at);
		const own: Record<string, unknown> = {};
		for (const [key, { needed, read }] of rows) {
			const one = given[key];
			if (needed || one !== undefined) own[key] = read(one, at === "" ? key : `${at}.${key}`);
		}
		return own as ReadOf<F>;
	};
}

/** A job's number, also as text, or its name. */
export function readRef(value: unknown, at: string): Ref {
	if (typeof value === "number") return check.integer(value, at, 1);
	if (typeof value !== "string") throw check.wrong(at, `must be a job's number or name, not ${check.shown(value)}`);
	return /^[1-9]\d{0,14}$/.test(value) ? Number(value) : check.label(value, at);
}

function readRefs(value: unknown, at: string): Ref[] {
	const all = check.list(value, at, MAX_LIST).map((one, index) => readRef(one, `${at}[${index}]`));
	if (all.length === 0) throw check.wrong(at, "is empty", "name at least one job");
	return all;
}

/** Before the keys are checked one by one. */
export function boundedRecord(value: unknown, at: string): Record<string, unknown> {
	const record = check.record(value, at);
	const keys = Object.keys(record).length;
	if (keys > MAX_KEYS) throw new SluiceError("limit", `${at}: ${keys} keys, at most ${MAX_KEYS}`, { field: at });
	return record;
}

/** Leaves out bounds that only mean "a safe integer". */
const bounds = (min: number, max: number): JsonSchema => ({
	...(Math.abs(min) < Number.MAX_SAFE_INTEGER ? { minimum: min } : {}),
	...(Math.abs(max) < Number.MAX_SAFE_INTEGER ? { maximum: max } : {}),
});

const HOW: Partial<Record<Kind, string>> = {
	time: "Epoch milliseconds, or RFC 3339.",
	duration: 'Milliseconds, or "30s", "5m", "1h30m".',
};

/** The field as JSON Schema, with its meaning. */
export function schemaOf({ kind, about, schema, nullable }: Field): JsonSchema {
	const how = HOW[kind];
	const description = how === undefined ? about : `${about.endsWith(".") ? about : `${about}.`} ${how}`;
	return nullable ? { anyOf: [schema, { type: "null" }], description } : { ...schema, description };
}

export const propertiesOf = (fields: Fields): Record<string, JsonSchema> =>
	Object.fromEntries(Object.entries(fields).map(([name, one]) => [name, schemaOf(one)]));

export type ObjectSchema = { type: "object"; properties: Record<string, JsonSchema>; required?: string[]; additionalProperties: false };
export function objectSchema(fields: Fields): ObjectSchema {
	const needed = Object.entries(fields).flatMap(([name, one]) => (one.needed ? [name] : []));
	return {
		type: "object",
		properties: propertiesOf(fields),
		...(needed.length > 0 ? { required: needed } : {}),
		additionalProperties: false,
	};
}
