// Collects several mistakes in one input: the first is the error itself, the rest is attached to it.

import { type Mistake, SluiceError } from "../errors.ts";

/** Maximum mistakes that are listed; beyond it only their number. */
const MAX_MISTAKES = 100;
const MANY_KEYS = 500;

export class Faults {
	private readonly found: SluiceError[] = [];

	get any(): boolean {
		return this.found.length > 0;
	}

	/** Keeps a mistake of the caller; rethrows anything else. */
	keep(error: unknown): SluiceError {
		if (!(error instanceof SluiceError) || error.code === "store" || error.code === "closed") throw error;
		this.found.push(error);
		return error;
	}

	/** Returns what `read` returns, or undefined after recording its mistake. */
	try<T>(read: () => T): T | undefined {
		try {
			return read();
		} catch (error) {
			this.keep(error);
			return undefined;
		}
	}

	throwIfAny(): void {
		const [first, ...rest] = this.found;
		if (!first) return;
		if (rest.length === 0) throw first;
		const also: Mistake[] = rest.slice(0, MAX_MISTAKES - 1).map(({ message, field, hint }) => ({ message, field, hint }));
		if (rest.length >= MAX_MISTAKES)
			also.push({ message: `and ${rest.length - MAX_MISTAKES + 1} more mistakes`, field: undefined, hint: undefined });
		const code = rest.every((one) => one.code === first.code) ? first.code : "invalid";
		throw new SluiceError(code, first.message, { field: first.field, hint: first.hint, also });
	}
}

/** Keys that only make sense with another key: if that key was left out, they are not reported as mistakes. */
const RESTS_ON: ReadonlyMap<string, readonly string[]> = new Map([
	["repo", ["pinned_head", "conditions", "needs", "produces", "base_branch", "merge", "after"]],
]);

const without = (value: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> =>
	Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));

/**
 * All mistakes of one object whose reader stops at the first: leaves out the wrong key and reads the rest again. A mistake that only follows from a key
 * left out is not reported. `stand_in`: valid values for keys that the reader requires.
 */
export function faultsOf(
	value: Record<string, unknown>,
	field: string,
	read: (value: Record<string, unknown>) => void,
	stand_in: Record<string, unknown> = {},
): SluiceError[] {
	const found: SluiceError[] = [];
	// For an object with very many keys, the first mistake is enough: reading the rest again for each key is quadratic.
	const most = Object.keys(value).length > MANY_KEYS ? 1 : MAX_MISTAKES;
	let left = value;
	for (;;) {
		try {
			read(left);
			return found;
		} catch (error) {
			if (!(error instanceof SluiceError)) throw error;
			const key = keyIn(error.field, field);
			const isThere = key !== undefined && Object.hasOwn(left, key);
			if (isThere || found.length === 0) found.push(error);
			if (found.length >= most) return found;
			if (key !== undefined && !isThere && Object.hasOwn(stand_in, key)) {
				left = { ...left, [key]: stand_in[key] };
				continue;
			}
			// The reader refused a stand-in, so it cannot get any further.
			if (!isThere || left[key] === stand_in[key]) return found;
			left = without(left, [key, ...(RESTS_ON.get(key) ?? [])]);
		}
	}
}

/** `jobs[2].retry.max` in `jobs[2]` → retry */
function keyIn(path: string | undefined, field: string): string | undefined {
	if (path === undefined || !path.startsWith(`${field}.`)) return undefined;
	return /^[^.[]+/.exec(path.slice(field.length + 1))?.[0];
}
