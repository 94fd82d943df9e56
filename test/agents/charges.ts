// What the fake API handed out, in the words of a ledger.

import type { AgentName } from "../../src/core/agents/profile.ts";
import type { Handed } from "./fake-api/turn.ts";
import { PRICES } from "./sandbox.ts";

export const tokensOf = ({ input, cacheRead, cacheWrite, output }: Handed): number => input + cacheRead + cacheWrite + output;

/** In millionths of a dollar; null where the program tells no cost. */
export function costOf(agent: AgentName, handed: Handed): number | null {
	const price = PRICES[agent];
	if (!price) return null;
	const { input, output, cacheRead, cacheWrite } = handed;
	return Math.round(input * price.input + output * price.output + cacheRead * price.cacheRead + cacheWrite * price.cacheWrite);
}

/** An answer's usage with all parts that the agent's provider can tell of. Numbers that come to whole millionths. */
export function usageFor(agent: AgentName): Handed {
	const usage = { input: 1230, cacheRead: 570, output: 90 };
	return agent === "claude" ? { ...usage, cacheWrite: 400, reasoning: 0 } : { ...usage, cacheWrite: 0, reasoning: 40 };
}
