// What a run used, as a delta against what its session had used before it.
//
//   told as            this run's part                          the session afterwards
//   steps              their sum                                before + that
//   of the process     all of it                                before + that
//   of the session     what is over the mark before; all of     all of it
//                      it if the count has begun anew
//   one or the other   as the one that fits what single calls were seen to take; the newer versions say so themselves

import { NOTHING, type Used } from "./happening.ts";
import { plus, type Reading } from "./reading.ts";

/** `total`: null when nobody knows. */
export type Settled = { delta: Used; total: Used | null };

/** `before`: the session's high-water mark; null when it was resumed and nobody knows it. */
export function settleUsage(reading: Pick<Reading, "steps" | "total" | "seen">, before: Used | null): Settled {
	const mark = before ?? NOTHING;
	const { steps, total } = reading;
	if (total === null) return { delta: steps ?? NOTHING, total: before === null ? null : plus(mark, steps ?? NOTHING) };
	// The mark is lost, so all that came before would be charged once more.
	if (before === null && total.own) return { delta: total.own, total: total.used };
	if (!isCumulative(total, mark, reading.seen)) return { delta: total.used, total: plus(mark, total.used) };
	const isAnew = total.used.tokens < mark.tokens;
	return { delta: isAnew ? total.used : minus(total.used, mark), total: total.used };
}

function isCumulative({ scope, used, own }: NonNullable<Reading["total"]>, mark: Used, seen: number): boolean {
	if (scope !== "either") return scope === "session";
	if (own) return true;
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
