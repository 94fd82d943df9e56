// The methods of agents.

import { createReader } from "../../core/agents/reading.ts";
import { systemTimezone } from "../../host/local.ts";
import { doc, type Handlers } from "../call.ts";
import { judgementDocument } from "../judgement-document.ts";

export const agentMethods: Handlers<"agent"> = {
	"agent.list": async (_params, { context }) => doc({ agents: await context.agents.list() }),
	"agent.show": async ({ name }, { context }) => doc({ agent: await context.agents.show(name) }),
	"agent.judge": async ({ name, stdout, stderr = "", exit }, { context }) => {
		const { output } = context.agents.profile(name);
		const reader = createReader(output);
		reader.push(new TextEncoder().encode(stdout));
		return doc(judgementDocument(output, reader.end(), { exit, stderr, now: context.clock.now(), timezone: systemTimezone() }));
	},
};
