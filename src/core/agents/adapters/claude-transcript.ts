// Claude Code's own session files, `projects/<folder>/<session>.jsonl`, and those of its subagents, `projects/<folder>/<session>/subagents/*.jsonl`. They
// are the only place with the output tokens of each call: the events that Claude Code prints carry a call's usage as of the beginning of the call.

import type { SessionRecord } from "../adapter.ts";
import type { Json, Used } from "../stream/happening.ts";
import { countIn, objectIn, objectOn, textIn } from "../stream/json.ts";
import type { Reading } from "../stream/reading.ts";
import { largest } from "../stream/usage.ts";

/** Claude Code derives the folder's name from the working directory by rules of its own, so all folders are tried. */
export const CLAUDE_TRANSCRIPT: SessionRecord = {
	folders: ["projects", /./],
	folders_max: 10_000,
	file: (session) => `${session}.jsonl`,
	// One run rarely adds more, although its requests are in there, too.
	bytes: 8 * 1024 * 1024,
	subagents: (session) => `${session}/subagents`,
	isWanted: ({ total, calls }) => total === null || calls.latest.size > 0,
	complete: (reading, texts, since) => ({ reading: withRecordedCalls(reading, callsInTranscript(texts, since)) }),
};

/**
 * `texts`: the ends of session files. `since`: when the run began, epoch milliseconds. Returns each call's usage by its id; `isNew`: the call was made by
 * this run.
 */
export function callsInTranscript(texts: readonly string[], since: number): Map<string, { used: Used; isNew: boolean }> {
	const calls = new Map<string, { used: Used; isNew: boolean }>();
	for (const line of texts.flatMap((text) => text.split("\n"))) {
		const entry = objectOn(line);
		if (entry?.type !== "assistant") continue;
		const message = objectIn(entry.message);
		const id = textIn(message.id);
		const used = usedByCall(objectIn(message.usage), null);
		if (id === "" || used.tokens === 0) continue;
		const before = calls.get(id);
		const isNew = Date.parse(textIn(entry.timestamp)) >= since;
		calls.set(id, before ? { used: largest(before.used, used), isNew: before.isNew || isNew } : { used, isNew });
	}
	return calls;
}

/**
 * For a run that was interrupted: completes the calls it printed with the usage in the session files. If the run had printed a sum before, only the calls
 * printed after that sum count.
 */
function withRecordedCalls(reading: Reading, recorded: ReadonlyMap<string, { used: Used; isNew: boolean }>): Reading {
	const latest = new Map(reading.calls.latest);
	for (const [id, { used, isNew }] of recorded) {
		const seen = latest.get(id);
		if (seen) latest.set(id, largest(seen, used));
		else if (isNew && reading.total === null && reading.calls.older.tokens === 0) latest.set(id, used);
	}
	return { ...reading, calls: { ...reading.calls, latest } };
}

/**
 * Other programs with Claude Code's output format spell the parts `inputTokens`; a program that includes cached tokens in its input also prints the total.
 */
export function usedByCall(usage: Json, cost_micro: number | null): Used {
	const part = (...names: string[]) => countIn(names.map((name) => usage[name]).find((value) => value !== undefined));
	const input_tokens = part("input_tokens", "inputTokens");
	const output_tokens = part("output_tokens", "outputTokens");
	const cached_tokens = part("cache_read_input_tokens", "cacheReadTokens", "cacheReadInputTokens");
	const cache_write_tokens = part("cache_creation_input_tokens", "cacheWriteTokens", "cacheCreationInputTokens");
	const reportedTokens = countIn(usage.total_tokens);
	const sum = input_tokens + output_tokens + cached_tokens + cache_write_tokens;
	return { tokens: reportedTokens > 0 ? reportedTokens : sum, input_tokens, output_tokens, cached_tokens, cache_write_tokens, cost_micro };
}
