// Gate 6: the pinned head, in 002's words.

import { expect, test } from "vitest";
import type { JobFacts } from "../answer.ts";
import type { Job } from "../job.ts";
import { head } from "./head.ts";

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

const pinned = job({ repo: "web", pinned_head: { branch: "main", commit: "abcd" } });
const mismatch = {
	reasons: [{ gate: "head", code: "pinned_head", subject: "head:web:main", detail: "pinned head mismatch on main", observed_at: 5 }],
	line: "fact",
};

test("passes without a pin, and where it was pinned", () => {
	expect(head.ask(job(), facts())).toBeNull();
	expect(head.ask(pinned, facts({ head: { value: "abcd", observed_at: 5 } }))).toBeNull();
});

test.each(["abce", "ABCD", null, undefined, true])("moved to %s", (value) => {
	expect(head.ask(pinned, facts({ head: { value, observed_at: 5 } }))).toEqual(mismatch);
});

test("unreadable is not where it was pinned", () => {
	expect(head.ask(pinned, facts({ head: { value: "abcd", error: "no repo", observed_at: 5 } }))).toEqual(mismatch);
});

test("not probed yet", () => {
	expect(head.ask(pinned, facts())).toEqual({
		reasons: [{ gate: "head", code: "probing", subject: "head:web:main", detail: "probing head of main" }],
		line: "fact",
	});
});
