// Gemini CLI's own session files, `.gemini/tmp/<project>/chats/session-<time>-<first 8 letters of its id>.jsonl`, and those of its subagents,
// `chats/<session>/*.jsonl`. Every answer of the model is a line with its usage, written before its tools run. Gemini CLI prints its result only at the
// end, so an interrupted run is charged by these files.

import { NOTHING, type Used } from "../stream/happening.ts";
import { countIn, objectIn, objectOn, textIn } from "../stream/json.ts";
import { plus, type Reading } from "../stream/reading.ts";

/** Whether a file in folder `chats` belongs to the session. Resuming a session may begin a further file. */
export const isGeminiRecordOf = (session: string): ((name: string) => boolean) => {
	const end = `-${session.slice(0, 8)}.jsonl`;
	return (name) => name.startsWith("session-") && name.endsWith(end);
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
		const { total, input, output, cached } = objectIn(entry.tokens);
		if (countIn(total) === 0) continue;
		answers.set(textIn(entry.id), {
			...NOTHING,
			tokens: countIn(total),
			input_tokens: countIn(input),
			output_tokens: countIn(output),
			cached_tokens: countIn(cached),
		});
	}
	return answers.size === 0 ? null : [...answers.values()].reduce(plus);
}

/** Adds the usage from the session files to a run that was interrupted before it printed a sum. */
export const withGeminiRecords = (reading: Reading, used: Used | null): Reading =>
	reading.total !== null || used === null ? reading : { ...reading, total: { scope: "process", used } };
