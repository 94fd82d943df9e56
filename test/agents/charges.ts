// What the fake API handed out, in the words of a ledger.

import type { Handed } from "./fake-api/turn.ts";
import type { AgentName } from "./programs.ts";
import { PRICES } from "./sandbox.ts";

export const tokensOf = ({ input, cacheRead, cacheWrite, output }: Handed): number => input + cacheRead + cacheWrite + output;

/** In millionths of a dollar; null where the program tells no cost. */
export function costOf(agent: AgentName, handed: Handed): number | null {
	const price = PRICES[agent];
	if (!price) return null;
	const { input, output, cacheRead, cacheWrite } = handed;
	return Math.round(input * price.input + output * price.output + cacheRead * price.cacheRead + cacheWrite * price.cacheWrite);
}
