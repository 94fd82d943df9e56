// Every error a caller can meet: a string code, the field it concerns, and what to do about it.

/**
 * | code               | meaning                                                                    | CLI exit |
 * |--------------------|----------------------------------------------------------------------------|----------|
 * | invalid            | a value has the wrong type or range; `field` names it                       | 2        |
 * | unknown_key        | an unknown key; `hint` suggests the nearest one                             | 2        |
 * | not_found          | a job, lane, repo, account, agent … that does not exist                     | 3        |
 * | cycle              | `after` edges form a cycle; the message prints the path                     | 2        |
 * | conflict           | a name, unique key or item that is taken; a running job in a rewind set     | 4        |
 * | illegal_transition | the table in job.ts has no such move; the message names both states         | 4        |
 * | fenced             | a stale token: another claimer has the run now                              | 4        |
 * | impossible         | a job that could never run (a lane with cap 0, a label no host has)         | 2        |
 * | limit              | deeper, longer or more than the limits allow                                | 2        |
 * | forbidden          | item closed or in progress elsewhere, owner dead, prefix of another repo, more than a run may add | 2 |
 * | store              | the database refused: old SQLite, newer schema, disk full, read-only        | 1        |
 * | closed             | the scheduler was closed                                                    | 1        |
 */
export type ErrorCode =
	| "invalid"
	| "unknown_key"
	| "not_found"
	| "cycle"
	| "conflict"
	| "illegal_transition"
	| "fenced"
	| "impossible"
	| "limit"
	| "forbidden"
	| "store"
	| "closed";

/** One of several mistakes in the same input. */
export type Mistake = { message: string; field: string | undefined; hint: string | undefined };

export class SluiceError extends Error {
	override readonly name = "SluiceError";
	readonly code: ErrorCode;
	/** Which field of the input, as a path: `after[2].policy`, `jobs.build.retry.max`. */
	readonly field: string | undefined;
	/** What to do now. */
	readonly hint: string | undefined;
	/** Further mistakes in the same input, after this first one. */
	readonly also: readonly Mistake[] | undefined;

	constructor(
		code: ErrorCode,
		message: string,
		options: { field?: string | undefined; hint?: string | undefined; also?: readonly Mistake[]; cause?: unknown } = {},
	) {
		super(message, options.cause === undefined ? undefined : { cause: options.cause });
		this.code = code;
		this.field = options.field;
		this.hint = options.hint;
		this.also = options.also;
	}

	toJSON() {
		return { code: this.code, message: this.message, field: this.field, hint: this.hint, also: this.also };
	}
}

/**
 * Reports a bug of ours, not a mistake of the caller. Always on. A message that has to be composed is passed as a function, because it is rarely needed.
 */
export function assert(truth: unknown, what: string | (() => string)): asserts truth {
	if (!truth) throw new Error(`assertion failed: ${typeof what === "string" ? what : what()}`);
}

/** Makes the compiler name every place that a new case must change. */
export function never(value: never): never {
	throw new Error(`assertion failed: unexpected ${JSON.stringify(value)}`);
}

/** The code of any error: one of ours, or Node's (`ENOENT`); empty if it has none. */
export const codeOf = (error: unknown): string =>
	typeof error === "object" && error !== null && "code" in error ? String(error.code ?? "") : "";

/** The element of a list at an index that must exist; a negative index counts from the end. */
export function nth<T>(list: ArrayLike<T>, index: number): T {
	const found = list[index < 0 ? list.length + index : index];
	if (found === undefined) throw new Error(`assertion failed: index ${index} is not in a list of ${list.length}`);
	return found;
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What the call returns; `otherwise` where it throws, for whatever reason. */
export function orElse<T, U>(call: () => T, otherwise: U): T | U {
	try {
		return call();
	} catch {
		return otherwise;
	}
}
