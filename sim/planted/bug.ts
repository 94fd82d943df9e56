// The words that planted bugs are written in. A bug is a wrong version of one function of the engine, given the right one:
//
//   everywhere(retryDelayMs, (right) => (policy, n, chance) => …)    wherever it is called
//   within(finish, footprint, (right) => (job, account, host) => …)  only where `finish` calls it
//
// A function is named by importing it, so that the compiler and a renaming editor know of it, and what is inside of it may change freely. One that its module
// keeps to itself is named by `hidden("…")`, a method by `method({ Tx }, "move")`. See plant.ts for how it gets into the engine.

import type { Op } from "../../src/contracts/store.ts";

// biome-ignore lint/suspicious/noExplicitAny: functions of every shape
type AnyFunction = (...args: any[]) => any;

/** A function of the engine, as a bug names it. */
export type Named<F> = {
	readonly function: string;
	/** What the module exports: the function itself, or the object or class that has it as a method. */
	readonly exported?: { name: string; value: unknown };
	/** An exported function of its module, where the module does not export it. */
	readonly beside?: Named<unknown>;
	/** Never there: carries the type. */
	readonly type?: F;
};
type Target<F> = F | Named<F>;

/** A type guard may answer wrongly like any other function. */
type Same<F extends AnyFunction> = (...args: Parameters<F>) => ReturnType<F>;
export type Wrong<F extends AnyFunction> = (right: Same<F>) => Same<F>;

export type Mistake = {
	/** The function that is wrong. */
	readonly of: Named<unknown>;
	/** The function whose calls of it are wrong; absent: all calls are. */
	readonly within?: Named<unknown>;
	readonly wrong: Wrong<AnyFunction>;
};

export type Bug = Mistake & { readonly name: string; readonly rule: string; readonly fleet: boolean };

const named = (target: AnyFunction | Named<unknown>): Named<unknown> =>
	typeof target === "function" ? { function: target.name, exported: { name: target.name, value: target } } : target;

/** The function is wrong wherever it is called. */
export const everywhere = <F extends AnyFunction>(of: Target<F>, wrong: Wrong<NoInfer<F>>): Mistake => ({
	of: named(of),
	wrong: wrong as Wrong<AnyFunction>,
});

/** The function is wrong only where `caller` calls it. */
export const within = <F extends AnyFunction>(caller: AnyFunction | Named<unknown>, of: Target<F>, wrong: Wrong<NoInfer<F>>): Mistake => ({
	of: named(of),
	within: named(caller),
	wrong: wrong as Wrong<AnyFunction>,
});

/** A function that its module does not export, found by its name. `beside`: one that it does export, where several modules have a function of that name. */
export const hidden = <F extends AnyFunction>(name: string, { beside }: { beside?: AnyFunction } = {}): Named<F> => ({
	function: name,
	...(beside ? { beside: named(beside) } : {}),
});

/** `method({ Tx }, "move")`, `method({ capacity }, "ask")`: a method of an exported class or object. */
export function method<T, N extends keyof Owner<T> & string>(owner: Record<string, T>, name: N): Named<Extract<Owner<T>[N], AnyFunction>> {
	const [exported] = Object.entries(owner);
	if (!exported) throw new Error(`method({}, "${name}"): name the class or the object: method({ Tx }, "${name}")`);
	return { function: name, exported: { name: exported[0], value: exported[1] } };
}
/** `inner<(one: Incoming) => void>({ Term }, "forget")`: a method that its class keeps to itself, or a static one. */
export function inner<F extends AnyFunction>(owner: Record<string, unknown>, name: string): Named<F> {
	const [exported] = Object.entries(owner);
	if (!exported) throw new Error(`inner({}, "${name}"): name the class: inner({ Term }, "${name}")`);
	return { function: name, exported: { name: exported[0], value: exported[1] } };
}

/** Calls of this name within a function, of whatever object. */
export const called = <F extends AnyFunction>(name: string): Named<F> => ({ function: name });

// biome-ignore lint/suspicious/noExplicitAny: classes of every shape
type Owner<T> = T extends abstract new (...args: any[]) => infer Instance ? Instance : T;

/** `finish`, `Tx.move` */
export const nameIn = ({ function: name, exported }: Named<unknown>): string =>
	exported && exported.name !== name ? `${exported.name}.${name}` : name;

/** Where a bug is: `retryDelayMs`, `footprint, called by finish`. */
export const placeOf = ({ of, within: caller }: Mistake): string => (caller ? `${nameIn(of)}, called by ${nameIn(caller)}` : nameIn(of));

/** Instead of what it should do, it does nothing. */
export const skipped = () => (): undefined => undefined;
/** Whatever it is asked, it answers this. */
export const always =
	<T>(answer: T) =>
	() =>
	() =>
		answer;

/** The same for operations of a transaction, which are generators. */
export const skippedOp = () => (): Op<undefined> => op(undefined);
export const alwaysOp =
	<T>(answer: T) =>
	() =>
	() =>
		op(answer);

function* op<T>(answer: T): Op<T> {
	yield* [];
	return answer;
}

/** The same object, but for some of its fields. Unlike a spread it keeps what a class computes. */
export const changed = <T extends object>(whole: T, part: Partial<T>): T =>
	new Proxy(whole, { get: (target, field) => Reflect.get(field in part ? part : target, field) });

/** The bugs of one rule that the engine keeps. `fleet`: only hosts that come and go meet them. */
export const bugsOf = (rule: string, bugs: Record<string, Mistake>, { fleet = false } = {}): Bug[] =>
	Object.entries(bugs).map(([name, mistake]) => ({ name, rule, fleet, ...mistake }));
