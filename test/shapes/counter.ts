// How much work a piece of code does, in steps: the engine counts how often each block of the program's code runs, loops and calls alike. The same input gives the same
// number on every machine. Native functions that copy or search lists, bytes and texts count what they go through; other native functions count as one step, as do
// `+` between texts and `slice` of a text, which the engine does without a copy. Regular expressions have a test of their own.

import { Session } from "node:inspector";

type Coverage = { result: { url: string; functions: { ranges: { count: number }[] }[] }[] };

const session = new Session();
session.connect();

function ask<T>(method: string, params?: object): T {
	let answer: T | undefined;
	// A session of the same thread answers before `post` returns.
	session.post(method, params, (error: Error | null, result?: object) => {
		if (error) throw new Error(`${method}: ${error.message}`);
		answer = result as T;
	});
	return answer as T;
}

// From the start: only what is compiled from now on is counted block by block. So this file is imported before the code that it counts.
ask("Profiler.enable");
ask("Profiler.startPreciseCoverage", { callCount: true, detailed: true });

let touched = 0;
type Native = (this: unknown, ...args: unknown[]) => unknown;
const lengthOf = (value: unknown): number => (value as { length?: number }).length ?? 0;

/** Each call of a native method adds what `cost` says of its `this`, what it was given and what it gave. */
function count(owner: object, names: readonly string[], cost: (self: unknown, args: unknown[], result: unknown) => number): () => void {
	const before = names.map((name) => [name, Object.getOwnPropertyDescriptor(owner, name) as PropertyDescriptor] as const);
	for (const [name, descriptor] of before) {
		const native = descriptor.value as Native;
		const value: Native = function (...args) {
			const result = Reflect.apply(native, this, args);
			touched += cost(this, args, result);
			return result;
		};
		Object.defineProperty(owner, name, { ...descriptor, value });
	}
	return () => {
		for (const [name, descriptor] of before) Object.defineProperty(owner, name, descriptor);
	};
}

/** Where a search from `from` ended, or all that is left. */
const searched = (self: unknown, [, from = 0]: unknown[], result: unknown): number =>
	(typeof result === "number" && result >= 0 ? result : lengthOf(self)) - Number(from) + 1;
const BYTES = Object.getPrototypeOf(Uint8Array.prototype) as object;

/** Counts native work until the function that it gives is called. */
function countNative(): () => void {
	const undo = [
		count(Array.prototype, ["slice", "concat", "flat"], (_self, _args, result) => lengthOf(result)),
		// The way of a spread, and of a copy by `Array.from` or `new Set`.
		count(Object.getPrototypeOf([][Symbol.iterator]()), ["next"], () => 1),
		count(Array.prototype, ["shift", "unshift", "splice"], lengthOf),
		count(Array.prototype, ["join"], (_self, _args, result) => lengthOf(result)),
		count(Array.prototype, ["indexOf", "includes"], searched),
		count(BYTES, ["slice", "fill"], (_self, _args, result) => lengthOf(result)),
		count(BYTES, ["set"], (_self, [from]) => lengthOf(from)),
		count(BYTES, ["indexOf", "includes"], searched),
		count(String.prototype, ["indexOf", "includes"], searched),
		count(String.prototype, ["split", "replaceAll"], lengthOf),
		count(TextDecoder.prototype, ["decode"], (_self, _args, result) => lengthOf(result)),
	];
	return () => {
		for (const one of undo) one();
	};
}

/** What it did, and what came of it: the code of the error that it threw, or "done". */
export function stepsOf(work: () => unknown): { steps: number; end: string } {
	let end = "done";
	touched = 0;
	const undo = countNative();
	try {
		work();
	} catch (error) {
		end = String((error as { code?: unknown }).code ?? (error as Error).message);
	} finally {
		undo();
	}
	// Counts begin anew each time that they are taken.
	const { result } = ask<Coverage>("Profiler.takePreciseCoverage");
	const counts = result
		.filter(({ url }) => /\/src\/|\/node_modules\/(?:yaml|croner)\//.test(url))
		.flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges.map(({ count }) => count)));
	return { steps: counts.reduce((sum, one) => sum + one, touched), end };
}

/** Steps for n, 2n and 4n of a shape. */
export const growth = (n: number, work: (n: number) => () => unknown): { steps: number; end: string }[] =>
	[1, 2, 4].map((times) => stepsOf(work(times * n)));
