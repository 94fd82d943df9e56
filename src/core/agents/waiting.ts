// Whether an agent waits for the end of a limit by itself. Some programs have no option against that, and would occupy their slot for hours:
//
//   Codex           reports it in an event, but waits silently for a long retry-after
//   Gemini CLI      reports it on stderr, and tries up to ten times: Sluice stops it after its second failure (decision 0125)
//   opencode        reports it in its log on stderr, which its profile turns on, without the retry-after. Newer versions give up after five retries, 1.18.3
//                   never does: Sluice stops it where the newer versions give up
//   Claude Code     gives up by itself

import { ADAPTERS } from "./index.ts";
import type { Format } from "./profile.ts";
import { causeOfText, delayIn } from "./stream/causes.ts";
import type { Trouble } from "./stream/happening.ts";
import type { Reading } from "./stream/reading.ts";

const OF_LIMITS = ["throttled", "limited"];

/** `stderr`: the end of stderr if the agent's last output went there, else empty. Null if the agent is working, or waits for something else. */
export function waitsFor(format: Format, reading: Pick<Reading, "tools" | "retry">, stderr: string): Trouble | null {
	if (reading.tools.size > 0) return null;
	if (reading.retry) return OF_LIMITS.includes(reading.retry.cause) ? reading.retry : null;
	const { stderrRetries } = ADAPTERS[format];
	if (!stderrRetries) return null;
	const text = stderr.trimEnd().split("\n").at(-1) ?? "";
	const cause = causeOfText(text);
	if (!OF_LIMITS.includes(cause)) return null;
	return { cause, text: stderrRetries.words(text), retry_after_ms: delayIn(text) };
}

/**
 * The failure that an agent keeps retrying against, once it has used up its attempts; null if there is none. `stderr` as in `waitsFor`; `since`: when the
 * agent last wrote to stdout, epoch milliseconds.
 */
export const triesInVain = (format: Format, reading: Pick<Reading, "tools">, stderr: string, since: number): Trouble | null =>
	reading.tools.size > 0 ? null : (ADAPTERS[format].stderrRetries?.inVain(stderr, since) ?? null);
