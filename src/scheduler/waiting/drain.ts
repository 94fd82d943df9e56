// The one loop over the worklist of a transaction. The table at the head of worklist.ts says what each item is and what may follow from it.

import type { Op } from "../../contracts/store.ts";
import { isWaiting } from "../../core/job.ts";
import type { Tx } from "../transaction/tx.ts";
import { tellDependents } from "./dependents.ts";
import { evict, wakeLockWaiters } from "./locks.ts";
import { reevaluate } from "./park.ts";
import { passOn } from "./reservations.ts";

/** Maximum number of dependents that one call tells because other jobs ended; at about 50 µs each this stays well under 50 ms. */
const MOST_DEPENDENTS = 500;

/** Does everything on the worklist, and what follows from it. Dependents beyond the limit are left to the next transactions. */
export function* drain(tx: Tx): Op<void> {
	let left = MOST_DEPENDENTS;
	for (let item = tx.work.next(); item; item = tx.work.next())
		switch (item.do) {
			case "pass_on":
				yield* passOn(tx, item.key, item.overdue);
				break;
			case "evict":
				yield* evict(tx, item.key, item.mode);
				break;
			case "wake":
				yield* wakeLockWaiters(tx, item.key);
				break;
			case "reevaluate":
				if (isWaiting(item.job.status)) yield* reevaluate(tx, item.job);
				break;
			case "dependents":
				left -= yield* tellDependents(tx, item.ended, left);
		}
}
