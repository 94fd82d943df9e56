// Last lines, and what is cut out of them.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lastLine, MESSAGE_MAX, oneLine } from "./storable.ts";

describe("the last line", () => {
	test.each([
		["", ""],
		["one", "one"],
		["one\ntwo\n", "two"],
		["one\n \t\n\n", "one"],
		["50%\r75%\r100%", "100%"],
		["\u001b[1;31merror\u001b[0m: \u001b]8;;http://x\u0007link\u001b]8;;\u0007\n", "error: link"],
		["a\u0000b\u0007c", "a b c"],
		["sluice: there is no job 7\n  sluice list shows the jobs\n", "sluice: there is no job 7"],
		["\u001b[31merror\u001b[0m: bad\n\u001b[2m  try this\u001b[0m\n\n", "error: bad"],
		["Exception in thread main\n\tat a.b(C.java:1)\n\tat a.c(C.java:2)\n", "Exception in thread main"],
		["  one\n  two\n", "two"],
	])("of %j is %j", (text, line) => {
		expect(lastLine(text)).toBe(line);
	});

	test("is short, a single line and storable, whatever was written", () => {
		fc.assert(
			fc.property(fc.string({ unit: "binary", maxLength: 700 }), (text) => {
				const line = oneLine(text);
				expect(line.length).toBeLessThanOrEqual(MESSAGE_MAX);
				// biome-ignore lint/suspicious/noControlCharactersInRegex: these must be gone
				expect(line).not.toMatch(/[\u0000-\u001f\u007f]/);
				expect(Buffer.from(line).toString()).toBe(line);
			}),
		);
	});
});
