// Gate `approval`: approval and open questions.

import { expect, test } from "vitest";
import { makeFacts, makeJob } from "../../../test/make/job.ts";
import type { Job } from "../job.ts";
import { approval } from "./approval.ts";

const ask = (more: Partial<Job>) => approval.ask(makeJob(more), makeFacts());

test("passes if no approval is needed, or if it was given", () => {
	expect(ask({})).toBeNull();
	expect(ask({ approval: "given" })).toBeNull();
	expect(ask({ answer: "blue" })).toBeNull();
});

test("waiting for approval", () => {
	expect(ask({ approval: "needed" })).toEqual({
		reasons: [{ gate: "approval", code: "approval", subject: "job:1", detail: "waiting for approval" }],
		parked_on: "human",
	});
});

test("an open question, in the agent's words; also after an approval", () => {
	expect(ask({ question: "which colour?", approval: "given" })).toEqual({
		reasons: [{ gate: "approval", code: "needs_human", subject: "job:1", detail: "which colour?" }],
		parked_on: "human",
	});
	expect(ask({ question: "" })?.reasons).toHaveLength(1);
});

test("both", () => {
	expect(ask({ approval: "needed", question: "?" })?.reasons.map((reason) => reason.code)).toEqual(["approval", "needs_human"]);
});
