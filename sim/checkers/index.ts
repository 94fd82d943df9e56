// All rules, in the order they are checked after every step.

import { accepted } from "./accepted.ts";
import { budgets } from "./budgets.ts";
import { caps } from "./caps.ts";
import { counters } from "./counters.ts";
import { hosts } from "./hosts.ts";
import { locks } from "./locks.ts";
import type { Checker, Moment } from "./moment.ts";
import { CheckFailed } from "./moment.ts";
import { moves } from "./moves.ts";
import { reasons } from "./reasons.ts";
import { references } from "./references.ts";
import { reservations } from "./reservations.ts";
import { rollups } from "./rollups.ts";
import { runOnce } from "./run-once.ts";
import { starvation } from "./starvation.ts";

const CHECKERS: Checker[] = [
	runOnce,
	caps,
	locks,
	accepted,
	references,
	moves,
	budgets,
	starvation,
	reservations,
	hosts,
	counters,
	reasons,
	rollups,
];

/** `now` alone: only what can be said while something is due that nobody noticed yet. */
export async function checkAll(moment: Moment): Promise<void> {
	for (const checker of CHECKERS) {
		if (moment.skip.includes(checker.name)) continue;
		try {
			await checker.check(moment);
		} catch (error) {
			if (error instanceof CheckFailed) throw new CheckFailed(`${checker.name}: ${error.message}`);
			throw error;
		}
	}
	moment.memory.ran = new Set([...moment.view.values()].filter((job) => job.status === "running").map((job) => job.id));
}
