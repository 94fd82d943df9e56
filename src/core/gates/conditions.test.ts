// Gate `conditions`: each condition met, not met, not checked yet, impossible to check.

import { expect, test } from "vitest";
import { makeFacts, makeJob } from "../../../test/make/job.ts";
import { conditions } from "./conditions.ts";
import type { ObservedFact } from "./gate.ts";

const one = makeJob({ conditions: [{ kind: "clean_worktree" }, { kind: "branch_exists", branch: "main" }] });
const ask = (...found: ObservedFact[]) => conditions.ask(one, makeFacts({ conditions: found }));
const yes = { value: true, observed_at: 5 };

test("passes without any, and when all hold", () => {
	expect(conditions.ask(makeJob(), makeFacts())).toBeNull();
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
		parked_on: "fact",
	});
});

test("all unmet conditions, each with its own reason", () => {
	const answer = ask({ value: undefined, error: "no git", observed_at: 6 }, undefined);
	expect(answer?.reasons.map(({ code, detail }) => [code, detail])).toEqual([
		["condition", "condition clean_worktree cannot be checked: no git"],
		["probing", "probing condition branch_exists:main"],
	]);
	expect(answer?.verdict).toBeUndefined();
});
