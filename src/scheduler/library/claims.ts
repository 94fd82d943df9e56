// The library's methods that start work (claims, cycles by hand, the plan of a cycle), and those that hold it back: pauses and breakers.

import type { ClaimOptions, Scheduler } from "../../contracts/scheduler.ts";
import { scopeKey } from "../operations/control.ts";
import type { Life } from "../operations/hosts.ts";
import { claimerOf } from "./input.ts";
import type { LibraryParts } from "./parts.ts";

/** `lifeOf`: the life of a host, if it is this process's own. */
export function claimMethods({ core }: LibraryParts, lifeOf: (host: string | undefined) => Life) {
	/** The life is that of the moment when the claim is carried out: a heartbeat may have begun another one since the call. */
	const claiming = (request: ClaimOptions) => {
		const claimer = claimerOf(request);
		return () => ({ ...claimer, life: lifeOf(claimer.host) });
	};
	return {
		claim: async (request) => core.call("claim", claiming(request)),
		claimStanding: async (request) => core.claimStanding?.(claiming(request)()) ?? core.call("claim", claiming(request)),
		retire: async (worker) => core.retire?.(worker) ?? [],
		runCycle: async (request) => core.call("runCycle", claiming(request)),
		plan: async ({ max = 1000, kinds, cycle } = {}) =>
			core.dryRun("planCycle", { ...claimerOf({ worker: "plan", max, ...(kinds ? { kinds } : {}) }), cycle: cycle ?? "next" }),
	} satisfies Partial<Scheduler>;
}

export const holdMethods = ({ core }: LibraryParts): Pick<Scheduler, "pause" | "resume" | "closeBreaker"> => ({
	pause: async (scope = {}, act) => core.call("pause", { scope: scopeKey(scope), reason: act?.reason ?? "", until: act?.until }, act),
	resume: async (scope = {}, act) => core.call("resume", { scope: scopeKey(scope) }, act),
	closeBreaker: async (of, act) => core.call("closeBreaker", { scope: "agent" in of ? `agent:${of.agent}` : `repo:${of.repo}` }, act),
});
