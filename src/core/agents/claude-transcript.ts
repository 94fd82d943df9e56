// Claude Code's own record of a session, `projects/<folder>/<session>.jsonl`, and those of its subagents, `projects/<folder>/<session>/subagents/*.jsonl`:
// the only place where it says how many tokens each call put out. The events that it prints carry a call's usage as it was when the call began.

import { usedByCall } from "./claude.ts";
import type { Used } from "./happening.ts";
import { objectIn, objectOn, textIn } from "./json.ts";
import { largest, type Reading } from "./reading.ts";

/** The ends of such files, and when the run began, epoch milliseconds → what each call used, by its id; `isNew`: it was made since then. */
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

/** A run that was broken off: its calls as they were printed, completed by the record. Where it told a sum first, only those that it printed afterwards. */
export function withRecordedCalls(reading: Reading, recorded: ReadonlyMap<string, { used: Used; isNew: boolean }>): Reading {
	const latest = new Map(reading.calls.latest);
	for (const [id, { used, isNew }] of recorded) {
		const seen = latest.get(id);
		if (seen) latest.set(id, largest(seen, used));
		else if (isNew && reading.total === null && reading.calls.older.tokens === 0) latest.set(id, used);
	}
	return { ...reading, calls: { ...reading.calls, latest } };
}
