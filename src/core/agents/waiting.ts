// Whether an agent waits for the end of a limit by itself. Some programs have no option against that, and would occupy their slot for hours:
//
//   Codex           reports it in an event, but waits silently for a long retry-after
//   Gemini CLI      reports it on stderr, and tries up to ten times: Sluice stops it after its second failure (decision 0125)
//   opencode        reports it in its log on stderr, which its profile turns on, without the retry-after. Newer versions give up after five retries, 1.18.3
//                   never does: Sluice stops it where the newer versions give up
//   Claude Code     gives up by itself

import type { Format } from "./profile.ts";
import { causeOfText, delayIn } from "./stream/causes.ts";
import type { Trouble } from "./stream/happening.ts";
import type { Reading } from "./stream/reading.ts";

const OF_LIMITS = ["throttled", "limited"];
const ON_STDERR: readonly Format[] = ["gemini", "opencode"];

/** `stderr`: the end of stderr if the agent's last output went there, else empty. Null if the agent is working, or waits for something else. */
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

/** How many attempts at one model call Sluice allows. */
const GEMINI_ATTEMPTS = 2;
const OPENCODE_ATTEMPTS = 6;

/**
 * The failure that an agent keeps retrying against, once it has used up its attempts; null if there is none. `stderr` as in `waitsFor`; `since`: when the
 * agent last wrote to stdout, epoch milliseconds.
 */
export function triesInVain(format: Format, reading: Pick<Reading, "tools">, stderr: string, since: number): Trouble | null {
	if (reading.tools.size > 0) return null;
	if (format === "gemini") return geminiInVain(stderr);
	return format === "opencode" ? opencodeInVain(stderr, since) : null;
}

/** opencode logs one line for each failure, with its time. */
function opencodeInVain(stderr: string, since: number): Trouble | null {
	const failures = stderr
		.split("\n")
		.filter((line) => / message="stream error" /.test(line) && Date.parse(/^timestamp=(\S+)/.exec(line)?.[1] ?? "") >= since);
	const last = failures.at(-1);
	if (last === undefined || failures.length < OPENCODE_ATTEMPTS) return null;
	const cause = causeOfText(wordsOf(last));
	return [...OF_LIMITS, "transient", "billing", "auth"].includes(cause) ? { cause, text: wordsOf(last) } : null;
}

/** Gemini CLI reports each attempt ("Attempt 2 failed …. Retrying …") and counts from one again for the next call. */
function geminiInVain(stderr: string): Trouble | null {
	const last = [...stderr.matchAll(/^Attempt (\d+) failed/gm)].at(-1);
	if (last === undefined || Number(last[1]) < GEMINI_ATTEMPTS) return null;
	const told = stderr.slice(last.index);
	const [, words, error] = /^(Attempt .*?)Retrying (?:after \d+ms|with backoff)\.\.\.(.*)$/s.exec(told) ?? [];
	if (words === undefined || error === undefined) return null;
	const cause = causeOfText(told);
	if (!OF_LIMITS.includes(cause) && cause !== "transient") return null;
	const delay = delayIn(words);
	return { cause, text: wordsOfFailure(words, error), ...(delay === undefined ? {} : { retry_after_ms: delay }) };
}

/** `words` name the failure, or only its status; in that case `error` holds the provider's response. */
function wordsOfFailure(words: string, error: string): string {
	const named = /^Attempt \d+ failed: (.*)/.exec(words)?.[1]?.trim();
	const answered = /"message": ?"((?:[^"\\]|\\.)+)"/.exec(error)?.[1];
	const firstLine = error.split("\n")[0]?.trim();
	return named || answered || firstLine || words.trim();
}

/** A line of opencode's log has the message in its last field. */
const wordsOf = (line: string): string => /\berror\.error="?([^"]*)/.exec(line)?.[1] ?? line;
