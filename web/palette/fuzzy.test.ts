// How fuzzy search ranks and marks texts.

import { expect, test } from "vitest";
import { fitOf, wordsOf } from "./fuzzy.ts";

const best = (query: string, texts: string[]) =>
	texts
		.map((text) => ({ text, found: fitOf(wordsOf(query), text) }))
		.filter(({ found }) => found !== null)
		.sort((a, b) => (b.found?.score ?? 0) - (a.found?.score ?? 0))
		.map(({ text }) => text);

test("whole words come first, then beginnings, then the inside of words, then first letters", () => {
	expect(best("pau", ["Unpaused since", "Pause lane code", "pau"])).toEqual(["pau", "Pause lane code", "Unpaused since"]);
	expect(best("plc", ["Pause lane code", "place", "Resume"])).toEqual(["Pause lane code"]);
	expect(best("rtfl", ["Retry flaky upload"])).toEqual([]);
});

test("every word must be found, in any order, and its letters are marked once", () => {
	expect(fitOf(["code", "pause"], "Pause lane code")?.marks).toEqual([
		[0, 5],
		[11, 15],
	]);
	expect(fitOf(["lane", "lan"], "Pause lane code")?.marks).toEqual([[6, 10]]);
	expect(fitOf(["docs", "pause"], "Pause lane code")).toBeNull();
});

test("letters whose lower case is longer do not shift the marks", () => {
	expect(fitOf(["x"], "İİ x")).toMatchObject({ marks: [] });
});

test("a megabyte of hostile text takes no time", () => {
	expect(fitOf(["aab"], "a".repeat(1_000_000))).toBeNull();
});
