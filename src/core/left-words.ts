// What a run leaves in `said.json` of its folder while its daemon is away: the last verdict and the last result. Pure: the text of that file, read and made.

import * as check from "./check.ts";
import { type RunVerdict, readResult, readVerdict } from "./verdict.ts";

/** `result`: any JSON; absent where the run reported none. */
export type LeftWords = { verdict?: Omit<RunVerdict, "at">; result?: unknown };

export const LEFT_WORDS_FILE = "said.json";
/** Bytes. A verdict and a result of the largest size fit, with every character escaped. */
export const MAX_LEFT_WORDS_BYTES = 262_144;

/** Throws an error in words where the text is not one of ours. */
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

/** The file with one word more; the last verdict and the last result count. Throws what the daemon would refuse the word with. */
export function withWord(before: LeftWords, word: { verdict: unknown; text?: unknown } | { result: unknown }): LeftWords {
	if ("result" in word) {
		readResult(word.result);
		return { ...before, result: word.result };
	}
	return { ...before, verdict: readVerdict(word.verdict, word.text) };
}

export const leftWordsText = (words: LeftWords): string => `${JSON.stringify({ version: 1, ...words })}\n`;
