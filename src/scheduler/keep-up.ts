// One pass of the loop: what time and other hosts have brought about is seen to, and what is empty is dropped. Mostly there is nothing to write.

import type { Op } from "../store.ts";
import { watchHosts } from "./hosts.ts";
import { dropOldAsks } from "./outputs.ts";
import { dropStaleStages } from "./stages.ts";
import { nextWake } from "./sweep.ts";
import type { Tx } from "./tx.ts";
import { dropEmptyBuckets } from "./upkeep.ts";

/** When it is needed next, and whether there is more to do at once. */
export function* keepUp(tx: Tx, fleet: { see(tx: Tx): void }): Op<{ wake: number | null; more: boolean }> {
	fleet.see(tx);
	yield* watchHosts(tx);
	yield* dropStaleStages(tx);
	dropOldAsks(tx);
	yield* dropEmptyBuckets(tx);
	return { wake: yield* nextWake(tx), more: tx.memory.all("settle").size > 0 };
}
