// The recipes that come with Sluice: each can be read, and says how its agent can refuse and how it can ask.

import { describe, expect, test } from "vitest";
import { readRecipe } from "./recipe.ts";
import { SHIPPED } from "./shipped.ts";

const steps = Object.entries(SHIPPED).flatMap(([name, recipe]) =>
	readRecipe(recipe, name).steps.flatMap((step) =>
		step.template.prompt === undefined ? [] : [[name, step.name, step.template.prompt] as const],
	),
);

describe("each prompt says, by tool and by command,", () => {
	test.each(steps)("%s %s: how to fail and how to ask", (_recipe, _step, prompt) => {
		expect(prompt).toContain("run_fail");
		expect(prompt).toContain('sluice verdict fail "');
		expect(prompt).toContain("run_ask");
		expect(prompt).toContain('sluice verdict ask "');
		expect(prompt).not.toContain("End with a failure");
	});
});

test("a review's prompt has the report of the previous step", () => {
	const review = steps.find(([recipe, step]) => recipe === "implement-review-merge" && step === "review");
	expect(review?.[2]).toContain("{{after.implement.result}}");
});
