// Gate 2 by example: before, at and after the deadline.

import { expect, test } from "vitest";
import type { JobFacts } from "../answer.ts";
import type { Job } from "../job.ts";
import { deadline } from "./deadline.ts";

const NOW = Date.parse("2030-01-01T00:00:00Z");

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

const ask = (more: Partial<Job>) => deadline.ask(job(more), facts());

test("passes without one, and while it lies ahead", () => {
	expect(ask({})).toBeNull();
	expect(ask({ deadline: NOW + 1 })).toBeNull();
});

test.each([NOW, NOW - 1])("is over at %d", (at) => {
	const answer = ask({ deadline: at });
	expect(answer?.verdict?.status).toBe("expired");
	expect(answer?.reasons).toMatchObject([{ gate: "deadline", code: "deadline", subject: "deadline" }]);
	expect(answer?.reasons[0]?.detail).toBe(`deadline ${new Date(at).toISOString()} has passed`);
});

test("a kernel entry is only out of sight until it is swept", () => {
	expect(ask({ kind: "kernel", deadline: NOW })).toMatchObject({ line: "late" });
	expect(ask({ kind: "kernel", deadline: NOW })?.verdict).toBeUndefined();
});
