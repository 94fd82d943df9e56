// Detects a store that was restored to an earlier state while processes had seen a later one. Ids given out in between must not be given out again: only
// its token distinguishes a run's late report from another run's, and a reader of events would take new events for old ones. Refuses a store that was moved.

import { SluiceError } from "../../core/errors.ts";
import type { Memory } from "./cache.ts";
import type { Ids } from "./record-map.ts";
import type { Tx } from "./tx.ts";

/** How far ids jump beyond what this process has seen: another process may have seen a little more. */
const LEAP = 10_000;
export type HighestIds = Pick<Ids, "job" | "token" | "seq">;
const NONE: Ids = { job: 0, token: 0, seq: 0, bucket: 0, rank: 0 };

export const idsIn = (memory: Memory): Ids => memory.meta("ids") ?? NONE;

/**
 * If the store is older than what this process has seen, raises the ids in memory (the next event writes them) and returns the ids that the store has; else
 * null. Comparing `seq` is enough: every commit that appends an event raises it, and nothing lowers it.
 */
export function leap(memory: Memory, seen: HighestIds | undefined): Ids | null {
	const found = idsIn(memory);
	if (seen === undefined || found.seq >= seen.seq) return null;
	const { job, token, seq } = seen;
	memory.remember("meta", "ids", { ...found, job: job + LEAP, token: token + LEAP, seq: seq + LEAP });
	return found;
}

export function tellRestored(tx: Tx, found: Ids, seen: HighestIds): void {
	tx.event("store_restored", null, { job: found.job, seq: found.seq, seen_job: seen.job, seen_seq: seen.seq });
	// The hosts' leases date from before the restore: extend them, so that a live host has time to renew its own.
	const lease = tx.now + tx.config.stale_after_ms;
	for (const host of tx.memory.hosts.values())
		if (host.lease_until !== undefined && host.state === "live" && host.lease_until < lease)
			tx.put("host", host.name, { ...host, lease_until: lease });
	tx.stirred = true;
}

/** Refuse a store that `migrate-store` moved away: its jobs now live in the target and would run twice. */
export function refuseMoved(memory: Memory): void {
	const moved = memory.meta("moved");
	if (moved)
		throw new SluiceError("store", `this store was moved to ${moved.to} at ${new Date(moved.at).toISOString()}`, {
			hint: "use that one; sluice migrate-store moves it back",
		});
}
