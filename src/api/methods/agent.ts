// The methods of agents.

import { systemTimezone } from "../../host/local.ts";
import { doc, type Handlers } from "../call.ts";
import { createJudging } from "../judgement-document.ts";

export const agentMethods: Handlers<"agent"> = {
	"agent.list": async (_params, { context }) => doc({ agents: await context.agents.list() }),
	"agent.show": async ({ name }, { context }) => doc({ agent: await context.agents.show(name) }),
	"agent.judge": async ({ name, stdout, stderr = "", exit, format }, { context }) => {
		const profile = context.agents.profile(name);
		const judging = createJudging(name, format === undefined ? profile : { ...profile, output: format });
		judging.push(new TextEncoder().encode(stdout));
		return doc(judging.end({ exit, stderr, now: context.clock.now(), timezone: systemTimezone() }));
	},
};
