// Patterns of the configuration: they match like regular expressions, refuse what would need steps back, and never take long.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { patternOf } from "./pattern.ts";
import type { PatternError } from "./pattern-syntax.ts";

const on = (pattern: string, line: string) => {
	const found = patternOf(pattern).on(line);
	return found === null ? null : [found.text, ...found.groups];
};

describe("matches", () => {
	test.each([
		["429|rate limit", "HTTP 429 here", ["429"]],
		["429|rate limit", "Rate Limit exceeded", ["Rate Limit"]],
		["retry in (\\d+)s", "please Retry in 30s.", ["Retry in 30s", "30"]],
		["resets at (.+)$", "it resets at 10:05 PM (UTC)", ["resets at 10:05 PM (UTC)", "10:05 PM (UTC)"]],
		[
			"Tokens: ([\\d.,]+k?) sent,.* ([\\d.,]+k?) received",
			"Tokens: 4.5k sent, 1k cache hit, 431 received.",
			["Tokens: 4.5k sent, 1k cache hit, 431 received", "4.5k", "431"],
		],
		["^a(b)?c$", "ac", ["ac", undefined]],
		["\\bcat\\b", "concatenate", null],
		["[^a-c]{2,3}?", "abxyz", ["xy"]],
		["(?:ab)+", "xababab", ["ababab"]],
		["\\$([\\d.]+)", "Cost: $0.0042 message", ["$0.0042", "0.0042"]],
		["[A-Z]{3}", "abc", ["abc"]],
		["usage limit", "nothing of the kind", null],
	])("%s on %s", (pattern, line, expected) => {
		expect(on(pattern, line)).toEqual(expected);
	});

	test("like a regular expression that disregards case, on whatever text", () => {
		const part = fc.constantFrom(
			"a",
			"b",
			".",
			"[ab]",
			"[^a]",
			"\\d",
			"\\w",
			"\\s",
			"x?",
			"a*",
			"b+",
			"(a|bc)",
			"(?:ab)*",
			"(b)",
			"a{1,2}",
			"^",
			"$",
			"\\b",
			"|",
			"a*?",
			"(a*)+",
			"1",
		);
		const text = fc.array(fc.constantFrom("a", "b", "c", "A", "1", " ", "x", "-"), { maxLength: 14 }).map((letters) => letters.join(""));
		fc.assert(
			fc.property(fc.array(part, { minLength: 1, maxLength: 7 }), text, (parts, line) => {
				const source = parts.join("");
				const found = patternOf(source).on(line);
				const expected = new RegExp(source, "i").exec(line);
				expect(found?.text).toBe(expected?.[0]);
				// Of a group that is repeated, engines differ in what an empty time leaves behind.
				if (!/\)[*+{]/.test(source)) expect(found?.groups).toEqual(expected === null ? undefined : [...expected].slice(1));
			}),
			{ numRuns: 2000 },
		);
	});
});

describe("refuses, and says where", () => {
	test.each([
		["(a)\\1", 4, /back reference/],
		["a(?=b)", 2, /look-around/],
		["(?<name>x)", 1, /names/],
		["(?i)x", 1, /flags/],
		["a(b", 2, /has no "\)"/],
		["a)b", 2, /has no "\("/],
		["[ab", 1, /has no "\]"/],
		["*a", 1, /repeats nothing/],
		["a**", 3, /repeats a repetition/],
		["^*", 2, /repeats nothing/],
		["\\p{L}", 1, /cannot be used; known are/],
		["a\\", 2, /lone/],
		["", 1, /empty/],
		["a{5,2}", 2, /smaller number/],
		["(((a{100}){100}){100})", 1, /too many/],
		["x".repeat(501), 500, /longer than 500/],
	])("%s", (source, at, message) => {
		expect(() => patternOf(source)).toThrow(message);
		try {
			patternOf(source);
		} catch (error) {
			expect((error as PatternError).at).toBe(at);
		}
	});
});

test("time grows with the line, not with what a pattern could mean", () => {
	// Each of these takes a matcher that steps back longer than anybody waits: the test would not end.
	const line = `${"a".repeat(4000)}=x`;
	for (const source of ["(a+)+=$", "(a|a)*=$", "(a|aa)+=$", "(.*)*=$", ".*.*.*.*.*=.=$", "(\\w+\\s?)*=$"])
		expect(patternOf(source).on(line)).toBeNull();
});
