// Gemini CLI's own record of a session, `.gemini/tmp/<project>/chats/session-<time>-<first 8 letters of its id>.jsonl`, and those of its subagents,
// `chats/<session>/*.jsonl`. Every answer of the model is a line of its own, with what it used, and is there before its tools run. A result is printed only at
// the end of a run, so this is what a run is charged by that was broken off.

import { NOTHING, type Used } from "./happening.ts";
import { countIn, objectIn, objectOn, textIn } from "./json.ts";
import { plus, type Reading } from "./reading.ts";

/** Whether a file of the folder `chats` is of this session. A program that goes on with it may begin a further one. */
export const isGeminiRecordOf = (session: string): ((name: string) => boolean) => {
	const end = `-${session.slice(0, 8)}.jsonl`;
	return (name) => name.startsWith("session-") && name.endsWith(end);
};

/**
 * The ends of such files, and when the run began, epoch milliseconds → what it has used; null when they tell nothing of it. A message is written again when
 * its tools are done. `$set` repeats what is in the session, perhaps with new times, and tells nothing new.
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

/** A run that was broken off before it told a sum. */
export const withGeminiRecords = (reading: Reading, used: Used | null): Reading =>
	reading.total !== null || used === null ? reading : { ...reading, total: { scope: "process", used } };
