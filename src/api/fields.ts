// The kinds of parameters that methods take, as plain data: params.ts checks them, the reference prints them, the CLI completes them.

/** A number, or text: "7" or a job's name. */
export type Ref = number | string;

type FieldKind =
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
	| "json"
	| "object";

export type Field = {
	readonly kind: FieldKind;
	readonly about: string;
	readonly needed: boolean;
	/** The options of a choice. */
	readonly options?: readonly string[];
	readonly min?: number;
	readonly max?: number;
	/** May also be null, which means none. */
	readonly nullable?: true;
};
export type Fields = Readonly<Record<string, Field>>;

/** A field that carries the type of its values, for the compiler only. */
type Of<T, N extends boolean> = Field & { readonly needed: N; readonly of?: T };
type Needed<T> = Of<T, true>;

const needed = <T>(kind: FieldKind, about: string, more: Partial<Field> = {}): Needed<T> => ({ kind, about, ...more, needed: true });

export const id = (about = "the job: its number or its name") => needed<Ref>("id", about);
export const ids = (about: string) => needed<Ref[]>("ids", about);
export const word = (about: string) => needed<string>("word", about);
export const words = (about: string) => needed<string[]>("words", about);
export const text = (about: string, max = 1_000_000) => needed<string>("text", about, { max });
export const flag = (about: string) => needed<boolean>("flag", about);
export const whole = (about: string, min: number, max: number) => needed<number>("whole", about, { min, max });
export const decimal = (about: string, min: number, max: number) => needed<number>("number", about, { min, max });
export const time = (about: string) => needed<number | string>("time", about);
export const duration = (about: string) => needed<number | string>("duration", about);
export const choice = <const T extends string>(about: string, options: readonly T[]) => needed<T>("choice", about, { options });
export const choices = <const T extends string>(about: string, options: readonly T[]) => needed<T[]>("choices", about, { options });
export const json = (about: string) => needed<unknown>("json", about);
export const object = <T = Record<string, unknown>>(about: string) => needed<T>("object", about);

/** Optional. */
export const maybe = <T>(field: Of<T, true>): Of<T, false> => ({ ...field, needed: false });
/** May be null. */
export const orNull = <T>(field: Of<T, true>): Of<T | null, true> => ({ ...field, nullable: true });

type ValueOf<F> = F extends { readonly of?: infer T } ? Exclude<T, undefined> : never;
/** The type of a whole parameter object. */
export type ParamsOf<F> = { [K in keyof F as F[K] extends { needed: true } ? K : never]: ValueOf<F[K]> } & {
	[K in keyof F as F[K] extends { needed: true } ? never : K]?: ValueOf<F[K]> | undefined;
};

/**
 * The least role that a caller must have. Each may do everything that the roles before it may:
 *   viewer    reads
 *   run       reads and adds: a run of ours, with the token in its environment
 *   operator  everything
 */
export const ROLES = ["viewer", "run", "operator"] as const;
export type Role = (typeof ROLES)[number];

/** Where parameters are checked: `strict` here, completely; the other kinds also accept parameters that the scheduler itself checks. */
export type Check = "strict" | "job" | "ending" | "kernel";

export type Method = {
	readonly role: Role;
	/** What the method does, in one line. */
	readonly about: string;
	readonly params: Fields;
	/** The result, as the reference prints it; `schema_version` comes first in each, except in the kernel's. */
	readonly result: string;
	readonly check: Check;
};
type Typed<P, R> = Method & { readonly of?: { params: P; result: R } };

type Sketch<F extends Fields> = { role: Role; about: string; params: F; result: string };

/** A method whose parameters are exactly its fields. */
export const method =
	<R>() =>
	<const F extends Fields>(sketch: Sketch<F>): Typed<ParamsOf<F>, R> => ({ ...sketch, check: "strict" });

/** A method that accepts more than its fields; `P` is the type of all parameters. */
export const openMethod =
	<P, R>(check: Exclude<Check, "strict">) =>
	(sketch: Sketch<Fields>): Typed<P, R> => ({ ...sketch, check });
