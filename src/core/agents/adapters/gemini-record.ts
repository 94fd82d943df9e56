// Gemini CLI's own session files, `.gemini/tmp/<project>/chats/session-<time>-<first 8 letters of its id>.jsonl`, and those of its subagents,
// `chats/<session>/*.jsonl`. Every answer of the model is a line with its usage, written before its tools run. Gemini CLI prints its result only at the
// end, so an interrupted run is charged by these files.

import type { SessionRecord } from "../adapter.ts";
import type { Used } from "../stream/happening.ts";
import { objectIn, objectOn, textIn } from "../stream/json.ts";
import type { Reading } from "../stream/reading.ts";
import { plus, usedFrom } from "../stream/usage.ts";

/** The project's folder is not known, so all are tried. Resuming a session may begin a further file. */
export const GEMINI_RECORD: SessionRecord = {
	folders: [".gemini", "tmp", /./, "chats"],
	folders_max: 10_000,
	file: (session) => (name) => name.startsWith("session-") && name.endsWith(`-${session.slice(0, 8)}.jsonl`),
	bytes: 8 * 1024 * 1024,
	subagents: (session) => session,
	isWanted: ({ total }) => total === null,
	complete: (reading, texts, since) => ({ reading: withGeminiRecords(reading, usedInGeminiRecords(texts, since)) }),
};

/**
 * `texts`: the ends of session files. `since`: when the run began, epoch milliseconds. Returns what the run used; null if the files do not mention it.
 * Gemini CLI writes a message again when its tools are done. A `$set` line repeats what the session already has, perhaps with new times, so it is ignored.
 */
export function usedInGeminiRecords(texts: readonly string[], since: number): Used | null {
	const answers = new Map<string, Used>();
	for (const line of texts.flatMap((text) => text.split("\n"))) {
		const entry = objectOn(line);
		if (entry?.type !== "gemini" || !(Date.parse(textIn(entry.timestamp)) >= since)) continue;
		const used = usedFrom(objectIn(entry.tokens), ["total", "input", "output", "cached"]);
		if (used.tokens > 0) answers.set(textIn(entry.id), used);
	}
	return answers.size === 0 ? null : [...answers.values()].reduce(plus);
}

/** Adds the usage from the session files to a run that was interrupted before it printed a sum. */
const withGeminiRecords = (reading: Reading, used: Used | null): Reading =>
	reading.total !== null || used === null ? reading : { ...reading, total: { scope: "process", used } };
