// Gate 7: each condition met, not met, not checked yet, impossible to check.

import { expect, test } from "vitest";
import type { JobFacts, ObservedFact } from "../answer.ts";
import type { Job } from "../job.ts";
import { conditions } from "./conditions.ts";

const NOW = 0;

const job = (more: Partial<Job> = {}): Job => ({
	id: 1,
	status: "queued",
	kind: "command",
	lane: "default",
	trigger: "manual",
	priority: 0,
	created_at: 0,
	runnable_at: 0,
	attempt: 0,
	line: "",
	bucket: 1,
	...more,
});
const facts = (more: Partial<JobFacts> = {}): JobFacts => ({
	now: NOW,
	after: [],
	artifacts: [],
	conditions: [],
	lock: () => ({ holders: [] }),
	...more,
});

const one = job({ conditions: [{ kind: "clean_worktree" }, { kind: "branch_exists", branch: "main" }] });
const ask = (...found: ObservedFact[]) => conditions.ask(one, facts({ conditions: found }));
const yes = { value: true, observed_at: 5 };

test("passes without any, and when all hold", () => {
	expect(conditions.ask(job(), facts())).toBeNull();
	expect(ask(yes, yes)).toBeNull();
});

test("not met", () => {
	expect(ask(yes, { value: false, observed_at: 6 })).toEqual({
		reasons: [
			{
				gate: "conditions",
				code: "condition",
				subject: "branch_exists:main",
				detail: "condition branch_exists:main is not met",
				observed_at: 6,
			},
		],
		line: "fact",
	});
});

test("all that do not hold, each for its own reason", () => {
	const answer = ask({ value: undefined, error: "no git", observed_at: 6 }, undefined);
	expect(answer?.reasons.map(({ code, detail }) => [code, detail])).toEqual([
		["condition", "condition clean_worktree cannot be checked: no git"],
		["probing", "probing condition branch_exists:main"],
	]);
	expect(answer?.verdict).toBeUndefined();
});
