// Arithmetic with usage, and what a run used, as the difference to what its session had used before.
//
//   reported as        this run's part                          the session's mark afterwards
//   steps              their sum                                before + that
//   process            all of it                                before + that
//   session            what exceeds the mark before; all of     all of it
//                      it if the counter was reset
//   either             the part that newer versions report; else the reading that is closer to the usage of single calls
//   single calls       their sum: the run was interrupted       as before: the program's own counter missed them, too
//                      before it reported a sum, or after one
//
// The mark is the value from which the program's next session sum counts, not all that was charged.

import { type Json, NOTHING, type Used } from "./happening.ts";
import { countIn } from "./json.ts";
import type { Reading } from "./reading.ts";

/** `total`: null if unknown. */
export type Settled = { delta: Used; total: Used | null };

/** `before`: the session's mark; null if the session was resumed and its mark is unknown. */
export function settleUsage(reading: Pick<Reading, "steps" | "total" | "seen" | "calls">, before: Used | null): Settled {
	const mark = before ?? NOTHING;
	const { steps, total, calls } = reading;
	const loose = [...calls.latest.values()].reduce(plus, calls.older);
	if (total === null) return { delta: plus(steps ?? NOTHING, loose), total: before === null ? null : plus(mark, steps ?? NOTHING) };
	const { delta, total: reported } = settleReported(total, before, reading.seen);
	return { delta: plus(delta, loose), total: reported };
}

function settleReported(reported: NonNullable<Reading["total"]>, before: Used | null, seen: number): { delta: Used; total: Used } {
	const mark = before ?? NOTHING;
	// A reported own part needs no mark; the mark may be lost, or include calls that the program's counter missed.
	if (reported.own) return { delta: reported.own, total: reported.used };
	if (!isCumulative(reported, mark, seen)) return { delta: reported.used, total: plus(mark, reported.used) };
	return { delta: risen(reported.used, mark), total: reported.used };
}

function isCumulative({ scope, used }: NonNullable<Reading["total"]>, mark: Used, seen: number): boolean {
	if (scope !== "either") return scope === "session";
	// Output tokens were not seen in full, so neither reading matches exactly; the closer one is taken.
	return Math.abs(used.tokens - mark.tokens - seen) < Math.abs(used.tokens - seen);
}

const PARTS = ["tokens", "input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens"] as const;

/** Combines each part of two reports, except the cost. */
function each(one: Used, other: Used, combine: (a: number, b: number) => number, cost_micro: number | null): Used {
	const all = { ...NOTHING, cost_micro };
	for (const part of PARTS) all[part] = combine(one[part], other[part]);
	return all;
}

/**
 * Reads a program's report: the members that hold the total, the input, the output, and what was read from the cache and written to it. Without a total it
 * is input and output together.
 */
export function usedFrom(report: Json, [total, ...parts]: readonly [string | null, string, string, string, string?]): Used {
	const [input_tokens = 0, output_tokens = 0, cached_tokens = 0, cache_write_tokens = 0] = parts.map((name = "") => countIn(report[name]));
	const tokens = total === null ? input_tokens + output_tokens : countIn(report[total]);
	return { tokens, input_tokens, output_tokens, cached_tokens, cache_write_tokens, cost_micro: null };
}

export const plus = (one: Used, other: Used): Used => {
	const isPriced = one.cost_micro !== null || other.cost_micro !== null;
	return each(one, other, (a, b) => a + b, isPriced ? (one.cost_micro ?? 0) + (other.cost_micro ?? 0) : null);
};

const minus = (one: Used, other: Used): Used => {
	const cost = one.cost_micro === null ? null : Math.max(0, one.cost_micro - (other.cost_micro ?? 0));
	return each(one, other, (a, b) => Math.max(0, a - b), cost);
};

/** How far a session's counter rose above the mark; the whole counter if it was reset. */
export const risen = (count: Used, mark: Used): Used => (count.tokens < mark.tokens ? count : minus(count, mark));

/**
 * The larger value of each part: early reports about a call come before it is over. `tokens` is not the sum of the parts: some programs include cached tokens
 * in the input.
 */
export const largest = (one: Used, other: Used): Used => each(one, other, Math.max, one.cost_micro ?? other.cost_micro);
