// States of hosts, and the times that make up a host's lease. Pure.
//
//   state      means                                                            next
//   live       it claims and runs                                               draining, stale, gone
//   draining   a person told it to claim nothing; its runs continue             live (undrain), stale, gone
//   stale      its lease has expired: it claims nothing, but keeps its runs     live or draining (a heartbeat), gone (after the grace)
//   gone       it left, or it was lost and its runs were released               live (it joins again)
//
// A host without a lease (the only host of its store) is never stale: no other host could take its runs.
//
//   0           beat     beat     …      lease − margin          lease          lease + grace
//   renewed     renewed                  its guard ends its runs stale          lost: its runs go to other hosts

import type { HostRecord } from "./limits-view.ts";

const HOST_STATES = ["live", "draining", "stale", "gone"] as const;
export type HostState = (typeof HOST_STATES)[number];

export function hostState(host: HostRecord, now: number): HostState {
	if (host.state === "gone") return "gone";
	if (host.state === "stale" || (host.lease_until !== undefined && host.lease_until <= now)) return "stale";
	return host.drain ? "draining" : "live";
}

/** What the guard or a watcher writes into `lease` in a run's folder before it ends the run. The next daemon only checks whether the file is there. */
export const LEASE_NOTE = "1 ended: the lease of its host could not be renewed";

/** How often a host renews its lease. Several heartbeats may get lost before anything happens. */
export const beatMs = (staleAfterMs: number): number => Math.min(30_000, Math.floor(staleAfterMs / 6));

/** How long before its lease expires a host that could not renew it begins to end its runs; the second half is for runs that ignore the first signal. */
export const marginMs = (staleAfterMs: number): number => Math.min(60_000, Math.floor(staleAfterMs / 4));

/** How long other hosts wait after they found a host stale before they take its runs: after a clock jump, a live host can renew its lease first. */
export const graceMs = (staleAfterMs: number): number => Math.min(30_000, Math.ceil(staleAfterMs / 10));
