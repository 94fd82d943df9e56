// Results of earlier jobs in prompts: which placeholders count, what is inserted, what is refused.

import { describe, expect, test } from "vitest";
import { fillPlaces, placesIn, type ResultSource, refusePlaces, renamePlaces, withoutPlaces } from "./after-result.ts";
import { type PromptContext, promptFor } from "./prompt-context.ts";

const source = (job: number, name: string | null, result: unknown): ResultSource => ({
	job,
	name,
	result: result === undefined ? null : JSON.stringify(result),
});
const SOURCES = [
	source(3, "plan", { steps: ["a", "b"], summary: "do {{after.plan.result}} and {{prior}}", "n.o": 1 }),
	source(4, "bd-1.review.9", "plain words"),
	source(5, "quiet", undefined),
	source(6, null, 42),
];

describe("filling in", () => {
	test.each([
		["{{after.plan.result.steps}}", '["a","b"]'],
		["{{ after.plan.result.steps.1 }}", "b"],
		["{{after.bd-1.review.9.result}}", "plain words"],
		["{{after.6.result}}", "42"],
		["{{after.3.result.steps.0}}", "a"],
		["{{after.quiet.result}}", "(job quiet left no result)"],
		["{{after.quiet.result.key}}", "(job quiet left no result)"],
		["{{after.plan.result.none.at.all}}", "(the result of job plan has no none.at.all)"],
		["{{after.plan.result.constructor}}", "(the result of job plan has no constructor)"],
		["\\{{after.plan.result}}", "{{after.plan.result}}"],
		["\\\\{{after.plan.result}}", "\\{{after.plan.result}}"],
		["{{after.stranger.result}}", "{{after.stranger.result}}"],
		["{{plan}} {{ github.ref }} {after.plan.result}", "{{plan}} {{ github.ref }} {after.plan.result}"],
	])("%s → %s", (prompt, filled) => expect(fillPlaces(prompt, SOURCES)).toBe(filled));

	test("inserted text is not scanned again, in a text or in a recipe's prompt", () => {
		const literal = "do {{after.plan.result}} and {{prior}}";
		expect(fillPlaces("{{after.plan.result.summary}}", SOURCES)).toBe(literal);
		const promptContext: PromptContext = {
			attempt: 1,
			past: null,
			branch: null,
			asked: null,
			answer: null,
			left: null,
			verify: null,
			results: SOURCES,
		};
		expect(promptFor("{{after.plan.result.summary}}", "text", promptContext)).toBe(literal);
		expect(promptFor("{{attempt}}: {{after.plan.result.summary}}", "template", promptContext)).toBe(`1: ${literal}`);
	});

	test("of two jobs with one name the newer one counts", () => {
		expect(fillPlaces("{{after.x.result}}", [source(1, "x", "old"), source(9, "x", "new")])).toBe("new");
	});
});

describe("text from outside", () => {
	test.each(["{{after.plan.result}}", "\\{{after.plan.result}}", "a {{after.x}} b", "{{other}}"])("%s comes out as it went in", (text) => {
		expect(placesIn(withoutPlaces(text))).toEqual([]);
		expect(fillPlaces(withoutPlaces(text), SOURCES)).toBe(text);
	});
});

describe("refusing", () => {
	test.each([
		["{{after.plna.result}}", ["plan"], 'does not come after "plna"', "did you mean {{after.plan.result}}?"],
		["{{after.build.result.x}}", [], 'does not come after "build"', "--after build"],
		["{{after.build.result}}", ["deploy-everything", 7], 'does not come after "build"', "it comes after: deploy-everything, 7"],
		["{{after.plan}}", ["plan"], "is not how a result is asked for", "{{after.NAME.result}}"],
		["{{after.plan.result.}}", ["plan"], "names no member after its last dot", "{{after.plan.result}}"],
		["{{after.plan.result..x}}", ["plan"], "has two dots in a row", "{{after.plan.result.x}}"],
		["{{after.plan.results}}", ["plan"], "is not how a result is asked for", "\\{{after."],
	] as [string, (string | number)[], string, string][])("%s", (prompt, known, message, hint) => {
		try {
			refusePlaces(prompt, known, "prompt");
		} catch (error) {
			expect(error).toMatchObject({ code: "invalid", field: "prompt", message: expect.stringContaining(message) });
			expect((error as { hint: string }).hint).toContain(hint);
			return;
		}
		expect.unreachable("it was not refused");
	});

	test("accepts known and escaped placeholders, and other braces", () => {
		refusePlaces("{{after.7.result}} {{after.plan.result.a.b}} \\{{after.x.result}} {{x}} {after.y.result}", [7, "plan"], "prompt");
	});
});

test("steps become jobs", () => {
	const names = new Map([
		["plan", "bd-1.plan.4"],
		["plan.more", "bd-1.plan.more.4"],
	]);
	expect(renamePlaces("{{after.plan.result.k}} {{after.plan.more.result}} \\{{after.plan.result}} {{after.z.result}}", names)).toBe(
		"{{after.bd-1.plan.4.result.k}} {{after.bd-1.plan.more.4.result}} \\{{after.plan.result}} {{after.z.result}}",
	);
});
