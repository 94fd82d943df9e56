// Patterns from outside: what they find, what is refused, and that the work grows only linearly with the text.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compilePattern } from "./pattern.ts";
import { PatternFault } from "./pattern-chars.ts";

const groupsOf = (pattern: string, text: string, options = {}) => compilePattern(pattern, options).exec(text)?.groups ?? null;

describe("a pattern", () => {
	test.each([
		["[A-Z]+-\\d{1,4}", "see ABC-1234x", "ABC-1234"],
		["a|ab", "ab", "a"],
		["a+?", "aaa", "a"],
		["(?:ab){2,3}", "abababab", "ababab"],
		["\\bword\\b", "a word here", "word"],
		["[^\\s]+$", "last one", "one"],
		["\\p{Lu}\\p{Ll}+", "see Straße", "Straße"],
		["\\u{1f600}.", "x😀😀", "😀😀"],
		["[\\]\\-x]+", "a]-x", "]-x"],
		["", "abc", ""],
	])("%s finds in %j: %j", (pattern, text, found) => {
		expect(groupsOf(pattern, text)?.[0]).toBe(found);
	});

	test("returns its groups, and undefined for a group that did not match", () => {
		expect(groupsOf("(\\d+)(?<unit>s|m)|(never)", "wait 35s")).toEqual(["35s", "35", "s", undefined]);
	});

	test("matches the whole text on request, whichever of its alternatives comes first", () => {
		const whole = compilePattern("a|ab", { whole: true });
		expect([whole.test("ab"), whole.test("a"), whole.test("abc"), whole.test("a\n")]).toEqual([true, true, false, false]);
	});

	test("searches first for words that every match contains: a text without them costs nothing", () => {
		for (const source of ["(?:a?){500}b", "(too many|over) requests", "x+yz(1|2)"])
			expect(compilePattern(source, { maxSteps: 0 }).exec("a".repeat(1000))).toBeNull();
		expect(compilePattern("(Too many|over) requests", { ignoreCase: true }).exec("TOO MANY REQUESTS", "too many requests")?.index).toBe(0);
	});

	test("ignores case on request", () => {
		expect(groupsOf("too many [a-z]+", "TOO MANY Requests", { ignoreCase: true })?.[0]).toBe("TOO MANY Requests");
	});

	test.each([
		["(?=a)", "look-around", 0],
		["(?<!a)b", "look-around", 0],
		["(a)\\1", "reference back", 3],
		["a**", "cannot be repeated", 3],
		["*a", "nothing to repeat", 0],
		["a{x}", "\\{", 1],
		["[a", "has no end", 0],
		["(a", "has no end", 0],
		["a)", "has no beginning", 1],
		["[z-a]", "out of order", 2],
		["a{5,2}", "out of order", 0],
		["a\\", "escapes nothing", 1],
		["\\q", "not known", 0],
		["\\p{Nothing}", "property", 0],
		["a{1001}", "more than 1000", 1],
		["a{1,100000}", "more than 1000", 1],
		["a{99999999999999999999,}", "more than 1000", 1],
		["(?i)a", "flags such as (?i) cannot be used", 0],
		["(?s-i:a)", "flags such as (?s-i) cannot be used", 0],
		["(?P<x>a)", "(?:…) groups without capturing", 0],
		["(?:(?:a{100}){100})", "too large", 0],
		["(".repeat(101), "nested", 100],
	])("%s is refused: %s", (pattern, words, at) => {
		const refuse = () => compilePattern(pattern);
		expect(refuse).toThrow(PatternFault);
		expect(refuse).toThrow(words);
		try {
			refuse();
		} catch (error) {
			if (words !== "nested") expect((error as PatternFault).at).toBe(at);
		}
	});

	test.each([
		["(a+)+", "a"],
		["(a|aa)+$", "a"],
		["(a*)*b", "a"],
		["(.*)(.*)(.*)(.*)x", "a"],
		["(?:a?){20}a{20}", "a"],
		["^(([a-z])+.)+[A-Z]([a-z])+$", "a"],
	])("%s does work that grows with the text, not faster", (pattern, letter) => {
		const texts = [500, 1000, 2000].map((length) => `${letter.repeat(length)}!bx`);
		const [short = 0, middle = 0, long = 0] = texts.map((text) => stepsOf(pattern, text));
		expect(middle).toBeLessThan(short * 2.1);
		expect(long).toBeLessThan(middle * 2.1);
	});

	test("refuses a text that is too long for it", () => {
		const pattern = compilePattern("(?:a?){500}b", { maxSteps: 10_000 });
		expect(() => pattern.test(`${"a".repeat(1000)}!b`)).toThrow(/too long \(1002 characters\)/);
	});

	test("matches the same texts at the same position as the language's own engine", () => {
		const char = fc.constantFrom("a", "b", ".", "[ab]", "[^a]", "\\w", "\\d", "c");
		const { pattern } = fc.letrec<{ pattern: string; atom: string }>((tie) => ({
			pattern: fc.array(tie("atom"), { minLength: 1, maxLength: 4 }).map((parts) => parts.join("")),
			atom: fc.oneof(
				{ depthSize: "small", withCrossShrink: true },
				char,
				fc.tuple(char, fc.constantFrom("*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "+?")).map(([one, sign]) => one + sign),
				fc.tuple(tie("pattern"), fc.constantFrom("", "*", "+", "?", "{1,2}")).map(([body, sign]) => `(${body})${sign}`),
				fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => `(?:${one}|${other})`),
				fc.constantFrom("^", "$", "\\b"),
			),
		}));
		fc.assert(
			fc.property(pattern, fc.string({ unit: fc.constantFrom("a", "b", "c", "1", " "), maxLength: 12 }), (source, text) => {
				expect(compilePattern(source).exec(text)?.index).toBe(new RegExp(source, "u").exec(text)?.index);
				expect(compilePattern(source, { whole: true }).test(text)).toBe(new RegExp(`^(?:${source})$`, "u").test(text));
			}),
			{ numRuns: 3000 },
		);
	});
});

/** The smallest budget of steps that suffices. */
function stepsOf(pattern: string, text: string): number {
	let [low, high] = [0, 4_000_000];
	while (low < high) {
		const middle = Math.floor((low + high) / 2);
		try {
			compilePattern(pattern, { maxSteps: middle }).test(text);
			high = middle;
		} catch {
			low = middle + 1;
		}
	}
	return low;
}
