// What a run used, as a delta against what its session had used before it.
//
//   told as            this run's part                          the session's mark afterwards
//   steps              their sum                                before + that
//   of the process     all of it                                before + that
//   of the session     what is over the mark before; all of     all of it
//                      it if the count has begun anew
//   one or the other   what the newer versions say themselves; else as the one that fits what single calls were seen to take
//   single calls       their sum: the run was broken off        as before: the program's own count has lost them, too
//                      before, or after, it told a sum
//
// The mark is where the program's next sum over the session begins, not all that was charged.

import { NOTHING, type Used } from "./happening.ts";
import { plus, type Reading } from "./reading.ts";

/** `total`: null when nobody knows. */
export type Settled = { delta: Used; total: Used | null };

/** `before`: the session's high-water mark; null when it was resumed and nobody knows it. */
export function settleUsage(reading: Pick<Reading, "steps" | "total" | "seen" | "calls">, before: Used | null): Settled {
	const mark = before ?? NOTHING;
	const { steps, total, calls } = reading;
	const loose = [...calls.latest.values()].reduce(plus, calls.older);
	if (total === null) return { delta: plus(steps ?? NOTHING, loose), total: before === null ? null : plus(mark, steps ?? NOTHING) };
	const { delta, total: told } = settleTold(total, before, reading.seen);
	return { delta: plus(delta, loose), total: told };
}

function settleTold(told: NonNullable<Reading["total"]>, before: Used | null, seen: number): { delta: Used; total: Used } {
	const mark = before ?? NOTHING;
	// Its own part needs no mark, which may be lost, or hold what the program has lost.
	if (told.own) return { delta: told.own, total: told.used };
	if (!isCumulative(told, mark, seen)) return { delta: told.used, total: plus(mark, told.used) };
	return { delta: risen(told.used, mark), total: told.used };
}

/** What a count over the session has risen by; all of it if it has begun anew. */
export const risen = (count: Used, mark: Used): Used => (count.tokens < mark.tokens ? count : minus(count, mark));

function isCumulative({ scope, used }: NonNullable<Reading["total"]>, mark: Used, seen: number): boolean {
	if (scope !== "either") return scope === "session";
	// What it put out was not seen in full, so neither fits exactly.
	return Math.abs(used.tokens - mark.tokens - seen) < Math.abs(used.tokens - seen);
}

const minus = (one: Used, other: Used): Used => ({
	tokens: one.tokens - other.tokens,
	input_tokens: Math.max(0, one.input_tokens - other.input_tokens),
	output_tokens: Math.max(0, one.output_tokens - other.output_tokens),
	cached_tokens: Math.max(0, one.cached_tokens - other.cached_tokens),
	cache_write_tokens: Math.max(0, one.cache_write_tokens - other.cache_write_tokens),
	cost_micro: one.cost_micro === null ? null : Math.max(0, one.cost_micro - (other.cost_micro ?? 0)),
});
