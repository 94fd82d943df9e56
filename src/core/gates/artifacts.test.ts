// Gate `artifacts`: present, missing with each kind of producer, not probed yet; in the words of preset dag.

import { describe, expect, test } from "vitest";
import { makeFacts, makeJob } from "../../../test/make/job.ts";
import { type Job, STATUSES, type Status } from "../job.ts";
import { artifacts } from "./artifacts.ts";
import type { NeededArtifact } from "./gate.ts";

const ask = (needed: Partial<NeededArtifact>[], more: Partial<Job> = {}) =>
	artifacts.ask(
		makeJob(more),
		makeFacts({ artifacts: needed.map((one) => ({ artifact: "file:a", present: false, producers: [], ...one })) }),
	);

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
		parked_on: "fact",
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

	test("not probed since it was last uncertain", () => {
		expect(ask([{ present: undefined }])).toEqual(waiting("probing file:a", "probing"));
		expect(ask([{ present: undefined, producers: ["succeeded"] }])).toEqual(waiting("probing file:a", "probing"));
		expect(ask([{ present: undefined, error: "no such repo" }])).toEqual(waiting("cannot probe file:a: no such repo", "probing"));
	});

	test("the reason says when it was seen", () => {
		expect(ask([{ producers: ["running"], observed_at: 5 }])?.reasons[0]?.observed_at).toBe(5);
	});

	test("an artifact that can never come decides, also after one that still may", () => {
		expect(ask([{ artifact: "file:b", producers: ["running"] }, { producers: [] }])).toEqual(blocked("missing file:a"));
	});

	test("every missing artifact is listed", () => {
		const answer = ask([{ artifact: "file:b", producers: ["running"] }, { present: true }, { artifact: "file:c", present: undefined }]);
		expect(answer?.reasons.map((reason) => reason.detail)).toEqual(["waiting on file:b", "probing file:c"]);
	});
});
