// A core whose arguments and results go through JSON, as those that another process sends do. It notes which operations were called.

import {
	type ArgumentsOf,
	argumentsFrom,
	type Core,
	type Given,
	type OperationName,
	type ResultOf,
} from "../../src/scheduler/operations/core.ts";

export const CALLED = new Set<OperationName>();

const throughJson = <T>(value: T): T => (value === undefined ? value : (JSON.parse(JSON.stringify(value)) as T));

/** Throws where JSON would lose something: a key that is undefined may vanish, nothing else. */
function refuseLoss(value: unknown, path: string): void {
	if (value === null || ["string", "boolean", "undefined"].includes(typeof value) || Number.isFinite(value)) return;
	const prototype = typeof value === "object" ? Object.getPrototypeOf(value) : undefined;
	if (Array.isArray(value)) {
		for (const [index, one] of value.entries()) {
			if (one === undefined) throw new Error(`${path}[${index}] is undefined`);
			refuseLoss(one, `${path}[${index}]`);
		}
	} else if (prototype === Object.prototype || prototype === null) {
		for (const [key, one] of Object.entries(value as object)) refuseLoss(one, `${path}.${key}`);
	} else throw new Error(`${path} is no JSON: ${typeof value === "object" ? value?.constructor.name : String(value)}`);
}

export function jsonCore(core: Core): Core {
	const data = <T>(value: T, what: string): T => {
		refuseLoss(value, what);
		return throughJson(value);
	};
	async function call<N extends OperationName>(name: N, given: Given<N>, options?: { by?: string | undefined }): Promise<ResultOf<N>> {
		CALLED.add(name);
		const make = typeof given === "function" ? (given as () => ArgumentsOf<N>) : undefined;
		const made: Given<N> = make ? () => data(make(), name) : data(given, name);
		return data(await core.call(name, made, options), `the result of ${name}`);
	}
	async function dryRun<N extends OperationName>(name: N, given: Given<N>): Promise<ResultOf<N>> {
		CALLED.add(name);
		return data(await core.dryRun(name, data(argumentsFrom(given), name)), `the result of ${name}`);
	}
	return Object.create(core, {
		call: { value: call },
		dryRun: { value: dryRun },
		onCommit: {
			get: () => core.onCommit,
			set: (next: Core["onCommit"]) => {
				core.onCommit = next;
			},
		},
	});
}
