// Claude Code's own session files, `projects/<folder>/<session>.jsonl`, and those of its subagents, `projects/<folder>/<session>/subagents/*.jsonl`. They
// are the only place with the output tokens of each call: the events that Claude Code prints carry a call's usage as of the beginning of the call.

import type { Used } from "../stream/happening.ts";
import { objectIn, objectOn, textIn } from "../stream/json.ts";
import { largest, type Reading } from "../stream/reading.ts";
import { usedByCall } from "./claude.ts";

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
export function withRecordedCalls(reading: Reading, recorded: ReadonlyMap<string, { used: Used; isNew: boolean }>): Reading {
	const latest = new Map(reading.calls.latest);
	for (const [id, { used, isNew }] of recorded) {
		const seen = latest.get(id);
		if (seen) latest.set(id, largest(seen, used));
		else if (isNew && reading.total === null && reading.calls.older.tokens === 0) latest.set(id, used);
	}
	return { ...reading, calls: { ...reading.calls, latest } };
}
