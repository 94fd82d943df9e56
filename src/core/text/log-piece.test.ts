// Where a part of a log may end.

import fc from "fast-check";
import { expect, test } from "vitest";
import { wholeLetters } from "./log-piece.ts";

test("text cut anywhere is joined again without damage", () => {
	fc.assert(
		fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 4, max: 9 }), (text, limit) => {
			const bytes = Buffer.from(text);
			let whole = "";
			for (let at = 0; at < bytes.length; ) {
				const part = bytes.subarray(at, at + limit);
				const size = wholeLetters(part);
				expect(size).toBeGreaterThan(0);
				whole += new TextDecoder().decode(part.subarray(0, size));
				at += size;
			}
			expect(whole).toBe(text.replace(/^\ufeff/, ""));
		}),
	);
});

test("bytes that are not text do not block the reader forever", () => {
	expect(wholeLetters(new Uint8Array([0x80, 0x80, 0x80, 0x80]))).toBe(4);
	expect(wholeLetters(new Uint8Array([0xff, 0xff]))).toBe(1);
	expect(wholeLetters(new Uint8Array([]))).toBe(0);
});
