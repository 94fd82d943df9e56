// One pass of the timer loop: handles what time and other hosts have brought about, and drops what is empty. Mostly there is nothing to write.

import type { Op } from "../../contracts/store.ts";
import { dropStaleStages } from "../apply/stages.ts";
import { watchHosts } from "../operations/hosts.ts";
import { dropEmptyBuckets } from "../operations/upkeep.ts";
import type { Tx } from "../transaction/tx.ts";
import { hasContinuations } from "../waiting/continuation.ts";
import { nextWake } from "../waiting/due.ts";
import { dropOldAsks } from "./outputs.ts";

/** Returns when the next pass is due, and whether there is more to do at once. */
export function* keepUp(tx: Tx, fleet: { see(tx: Tx): void }): Op<{ wake: number | null; more: boolean }> {
	fleet.see(tx);
	yield* watchHosts(tx);
	yield* dropStaleStages(tx);
	dropOldAsks(tx);
	yield* dropEmptyBuckets(tx);
	return { wake: yield* nextWake(tx), more: hasContinuations(tx) };
}
