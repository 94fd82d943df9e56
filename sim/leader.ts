// What the model has to know of a fleet with a leader: calls whose outcome is certain, and what a new leader does to leases.

import { beatMs, graceMs } from "../src/core/fleet.ts";
import type { Outcome } from "./engine/attempt.ts";
import type { Call } from "./engine/call.ts";
import { Disagreement } from "./model/agree.ts";
import type { State } from "./model/state.ts";

/** Calls that take several operations of the leader: the first ones may have been carried out when a later one was refused. */
const SEVERAL: readonly Call["method"][] = ["apply", "cancel", "cancelAll", "clear", "drain", "gc", "retry", "rerun", "tick", "heartbeat"];
export const isOneOperation = (call: Call): boolean => !SEVERAL.includes(call.method);

/** What an error has to say if the call had no effect because of the fleet. */
const CERTAIN = /not carried out|set aside/;

/** No outcome is ever unknown: either the call was answered, or its error says that it was not carried out. A heartbeat and a tick are simply repeated. */
export function checkKnown(call: Call, outcome: Outcome): void {
	if (outcome === "died" || !("error" in outcome) || call.method === "heartbeat" || call.method === "tick") return;
	const { code, message } = outcome.error;
	if (!["store", "closed", "unknown"].includes(code) || CERTAIN.test(message)) return;
	throw new Disagreement(`the caller of ${call.method} does not know what became of it: ${message}`);
}

/** Hosts could not renew their leases while no process led: a new leader gives them time for it. */
export const renewedBy =
	(now: number) =>
	(state: State): void => {
		const { stale_after_ms } = state.config;
		const until = now + beatMs(stale_after_ms) + graceMs(stale_after_ms);
		for (const host of state.hosts) {
			if (host.lease_until === undefined) continue;
			// It may have beaten while no process led: its grace begins again.
			if (host.found_stale_at !== undefined) host.found_stale_at = now;
			else host.lease_until = Math.max(host.lease_until, until);
		}
		for (const job of state.jobs) if (job.run?.lease_until !== undefined) job.run.unsure = true;
	};
