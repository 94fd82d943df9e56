// How the model and the engine are held against each other: what was seen of the engine, and the error that says where they part.

import type { JobView } from "../../src/contracts/scheduler.ts";
import type { ErrorCode } from "../../src/core/errors.ts";

export class Disagreement extends Error {
	override readonly name = "Disagreement";
}

/** What the engine showed for one call. No result and no error: it died before it answered, and may have done the work or not. */
export type Seen = {
	result?: unknown;
	error?: { code: ErrorCode | "unknown"; message: string };
	/** The engine's job after the call. Choices that are the engine's own (ids, jitter, tokens) are read from here. */
	job(id: number): JobView | undefined;
	/** Keys reserved when this job started, or (undefined) after the call; absent when nothing is known of it. */
	kept?: (job: number | undefined) => { now: { key: string; job: number }[]; ever: { key: string; job: number }[] };
	/** What events told of providers that are down; absent when nothing is known of it. */
	outages?: { account: string; agent: string | null; since: number; until: number; hits: number }[];
	/** The view is from after other calls of the same turn: what passes can no longer be seen in it. */
	blurred?: true;
	/** Jobs that were not there before the call, by id. */
	fresh: number[];
};

export function agree(truth: unknown, message: string): asserts truth {
	if (!truth) throw new Disagreement(message);
}

/** The call must have been refused with one of these codes. */
export function refused(seen: Seen, codes: (ErrorCode | "unknown")[], why: string): void {
	if (seen.error === undefined) {
		agree(seen.result === undefined && false, `accepted, but ${why} (expected an error: ${codes.join(" or ")})`);
	} else {
		agree(
			codes.includes(seen.error.code),
			`refused with ${seen.error.code} (${seen.error.message}), expected ${codes.join(" or ")}: ${why}`,
		);
	}
}

/** The call must have been accepted; its result, if it lived to give one. */
export function accepted<T>(seen: Seen): T | undefined {
	agree(seen.error === undefined, `refused with ${seen.error?.code}: ${seen.error?.message}; the model accepts it`);
	return seen.result as T | undefined;
}

/** By what JSON would make of them, whatever the order of keys. */
export function same(a: unknown, b: unknown): boolean {
	if (a === b) return true;
	if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return false;
	if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((one, index) => same(one, b[index]));
	const [mine, yours] = [a as Record<string, unknown>, b as Record<string, unknown>];
	const keys = new Set([...Object.keys(mine), ...Object.keys(yours)]);
	return !Array.isArray(b) && [...keys].every((key) => same(mine[key], yours[key]));
}

const canonical = (value: unknown): string =>
	JSON.stringify(value, (_, inner) =>
		inner !== null && typeof inner === "object" && !Array.isArray(inner)
			? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
			: inner,
	) ?? "undefined";

export function agreeSame(engine: unknown, model: unknown, what: string): void {
	agree(same(engine, model), `${what}: engine ${canonical(engine)}, model ${canonical(model)}`);
}

/** Which of several right choices the engine made; the first when it cannot be seen. */
export function adopt<T>(choices: T[], fits: (choice: T) => boolean): T {
	const first = choices[0];
	if (first === undefined) throw new Error("nothing to adopt");
	return choices.find(fits) ?? first;
}
