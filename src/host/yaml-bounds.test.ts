// YAML from outside: which limits apply, and which keys are duplicates.

import { describe, expect, test } from "vitest";
import { LineCounter, parseDocument } from "yaml";
import { flawsIn, readConfigText } from "../daemon/config/text.ts";
import { readRecipeText } from "../intake/recipe-book.ts";
import { MAX_LINES, MAX_TOKENS, parseYaml, repeatedKeys, YAML_OPTIONS } from "./yaml-bounds.ts";

const keysOf = (text: string) => repeatedKeys(parseDocument(text, YAML_OPTIONS).contents);
const lines = (count: number, line: (n: number) => string) => Array.from({ length: count }, (_, n) => line(n)).join("\n");

describe("duplicate keys", () => {
	test("are found in every map, with their places, in the order of the text", () => {
		expect(keysOf("a: 1\nb: {c: 1, c: 2}\nlist:\n  - d: 1\n    d: 2\na: 3\n")).toEqual([
			{ key: "c", offset: 15 },
			{ key: "d", offset: 40 },
			{ key: "a", offset: 45 },
		]);
	});

	test("are not keys of two maps, nor a number and its text", () => {
		expect(keysOf("a: {x: 1}\nb: {x: 1}\n1: one\n'1': text\n")).toEqual([]);
	});
});

describe("too much", () => {
	const SHAPES: [string, string][] = [
		["keys", lines(80_000, (n) => `k${n}: 1`)],
		["brackets", "[".repeat(400_000)],
		["braces", "{".repeat(400_000)],
		["commas", `[${"1,".repeat(200_000)}]`],
		["dashes", "- ".repeat(9_000)],
		["question marks", "? ".repeat(9_000)],
		["maps in maps", "{a: ".repeat(9_000)],
		["quotes", '"'.repeat(300_001)],
		["aliases", `a: &a 1\n${lines(80_000, (n) => `k${n}: *a`)}`],
		["aliases in a list with an alias", `[${lines(2_000, (n) => `&a${n} 1,`)}&l [${lines(2_000, (n) => `*a${n},`)}], *l]`],
		["anchors without a value", "&a ".repeat(300_000)],
		["tags without a value", "!!str ".repeat(150_000)],
		["empty tags", "! ".repeat(200_000)],
		["aliases without a place", "*a ".repeat(200_000)],
		["keys in a line", "a: b: ".repeat(150_000)],
		["lines of a text", `a: |+\n  x${"\n".repeat(900_000)}`],
	];
	test.each(SHAPES)("%s: refused before they are composed, by the configuration and by a recipe", (_, text) => {
		expect(parseYaml(text, new LineCounter(), 2_000_000).fault).toMatch(/limit is \d+$/);
		expect(() => readConfigText(text)).toThrow(/limit is/);
		expect(() => readRecipeText(text, "wild")).toThrow(/limit is/);
	});

	test("a text at the limit is read", () => {
		// A list of n values has n - 1 commas, two brackets, and the document's own token before them.
		const list = (tokens: number) => `[${"1,".repeat((tokens - 4) / 2)}1]`;
		expect(parseYaml(list(MAX_TOKENS), new LineCounter(), 1_000_000).fault).toBeNull();
		expect(parseYaml(list(MAX_TOKENS + 2), new LineCounter(), 1_000_000).fault).toMatch(/keys, values and marks/);
		expect(Object.keys(readConfigText(`${lines(10_000, (n) => `k${n}: 1`)}\n`).given)).toHaveLength(10_000);
	});

	const SENTENCE = '- A *sentence*, "quoted": [with] {all} & sundry! # and more.';
	test.each([
		["a block", `prompt: |\n${lines(13_000, () => `  ${SENTENCE}`)}\n`],
		["a quoted text", `prompt: ${JSON.stringify(`${SENTENCE}\n\tÄ "x" \\`.repeat(11_000))}\n`],
	])("a prompt of 800,000 characters as %s is read", (_, text) => {
		expect(text.length).toBeGreaterThan(800_000);
		const { fault, document } = parseYaml(text, new LineCounter(), 1_000_000);
		expect(fault).toBeNull();
		expect(document?.errors).toEqual([]);
	});

	test("a text has at most so many lines", () => {
		const block = (count: number) => `a: |\n${" x\n".repeat(count)}`;
		expect(parseYaml(block(MAX_LINES - 2), new LineCounter(), 1_000_000).fault).toBeNull();
		expect(parseYaml(block(MAX_LINES), new LineCounter(), 1_000_000).fault).toMatch(/too many lines/);
	});
});

describe("errors", () => {
	test.each([
		["escapes that are none", `a: "${"\\q".repeat(400_000)}"`],
		["half an escape", `a: "${"\\x".repeat(400_000)}"`],
		["characters beyond Unicode", `a: "${"\\U00110000".repeat(90_000)}"`],
		["directives", "%A\n".repeat(9_000)],
		["commas without values", `[${",".repeat(50_000)}]`],
		["ends without a document", `${"...\n".repeat(9_000)}`],
		["anchors", "&a ".repeat(20_000)],
	])("%s: only the first ones are reported", (_, text) => {
		const { document } = parseYaml(text, new LineCounter(), 1_000_000);
		expect(document?.errors.length).toBeGreaterThan(0);
		expect((document?.errors.length ?? 0) + (document?.warnings.length ?? 0)).toBeLessThanOrEqual(22);
		expect(() => readConfigText(text)).toThrow(/config\.yml:\d+:\d+: /);
		expect(flawsIn(text).length).toBeLessThanOrEqual(22);
	});

	test("a second document is one, and no third is composed", () => {
		expect(() => readConfigText("a: 1\n---\nb: 1\n")).toThrow("config.yml:2:1: more than one document");
		expect(() => readConfigText("---\n".repeat(20_000))).toThrow("more than one document");
	});
});
