// said.json: what is accepted, and what is not.

import { expect, test } from "vitest";
import { leftWordsText, MAX_LEFT_WORDS_BYTES, readLeftWords, withWord } from "./left-words.ts";
import { MAX_RESULT_BYTES, MAX_VERDICT_TEXT } from "./verdict.ts";

test("the last verdict and the last result are read as they were left", () => {
	const first = withWord({}, { verdict: "ask", text: "which?" });
	const second = withWord(withWord(first, { result: null }), { verdict: "fail", text: "no" });
	expect(readLeftWords(leftWordsText(second))).toEqual({ verdict: { verdict: "fail", text: "no" }, result: null });
	expect(readLeftWords(leftWordsText({}))).toEqual({});
});

test("the largest reports fit", () => {
	const words = withWord(withWord({}, { verdict: "fail", text: "𝄞".repeat(MAX_VERDICT_TEXT / 2) }), {
		result: "x".repeat(MAX_RESULT_BYTES - 2),
	});
	expect(new TextEncoder().encode(leftWordsText(words)).length).toBeLessThan(MAX_LEFT_WORDS_BYTES);
	expect(readLeftWords(leftWordsText(words))).toEqual(words);
});

test.each(["", "[]", "{", '{"verdict": "fail"}', '{"verdict": {"verdict": "no", "text": "x"}}'])("%s is refused", (text) => {
	expect(() => readLeftWords(text)).toThrow();
});
