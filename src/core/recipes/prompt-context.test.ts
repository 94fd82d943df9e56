// What a prompt says about earlier attempts.

import { describe, expect, test } from "vitest";
import { asText, lastLines, type PromptContext, promptFor } from "./prompt-context.ts";

const FIRST: PromptContext = { attempt: 1, past: null, branch: null, asked: null, answer: null, left: null, verify: null };
const AGAIN: PromptContext = {
	attempt: 3,
	past: { attempt: 2, exit_kind: "failed", message: "2 tests failed", tail: "FAIL a\nFAIL b" },
	branch: "sluice/x-7",
	asked: null,
	answer: null,
	left: null,
	verify: null,
};

describe("a prompt", () => {
	test("of a first attempt is as it was", () => {
		expect(promptFor("do {{prior}} it", "text", FIRST)).toBe("do {{prior}} it");
		expect(promptFor("do it\n\n{{prior}}", "template", FIRST)).toBe("do it");
	});

	test("of a later attempt says how the last one ended, where its work is, and what it wrote", () => {
		expect(promptFor("do it", "text", AGAIN)).toBe(`do it

This is attempt 3 at this task. Attempt 2 failed: 2 tests failed. What it did is on branch sluice/x-7, in this folder. See what is there already before you begin.

The end of what it wrote:
    FAIL a
    FAIL b`);
	});

	test("after an interruption does not call that an error", () => {
		const past = { attempt: 1, exit_kind: "rate_limited", message: "429", tail: "x" } as const;
		expect(promptFor("do it", "text", { ...FIRST, attempt: 2, past, left: "it starts on another account" })).toBe(
			"do it\n\nThis is attempt 2 at this task. Attempt 1 was stopped by a limit of its account. You do not have its memory (it starts on another account). See what is there already before you begin.",
		);
	});

	test("has the question and the person's answer", () => {
		const past = { attempt: 1, exit_kind: "needs_human", message: null, tail: "" } as const;
		const told = promptFor("do it", "text", { ...FIRST, attempt: 2, past, asked: "red or blue?", answer: "blue" });
		expect(told).toContain("Attempt 1 asked for a person.\n\nIt asked a person:\nred or blue?\nThe answer:\nblue");
		// After a crash the answer is still in the prompt.
		expect(promptFor("do it", "text", { ...AGAIN, answer: "blue" })).toContain("A person was asked, and answered:\nblue");
	});

	test("of a recipe has them at its placeholders", () => {
		const template = "try {{attempt}} on {{ prior_branch }}: {{last_error}}\n{{log_tail}}\n{{question}}{{answer}}";
		expect(promptFor(template, "template", AGAIN)).toBe("try 3 on sluice/x-7: 2 tests failed\nFAIL a\nFAIL b");
		expect(promptFor("no place", "template", AGAIN)).toMatch(/^no place\n\nThis is attempt 3/);
	});

	test("has the answer also without a placeholder, or if nothing else is left of the run that asked", () => {
		const answered = { ...AGAIN, asked: "red or blue?", answer: "blue" };
		const words = "It asked a person:\nred or blue?\nThe answer:\nblue";
		expect(promptFor("try {{attempt}}", "template", answered)).toBe(`try 3\n\n${words}`);
		expect(promptFor("try {{attempt}}: {{answer}}", "template", answered)).toBe("try 3: blue");
		expect(promptFor("do it", "text", { ...answered, past: null })).toBe(`do it\n\n${words}`);
	});

	test("keeps braces from outside text, whatever is in them", () => {
		const brought = asText("what is {{answer}}? and \\{{prior}}?");
		expect(promptFor(brought, "template", FIRST)).toBe("what is {{answer}}? and \\{{prior}}?");
		expect(promptFor(`${asText("{{answer}}")} {{answer}}`, "template", { ...AGAIN, answer: "{{prior}}" })).toBe("{{answer}} {{prior}}");
	});
});

test("a log's end is limited in lines and characters", () => {
	expect(lastLines(`${Array.from({ length: 30 }, (_, n) => n).join("\n")}\n\n`).split("\n")).toHaveLength(20);
	expect(lastLines("x".repeat(5000))).toHaveLength(2001);
	expect(lastLines("")).toBe("");
});
