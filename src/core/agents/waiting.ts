// Whether an agent has run into a limit and waits for its end by itself. Some cannot be told not to, and would keep their slot for hours:
//
//   Codex           says so in an event; a long retry-after is waited for in silence
//   Gemini CLI      says so on stderr
//   opencode        says so in its log on stderr, which its profile turns on; what it was told to wait is not in it
//   Claude Code     gives up by itself

import { causeOfText, delayIn } from "./causes.ts";
import type { Trouble } from "./happening.ts";
import type { Format } from "./profile.ts";
import type { Reading } from "./reading.ts";

const OF_LIMITS = ["throttled", "limited"];
const ON_STDERR: readonly Format[] = ["gemini", "opencode"];

/** `stderr`: its end, where that is what was written last; else empty. Null when it is at work, or waits for something else. */
export function waitsFor(format: Format, reading: Pick<Reading, "tools" | "retry">, stderr: string): Trouble | null {
	if (reading.tools.size > 0) return null;
	if (reading.retry) return OF_LIMITS.includes(reading.retry.cause) ? reading.retry : null;
	if (!ON_STDERR.includes(format)) return null;
	const text = stderr.trimEnd().split("\n").at(-1) ?? "";
	const cause = causeOfText(text);
	if (!OF_LIMITS.includes(cause)) return null;
	const delay = delayIn(text);
	return { cause, text: wordsOf(text), ...(delay === undefined ? {} : { retry_after_ms: delay }) };
}

/** A line of opencode's log has its words in the last of its fields. */
const wordsOf = (line: string): string => /\berror\.error="?([^"]*)/.exec(line)?.[1] ?? line;
