// The methods of agents.

import { systemTimezone } from "../../host/local.ts";
import { doc, type Handlers } from "../call.ts";
import { createJudging } from "../documents/judgement.ts";

/** Bytes that are judged before other callers have their turn: each may be a line of its own. */
const JUDGED_BYTES = 16_384;

export const agentMethods: Handlers<"agent"> = {
	"agent.list": async (_params, { context }) => doc({ agents: await context.agents.list() }),
	"agent.show": async ({ name }, { context }) => doc({ agent: await context.agents.show(name) }),
	"agent.judge": async ({ name, stdout, stderr = "", exit, format }, { context }) => {
		const profile = context.agents.profile(name);
		const judging = createJudging(name, format === undefined ? profile : { ...profile, output: format });
		const bytes = new TextEncoder().encode(stdout);
		for (let from = 0; from < bytes.length; from += JUDGED_BYTES) {
			judging.push(bytes.subarray(from, from + JUDGED_BYTES));
			await context.host.turn();
		}
		return doc(judging.end({ exit, stderr, now: context.clock.now(), timezone: systemTimezone() }));
	},
};
