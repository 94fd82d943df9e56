// Gate 4: present, missing with each kind of producer, not probed yet; in 002's words.

import { describe, expect, test } from "vitest";
import type { JobFacts, NeededArtifact } from "../answer.ts";
import { type Job, STATUSES, type Status } from "../job.ts";
import { artifacts } from "./artifacts.ts";

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

const ask = (needed: Partial<NeededArtifact>[], more: Partial<Job> = {}) =>
	artifacts.ask(job(more), facts({ artifacts: needed.map((one) => ({ artifact: "file:a", present: false, producers: [], ...one })) }));

test("nothing needed, or all of it there", () => {
	expect(ask([])).toBeNull();
	expect(ask([{ present: true }, { present: true }])).toBeNull();
});

test.each(STATUSES)("present is enough, whatever its producer (%s) did", (status) => {
	expect(ask([{ present: true, producers: [status] }])).toBeNull();
});

describe("missing", () => {
	const waiting = (detail: string, code = "dependencies") => ({
		reasons: [{ gate: "artifacts", code, subject: "file:a", detail }],
		line: "fact",
	});
	const blocked = (detail: string) => ({
		reasons: [{ gate: "artifacts", code: "dependencies", subject: "file:a", detail }],
		verdict: { status: "blocked_by_dependency", reason: detail },
	});

	test.each([
		[["running"], "waiting on file:a"],
		[["waiting_on_deps"], "waiting on file:a"],
		[["succeeded", "queued"], "waiting on file:a"],
		[["failed", "waiting_on_locks"], "waiting on file:a"],
	] as [Status[], string][])("producers %j: an active one is waited for", (producers, detail) => {
		expect(ask([{ producers }])).toEqual(waiting(detail));
		expect(ask([{ producers }], { on_missing: "wait" })).toEqual(waiting(detail));
		expect(ask([{ producers, present: undefined }])).toEqual(waiting(detail));
	});

	test.each([
		[[], "missing file:a"],
		[["succeeded"], "missing file:a"],
		[["failed", "succeeded"], "missing file:a"],
		[["failed"], "dependency failed for file:a"],
		[["cancelled", "expired", "blocked_by_dependency"], "dependency failed for file:a"],
	] as [Status[], string][])("producers %j: none active", (producers, detail) => {
		expect(ask([{ producers }])).toEqual(blocked(detail));
		expect(ask([{ producers }], { on_missing: "wait" })).toEqual(waiting("awaiting producer for file:a"));
	});

	test("not probed since it was in doubt", () => {
		expect(ask([{ present: undefined }])).toEqual(waiting("probing file:a", "probing"));
		expect(ask([{ present: undefined, producers: ["succeeded"] }])).toEqual(waiting("probing file:a", "probing"));
		expect(ask([{ present: undefined, error: "no such repo" }])).toEqual(waiting("cannot probe file:a: no such repo", "probing"));
	});

	test("when it was seen is told", () => {
		expect(ask([{ producers: ["running"], observed_at: 5 }])?.reasons[0]?.observed_at).toBe(5);
	});

	test("one that can never come decides, also behind one that still may", () => {
		expect(ask([{ artifact: "file:b", producers: ["running"] }, { producers: [] }])).toEqual(blocked("missing file:a"));
	});

	test("every one that is waited for is told", () => {
		const answer = ask([{ artifact: "file:b", producers: ["running"] }, { present: true }, { artifact: "file:c", present: undefined }]);
		expect(answer?.reasons.map((reason) => reason.detail)).toEqual(["waiting on file:b", "probing file:c"]);
	});
});
