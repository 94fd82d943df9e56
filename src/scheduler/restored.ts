// A store that was put back to an earlier state under processes that have seen a later one. Numbers that were given out since must not be given out
// again: a run's token is all that tells its late word from another's, and whoever follows events would take new ones for old.

import type { Ids, Memory } from "./memory.ts";
import type { Tx } from "./tx.ts";

/** How far numbers go on beyond what this process has seen: another one may have seen a little more. */
const LEAP = 10_000;
const NONE: Ids = { job: 0, token: 0, seq: 0, bucket: 0, rank: 0 };

export const idsIn = (memory: Memory): Ids => (memory.recall("meta", "ids") as Ids | null) ?? NONE;

/**
 * The numbers that the store has, if it is older than what was seen: from now on memory has others, and the next event writes them. Every commit that tells
 * anything counts `seq` up, and nothing ever counts it down.
 */
export function leap(memory: Memory, seen: Ids | undefined): Ids | null {
	const found = idsIn(memory);
	if (seen === undefined || found.seq >= seen.seq) return null;
	const { job, token, seq } = seen;
	memory.remember("meta", "ids", { ...found, job: job + LEAP, token: token + LEAP, seq: seq + LEAP } satisfies Ids);
	return found;
}

export function tellRestored(tx: Tx, found: Ids, seen: Ids): void {
	tx.event("store_restored", null, { job: found.job, seq: found.seq, seen_job: seen.job, seen_seq: seen.seq });
	// Their leases are of the earlier time: whoever is alive gets the time to say so.
	const lease = tx.now + tx.config.stale_after_ms;
	for (const host of tx.memory.hosts.values())
		if (host.lease_until !== undefined && host.state === "live" && host.lease_until < lease)
			tx.put("host", host.name, { ...host, lease_until: lease });
	tx.stirred = true;
}
