// What is tried with every agent program: what the fake API answers, and what a run that meets it is judged as.

import type { AgentName } from "../../src/core/agents/profile.ts";
import type { Outcome } from "../../src/core/agents/stream/happening.ts";
import type { Turn } from "./fake-api/turn.ts";
import type { Login } from "./sandbox.ts";

export type Scenario = {
	name: string;
	turns: Turn[];
	/** What comes when they are used up. */
	last: Turn;
	outcome: Outcome | Record<AgentName, Outcome>;
	/** Where an older version tells less, or gives up sooner. */
	older?: Partial<Record<AgentName, Outcome>>;
	login?: Login;
};

const always = (name: string, last: Turn, outcome: Scenario["outcome"]): Scenario => ({
	name,
	turns: [],
	last,
	outcome,
});

/** A reset that no test waits for. */
const RESET_S = 7200;

export const FAILURES: readonly Scenario[] = [
	{
		name: "429, short retry-after",
		turns: [{ fail: "throttled", retryAfterS: 1 }],
		last: { say: "done after all" },
		outcome: "ok",
		// Codex 0.142 does not wait.
		older: { codex: "throttled" },
	},
	{
		name: "subscription limit",
		turns: [],
		last: { fail: "limited", resetsInS: RESET_S },
		outcome: "limited",
		login: "subscription",
	},
	// On a plan, where it must not be taken for the plan's own limit.
	{ ...always("429, long retry-after", { fail: "throttled", retryAfterS: 3600 }, "throttled"), login: "subscription" },
	always("529 overloaded", { fail: "overloaded" }, "transient"),
	always("401", { fail: "auth" }, "auth"),
	// Codex 0.142 says the same of every 429.
	{ ...always("billing", { fail: "billing" }, "billing"), older: { codex: "throttled" } },
	always("context full", { fail: "context" }, "context"),
];
