// What a run used, as the difference to what its session had used before.
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

import { NOTHING, type Used } from "./happening.ts";
import type { Reading } from "./reading.ts";
import { plus, risen } from "./used.ts";

/** `total`: null if unknown. */
export type Settled = { delta: Used; total: Used | null };

/** `before`: the session's mark; null if the session was resumed and its mark is unknown. */
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
	// A reported own part needs no mark; the mark may be lost, or include calls that the program's counter missed.
	if (told.own) return { delta: told.own, total: told.used };
	if (!isCumulative(told, mark, seen)) return { delta: told.used, total: plus(mark, told.used) };
	return { delta: risen(told.used, mark), total: told.used };
}

function isCumulative({ scope, used }: NonNullable<Reading["total"]>, mark: Used, seen: number): boolean {
	if (scope !== "either") return scope === "session";
	// Output tokens were not seen in full, so neither reading matches exactly; the closer one is taken.
	return Math.abs(used.tokens - mark.tokens - seen) < Math.abs(used.tokens - seen);
}
