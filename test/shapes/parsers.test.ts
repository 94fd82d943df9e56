// Hostile shapes for every parser of text from outside. Each is fed with n, 2n and 4n of a shape, and the steps are counted: they grow with the text and no faster, or
// the text is refused with few steps.

import { describe, expect, test } from "vitest";
import { readConfigText } from "../../src/daemon/config/text.ts";
import { readRecipeText } from "../../src/intake/recipe-book.ts";
import { growth, stepsOf } from "./counter.ts";
import { AGENT_SHAPES, OTHER_SHAPES, RPC_SHAPES, type Shape, TEMPLATE_SHAPES, YAML_SHAPES } from "./shapes.ts";

/** Twice the text: twice the steps, and something for what does not grow. */
const FACTOR = 2.4;
const BESIDES = 5_000;

function mustBeBounded({ n, work, ends = /^done$/ }: Shape): void {
	const found = growth(n, work);
	const [once, twice, four] = found.map(({ steps }) => steps) as [number, number, number];
	for (const { end } of found) expect(end).toMatch(ends);
	const counted = `${once}, ${twice}, ${four} steps`;
	expect(twice, counted).toBeLessThan(FACTOR * once + BESIDES);
	expect(four, counted).toBeLessThan(FACTOR * twice + BESIDES);
}

describe.each([
	["JSON of a call", RPC_SHAPES],
	["YAML", YAML_SHAPES],
	["templates and manifests", TEMPLATE_SHAPES],
	["agents' streams", AGENT_SHAPES],
	["the rest", OTHER_SHAPES],
])("%s: the steps grow with the text and no faster", (_, shapes) => {
	test.each(shapes.map((shape): [string, Shape] => [shape.name, shape]))("%s", (_name, shape) => mustBeBounded(shape));
});

describe("YAML made of its own marks, as long as it may be", () => {
	// Each mark alone, with a blank, with a line, and as people write it.
	const MARKS = [..."-?:,[]{}#&*!|>'\"%@`\\~ \t\n\r\ufeffa1"];
	const PIECES = [
		...MARKS,
		...MARKS.map((mark) => `${mark} `),
		...MARKS.map((mark) => `${mark}\n`),
		..."&a |*a |!!str |a: |- |? |: |---\n|...\n|%A\n|a: |\n|a: >\n|\\q|\\u0041|''|[]|{}".split("|"),
	];
	// About 0.2 s of an idle machine.
	const MAX_STEPS = 25_000_000;

	/** The few pieces of one text, so that it has long runs of the same. */
	function textOf(seed: number): string {
		let state = seed;
		const below = (n: number) => {
			state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
			return Math.floor((state / 2 ** 32) * n);
		};
		const some = Array.from({ length: 1 + below(4) }, () => PIECES[below(PIECES.length)]);
		const begin = ["", "a: ", "[", "{a: ", 'a: "', "a: |\n  ", "- "][below(7)];
		let text = begin as string;
		const run = Array.from({ length: 500 }, () => some[below(some.length)]).join("");
		while (text.length + run.length < 1_000_000) text += run;
		return text;
	}

	test.each(Array.from({ length: 40 }, (_, n) => n + 1))("text %i", (seed) => {
		const text = textOf(seed);
		for (const read of [() => readConfigText(text), () => readRecipeText(text, "wild")]) {
			const { steps, end } = stepsOf(read);
			expect(end).toMatch(/^(?:done|limit|invalid|unknown_key)$/);
			expect(steps, JSON.stringify(text.slice(0, 80))).toBeLessThan(MAX_STEPS);
		}
	});
});
