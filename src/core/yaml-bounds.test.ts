// YAML from outside: what is too much of it, and which keys stand twice.

import { describe, expect, test } from "vitest";
import { parseDocument } from "yaml";
import { readConfigText } from "../daemon/config-text.ts";
import { readRecipeText } from "../intake/recipe-book.ts";
import { MAX_MARKS, repeatedKeys, YAML_OPTIONS, yamlFault } from "./yaml-bounds.ts";

const keysOf = (text: string) => repeatedKeys(parseDocument(text, YAML_OPTIONS).contents);
const lines = (count: number, line: (n: number) => string) => Array.from({ length: count }, (_, n) => line(n)).join("\n");

describe("keys that stand twice", () => {
	test("are found in every map, with their places, in the order of the text", () => {
		expect(keysOf("a: 1\nb: {c: 1, c: 2}\nlist:\n  - d: 1\n    d: 2\na: 3\n")).toEqual([
			{ key: "c", offset: 15 },
			{ key: "d", offset: 40 },
			{ key: "a", offset: 45 },
		]);
	});

	test("are not those of two maps, nor a number and its text", () => {
		expect(keysOf("a: {x: 1}\nb: {x: 1}\n1: one\n'1': text\n")).toEqual([]);
	});
});

describe("too much", () => {
	const SHAPES: [string, string][] = [
		["keys", lines(80_000, (n) => `k${n}: 1`)],
		["documents", "---\n".repeat(200_000)],
		["brackets", "[".repeat(400_000)],
		["braces", "{".repeat(400_000)],
		["commas", `[${"1,".repeat(200_000)}]`],
		["quotes", '"'.repeat(300_001)],
		["aliases", `a: &a 1\n${lines(80_000, (n) => `k${n}: *a`)}`],
	];
	test.each(SHAPES)("%s: refused before they are parsed, by the configuration and by a recipe", (_, text) => {
		expect(yamlFault(text, 2_000_000)).toMatch(/lines, brackets, commas and quotes; the limit is 50000/);
		expect(() => readConfigText(text)).toThrow(/limit is 10000/);
		expect(() => readRecipeText(text, "wild")).toThrow(/limit is/);
	});

	test("a text at the limit is read", () => {
		expect(yamlFault("\n".repeat(MAX_MARKS), 1_000_000)).toBeNull();
		expect(Object.keys(readConfigText(`${lines(10_000, (n) => `k${n}: 1`)}\n`).given)).toHaveLength(10_000);
	});

	test("prose of a long prompt is no matter", () => {
		expect(yamlFault(`prompt: |\n${lines(10_000, () => "  A sentence, and another one.")}`, 1_000_000)).toBeNull();
	});
});
