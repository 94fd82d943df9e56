// The library's methods that start work (claims, cycles by hand, the plan of a cycle), and those that hold it back: pauses and breakers.

import type { ClaimOptions, Scheduler } from "../../contracts/scheduler.ts";
import { closeBreaker } from "../limits/breakers.ts";
import { openCycle } from "../limits/cycle.ts";
import { beforeClaim, type Claimer, claim, handOut } from "../operations/claim.ts";
import * as control from "../operations/control.ts";
import type { Task } from "../transaction/group-commit.ts";
import type { Tx } from "../transaction/tx.ts";
import { reportPass } from "../views/plan-report.ts";
import { claimerOf } from "./input.ts";
import type { LibraryParts } from "./parts.ts";

/** `mayClaim`: throws when this host has lost its name. */
export function claimMethods({ engine, hostName }: LibraryParts, mayClaim: (tx: Tx) => void) {
	function claiming<T>(request: ClaimOptions, task: (tx: Tx, claimer: Claimer) => ReturnType<Task<T>>): Promise<T> {
		const claimer = claimerOf(request);
		return engine.run(
			(tx) => {
				if (claimer.host === hostName) mayClaim(tx);
				return task(tx, claimer);
			},
			{ phase: "claim", ahead: (tx, leaving) => beforeClaim(tx, claimer, leaving) },
		);
	}
	return {
		claim: async (request) => claiming(request, claim),
		runCycle: async (request) =>
			claiming(request, function* (tx, claimer) {
				openCycle(tx, "run");
				const { jobs, report } = yield* reportPass(tx, { ...claimer, by_hand: true });
				const claimed = yield* handOut(tx, jobs);
				return { claimed, report: { ...report, dispatch: claimed.map(({ job }) => job.id) } };
			}),
		plan: async (request = {}) => {
			const claimer = claimerOf({ worker: "plan", max: request.max ?? 1000, ...(request.kinds ? { kinds: request.kinds } : {}) });
			return engine.dryRun(function* (tx) {
				if (request.cycle === "now") openCycle(tx, "run");
				return (yield* reportPass(tx, request.cycle === "now" ? { ...claimer, unspaced: true } : claimer)).report;
			});
		},
	} satisfies Partial<Scheduler>;
}

export const holdMethods = ({ runPlain }: LibraryParts): Pick<Scheduler, "pause" | "resume" | "closeBreaker"> => ({
	pause: async (scope = {}, act) => runPlain((tx) => control.pause(tx, control.scopeKey(scope), act?.reason ?? "", act?.until), act),
	resume: async (scope = {}, act) => runPlain((tx) => control.resume(tx, control.scopeKey(scope)), act),
	closeBreaker: async (of, act) => runPlain((tx) => closeBreaker(tx, "agent" in of ? `agent:${of.agent}` : `repo:${of.repo}`), act),
});
