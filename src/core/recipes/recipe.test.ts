// Recipes: read strictly, rendered strictly, routed by outcome.

import { describe, expect, test } from "vitest";
import { promptFor } from "./prompt-context.ts";
import { readRecipe } from "./recipe.ts";
import { renderRecipe } from "./render.ts";
import { SHIPPED } from "./shipped.ts";

const simple = (more: Record<string, unknown> = {}) => readRecipe({ command: ["echo", "{{word}}"], vars: { word: {} }, ...more }, "say");
const fault = (call: () => unknown): { message: string; field: unknown; hint: unknown } => {
	try {
		call();
	} catch (error) {
		const { message, field, hint } = error as { message: string; field: unknown; hint: unknown };
		return { message, field, hint };
	}
	throw new Error("was accepted");
};

describe("reading", () => {
	test("short and long forms of variables", () => {
		const { vars } = simple({ vars: { word: { about: "what to say", pattern: "[a-z]+" }, port: 80, note: { required: false } } });
		expect(vars).toEqual([
			{ name: "word", about: "what to say", required: true, default: null, pattern: "[a-z]+" },
			{ name: "port", about: "", required: false, default: "80", pattern: null },
			{ name: "note", about: "", required: false, default: null, pattern: null },
		]);
		expect(simple({ vars: [{ name: "word", default: "hi" }] }).vars).toMatchObject([{ name: "word", default: "hi", required: false }]);
	});
	test.each([
		["an unknown key", { promt: "x" }, "promt", 'did you mean "prompt"?'],
		["an undeclared variable", { title: "{{wrod}}" }, "title", "did you mean {{word}}?"],
		["a command as text", { command: "echo hi" }, "command", expect.stringContaining("no shell")],
		["nothing to run", { command: undefined }, "prompt", expect.stringContaining("prompt")],
		["command and prompt", { prompt: "x" }, "command", "leave one out"],
		["an unknown expect", { command: undefined, prompt: "x", expect: "nothing" }, "expect", undefined],
		["expect of a command", { expect: "none" }, "expect", "leave it out"],
		["allow of a command", { allow: ["npm test"] }, "allow", "leave it out"],
		[
			"expect of a command step",
			{ command: undefined, steps: { a: { command: ["x"], expect: "none" } } },
			"steps.a.expect",
			"leave it out",
		],
		[
			"an unknown expect of a step",
			{ command: undefined, steps: { a: { prompt: "x", expect: "chang" } } },
			"steps.a.expect",
			'did you mean "change"?',
		],
		["an allow that is no list", { command: undefined, prompt: "x", allow: "npm test" }, "allow", undefined],
		["a misspelt permission", { command: undefined, prompt: "x", permission: "fulll" }, "permission", 'did you mean "full"?'],
		["a pattern that is none", { vars: { word: { pattern: "(" } } }, "vars.word.pattern", "at character 1 of ("],
		["a default that does not fit", { vars: { word: { pattern: "a", default: "b" } } }, "vars.word.default", undefined],
		["a built-in name", { vars: { word: {}, item: {} } }, "vars.item", expect.stringContaining("item")],
		["an unknown step", { command: undefined, steps: [{ name: "a", command: ["x"], after: ["mend"] }] }, "steps.a.after[0]", "known: a"],
		[
			"a step twice",
			{
				command: undefined,
				steps: [
					{ name: "a", command: ["x"] },
					{ name: "a", command: ["x"] },
				],
			},
			"steps.a",
			undefined,
		],
		[
			"a circle",
			{ command: undefined, steps: { a: { command: ["x"], after: "b" }, b: { command: ["x"], after: "a" } } },
			"steps",
			expect.any(String),
		],
		[
			"a route to itself",
			{ command: undefined, steps: { a: { command: ["x"], on: { failed: "a" } } } },
			"steps.a.on.failed",
			expect.any(String),
		],
	])("%s is refused, with field and hint", (_, more, field, hint) => {
		expect(fault(() => simple(more as Record<string, unknown>))).toMatchObject({ field, hint });
	});
	test("every shipped recipe is valid", () => {
		for (const [name, recipe] of Object.entries(SHIPPED)) expect(readRecipe(recipe, name).steps.length).toBeGreaterThan(0);
	});
});

