// What a run writes to `said.json` in its folder while the daemon is down: its last verdict and last result. Pure: reads and makes the text of that file.

import * as check from "../input/check.ts";
import { type RunVerdict, readResult, readVerdict } from "./verdict.ts";

/** `result`: any JSON; absent if the run reported none. */
export type LeftWords = { verdict?: Omit<RunVerdict, "at">; result?: unknown };

export const LEFT_WORDS_FILE = "said.json";
/** Maximum bytes. A verdict and a result of maximum size fit, with every character escaped. */
export const MAX_LEFT_WORDS_BYTES = 262_144;

/** Throws an error with a message if the text is not ours. */
export function readLeftWords(text: string): LeftWords {
	const { verdict, result } = check.record(JSON.parse(text), LEFT_WORDS_FILE);
	const words: LeftWords = {};
	if (verdict !== undefined) {
		const given = check.record(verdict, "verdict");
		words.verdict = readVerdict(given.verdict, given.text);
	}
	if (result !== undefined) {
		readResult(result);
		words.result = result;
	}
	return words;
}

/** The file with one more report; the last verdict and the last result count. Throws the error with which the daemon would refuse the report. */
export function withWord(before: LeftWords, word: { verdict: unknown; text?: unknown } | { result: unknown }): LeftWords {
	if ("result" in word) {
		readResult(word.result);
		return { ...before, result: word.result };
	}
	return { ...before, verdict: readVerdict(word.verdict, word.text) };
}

export const leftWordsText = (words: LeftWords): string => `${JSON.stringify({ version: 1, ...words })}\n`;
