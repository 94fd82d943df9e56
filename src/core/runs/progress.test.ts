// Texts of a live run, made safe to show: whatever an agent prints, one short line comes of it.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lastShownLine, shownLine } from "./progress.ts";

describe("a line that is shown", () => {
	test.each([
		["colours and titles go", "\u001b[31mred\u001b[0m \u001b]0;title\u0007plain", "red plain"],
		["an open sequence goes with its text", "a\u001b]52;c;c2VjcmV0", "a"],
		["line ends become spaces", "one\r\ntwo\n\nthree", "one two three"],
		["directions and zero widths go", "user\u202etxt.exe\u200b\u2066x", "usertxt.exex"],
		["half a character is replaced", "a\ud800b", "a\ufffdb"],
		["blank is none", " \u001b[0m\u200b\n", null],
	])("%s", (_name, text, shown) => {
		expect(shownLine(text)).toBe(shown);
	});

	test("ten megabytes become 500 characters", () => {
		expect(shownLine("\u001b[31mx".repeat(2_000_000))).toHaveLength(500);
	});

	test("of any text, it has no control character and no more than 500 characters", () => {
		fc.assert(
			fc.property(fc.string({ unit: "binary", maxLength: 2000 }), (text) => {
				const shown = shownLine(text) ?? "x";
				// biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
				expect(shown).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/);
				expect(shown.length).toBeGreaterThan(0);
				expect(shown.length).toBeLessThanOrEqual(500);
			}),
		);
	});
});

test("the last line: a bar that a program draws again and again counts as its latest state", () => {
	expect(lastShownLine("compiling\n 10 %\r 50 %\r 90 %\r")).toBe("90 %");
	expect(lastShownLine("412 passed\n\n\u001b[0m\n")).toBe("412 passed");
	expect(lastShownLine("\n")).toBeNull();
});
