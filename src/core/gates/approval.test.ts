// Gate 8: approval and open questions.

import { expect, test } from "vitest";
import type { JobFacts } from "../answer.ts";
import type { Job } from "../job.ts";
import { approval } from "./approval.ts";

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

const ask = (more: Partial<Job>) => approval.ask(job(more), facts());

test("passes when nobody was asked, or said yes", () => {
	expect(ask({})).toBeNull();
	expect(ask({ approval: "given" })).toBeNull();
	expect(ask({ answer: "blue" })).toBeNull();
});

test("waiting for approval", () => {
	expect(ask({ approval: "needed" })).toEqual({
		reasons: [{ gate: "approval", code: "approval", subject: "job:1", detail: "waiting for approval" }],
		line: "human",
	});
});

test("an open question, in the agent's words; also after an approval", () => {
	expect(ask({ question: "which colour?", approval: "given" })).toEqual({
		reasons: [{ gate: "approval", code: "needs_human", subject: "job:1", detail: "which colour?" }],
		line: "human",
	});
	expect(ask({ question: "" })?.reasons).toHaveLength(1);
});

test("both", () => {
	expect(ask({ approval: "needed", question: "?" })?.reasons.map((reason) => reason.code)).toEqual(["approval", "needs_human"]);
});
