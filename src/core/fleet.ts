// Hosts that come and go: what state one is in, and the times that its lease is made of. Pure.
//
//   state      means                                                            next
//   live       it claims and runs                                               draining, stale, gone
//   draining   a person told it to claim nothing; what runs goes on             live (undrain), stale, gone
//   stale      its lease is over: it claims nothing, its runs are still its own live or draining (a heartbeat), gone (after the grace)
//   gone       it left, or it was lost and its runs were given to others        live (it joins again)
//
// A host without a lease (the only one of its store) is never stale: nobody else could take its runs.
//
//   0           beat     beat     …      lease − margin          lease          lease + grace
//   renewed     renewed                  its guard ends its runs stale          lost: others take its runs

import type { HostRecord } from "./world.ts";

export const HOST_STATES = ["live", "draining", "stale", "gone"] as const;
export type HostState = (typeof HOST_STATES)[number];

export function hostState(host: HostRecord, now: number): HostState {
	if (host.state === "gone") return "gone";
	if (host.state === "stale" || (host.lease_until !== undefined && host.lease_until <= now)) return "stale";
	return host.drain ? "draining" : "live";
}

/** How often a host says that it is there. Several may be lost before anything happens. */
export const beatMs = (staleAfterMs: number): number => Math.min(30_000, Math.floor(staleAfterMs / 6));

/** How long before the end of its lease a host that could not renew it begins to end its runs; the second half is for those that do not listen. */
export const marginMs = (staleAfterMs: number): number => Math.min(60_000, Math.floor(staleAfterMs / 4));

/** How long after it was found stale others wait before they take its runs: after a jump of the clock those who are alive can say so first. */
export const graceMs = (staleAfterMs: number): number => Math.min(30_000, Math.ceil(staleAfterMs / 10));