describe("rendering", () => {
	test("values are inserted unchanged, and are not scanned again", () => {
		const [one] = renderRecipe(simple(), { vars: { word: "$(rm -rf) {{item}} \"'" }, built: {} });
		expect(one?.job.command).toEqual(["echo", "$(rm -rf) {{item}} \"'"]);
	});
	test.each([
		["missing", {}, "vars.word", "give --var word=…"],
		["unknown", { word: "a", wrod: "b" }, "vars.wrod", 'did you mean "word"?'],
	])("a variable that is %s is an error", (_, vars, field, hint) => {
		expect(fault(() => renderRecipe(simple(), { vars, built: {} }))).toMatchObject({ field, hint });
	});
	test("a pattern that would block a backtracking engine is matched, and a value too long for any pattern is refused", () => {
		const greedy = { pattern: "(a+)+" };
		expect(() => simple({ vars: { word: { ...greedy, default: `${"a".repeat(60)}!` } } })).toThrow(/does not fit word's pattern/);
		expect(simple({ vars: { word: { ...greedy, default: "a".repeat(2000) } } }).vars).toMatchObject([{ name: "word" }]);
		expect(() => simple({ vars: { word: { ...greedy, default: "a".repeat(2001) } } })).toThrow(/longer than 2000 characters/);
	});

	test("a value that does not match its pattern", () => {
		const recipe = simple({ vars: { word: { pattern: "[a-z]+" } } });
		expect(fault(() => renderRecipe(recipe, { vars: { word: "A1" }, built: {} }))).toMatchObject({ field: "vars.word" });
	});
	test("a built-in variable without a value", () => {
		const work = readRecipe(SHIPPED.work, "work");
		expect(fault(() => renderRecipe(work, { vars: {}, built: {} }))).toMatchObject({
			field: "title",
			hint: expect.stringContaining("--item"),
		});
		const [one] = renderRecipe(work, { vars: {}, built: { item: "gt-1", title: "T", text: "body" } });
		expect(one?.job.prompt).toMatch(/^Work on gt-1: T\n\nbody\n\n[^{}]+\{\{testing\}\}[^{}]+$/);
	});
	test("args go to their placeholder, or come last; escaped braces stay", () => {
		const with_ = readRecipe({ agent: "a", prompt: "x {{args}} \\{{y}}" }, "r");
		const without = readRecipe({ agent: "a", prompt: "x" }, "r");
		const given = { vars: {}, built: { args: "now" } };
		expect([with_, without].map((one) => renderRecipe(one, given)[0]?.job.prompt)).toEqual(["x now {{y}}", "x\n\nnow"]);
	});
	test("placeholders for earlier attempts are filled in when a run starts; text from outside is not scanned again", () => {
		const recipe = readRecipe({ agent: "a", prompt: "{{text}} {{prior}} \\{{answer}} {{ last_error }}" }, "r");
		const [one] = renderRecipe(recipe, { vars: {}, built: { text: "say {{answer}} and {{x}}", args: "{{prior}}" } });
		expect(one?.job.prompt).toBe("say \\{{answer}} and {{x}} {{prior}} \\{{answer}} {{ last_error }}\n\n\\{{prior}}");
		const told = { attempt: 1, past: null, branch: null, asked: null, answer: null, left: null, verify: null };
		expect(promptFor(one?.job.prompt ?? "", "template", told)).toBe("say {{answer}} and {{x}}  {{answer}} \n\n{{prior}}");
		expect(fault(() => readRecipe({ command: ["echo", "{{last_error}}"] }, "r"))).toMatchObject({
			field: "command[1]",
			hint: expect.stringContaining("SLUICE_PRIOR_FILE"),
		});
		expect(fault(() => readRecipe({ agent: "a", prompt: "x", vars: { answer: "1" } }, "r"))).toMatchObject({ field: "vars.answer" });
	});
	test("results of earlier steps: by their names, only in prompts; text from outside is not scanned again", () => {
		const steps = (prompt: string, more = {}) => ({
			steps: { plan: { agent: "a", prompt: "p" }, "build.all": { agent: "a", prompt, ...more } },
		});
		const recipe = readRecipe(steps("{{text}}: {{after.plan.result.x}} \\{{after.plan.result}}"), "r");
		const [, built] = renderRecipe(recipe, { vars: {}, built: { text: "read {{after.plan.result}}" } });
		expect(built?.job.prompt).toBe("read \\{{after.plan.result}}: {{after.plan.result.x}} \\{{after.plan.result}}");
		expect(fault(() => readRecipe(steps("{{after.paln.result}}"), "r"))).toMatchObject({
			field: "steps.build.all.prompt",
			hint: expect.stringContaining("did you mean {{after.plan.result}}?"),
		});
		expect(fault(() => readRecipe({ command: ["echo", "{{after.plan.result}}"] }, "r"))).toMatchObject({
			field: "command[1]",
			hint: expect.stringContaining("sluice show NAME --json"),
		});
		const three = { plan: { agent: "a", prompt: "p" }, build: { agent: "a", prompt: "b" } };
		expect(fault(() => readRecipe({ steps: { ...three, last: { agent: "a", prompt: "{{after.plan.result}}" } } }, "r"))).toMatchObject({
			field: "steps.last.prompt",
			message: expect.stringContaining('comes after "plan", but not directly'),
			hint: expect.stringContaining("put plan under after, too: after: [build, plan]"),
		});
		// A step without earlier steps may use what its caller provides.
		readRecipe({ agent: "a", prompt: "{{after.anything.result}}" }, "r");
	});
});

describe("steps", () => {
	const edges = (steps: unknown, more = {}) =>
		Object.fromEntries(
			readRecipe({ steps, ...more }, "r").steps.map(({ name, after }) => [name, after.map(({ step, policy }) => `${step}:${policy}`)]),
		);
	const run = { command: ["x"] };
	test("come after the previous step, unless they say otherwise", () => {
		expect(edges({ a: run, b: run, c: { ...run, after: ["a", "b:merged"] }, d: { ...run, after: [] } })).toEqual({
			a: [],
			b: ["a:success"],
			c: ["a:success", "b:merged"],
			d: [],
		});
	});
	test("a failure leads to the step it names, and to nothing else", () => {
		expect(edges({ build: { ...run, on: { failed: "mend" } }, mend: run, ship: run })).toEqual({
			build: [],
			mend: ["build:failure"],
			ship: ["build:success"],
		});
	});
	test("share the recipe's fields", () => {
		const { steps } = readRecipe({ agent: "a", lane: "l", steps: { one: { prompt: "p" }, two: { command: ["c"], lane: "m" } } }, "r");
		expect(steps.map(({ template }) => template)).toEqual([
			{ agent: "a", lane: "l", prompt: "p" },
			{ lane: "m", command: ["c"] },
		]);
	});
});
