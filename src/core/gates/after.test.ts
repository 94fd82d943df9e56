// Gate `after`: every policy against every status, in the words of preset dag.

import { describe, expect, test } from "vitest";
import { makeFacts, makeJob } from "../../../test/make/job.ts";
import { MERGE_STATUSES, POLICIES, STATUSES } from "../job.ts";
import { after, deadEnd, fits } from "./after.ts";
import type { Predecessor } from "./gate.ts";

const ask = (...preds: Predecessor[]) => after.ask(makeJob(), makeFacts({ after: preds }));

describe("policy × status", () => {
	const met: Record<string, string[]> = {
		success: ["succeeded"],
		failure: ["failed", "blocked_by_dependency", "expired"],
		any: ["succeeded", "failed", "cancelled", "blocked_by_dependency", "expired"],
		merged: [],
	};
	const active = ["queued", "waiting_on_deps", "waiting_on_locks", "running"];

	test.each(POLICIES.flatMap((policy) => STATUSES.map((status) => [policy, status] as const)))("%s, %s", (policy, status) => {
		const expected = active.includes(status) ? "open" : met[policy]?.includes(status) ? "met" : "never";
		expect(fits(policy, status, undefined)).toBe(expected);
	});

	test.each(MERGE_STATUSES)("merged, and the merge is %s", (merge) => {
		const open = ["pending", "conflict", "verify_failed", "base_dirty", "requested"];
		expect(fits("merged", "succeeded", merge)).toBe(merge === "merged" ? "met" : open.includes(merge) ? "open" : "never");
		expect(fits("merged", "failed", merge)).toBe("never");
		expect(fits("merged", "running", merge)).toBe("open");
		expect(fits("success", "succeeded", merge)).toBe("met");
	});
});

describe("the words of preset dag", () => {
	test("nothing to wait for", () => {
		expect(ask()).toBeNull();
		expect(ask({ job: 7, policy: "success", status: "succeeded" })).toBeNull();
	});

	test("waiting on job 7", () => {
		expect(ask({ job: 7, policy: "success", status: "running" })).toEqual({
			reasons: [{ gate: "after", code: "dependencies", subject: "job:7", detail: "waiting on job 7" }],
			parked_on: "after",
		});
	});

	test("all open predecessors, in order", () => {
		const answer = ask(
			{ job: 9, policy: "any", status: "queued" },
			{ job: 8, policy: "success", status: "succeeded" },
			{ job: 7, policy: "merged", status: "succeeded", merge_status: "conflict" },
		);
		expect(answer?.reasons.map((reason) => reason.detail)).toEqual(["waiting on job 9", "waiting on job 7"]);
	});

	test.each([
		[{ job: 7, policy: "success", status: "missing" }, "missing job dependency 7"],
		[{ job: 7, policy: "success", status: "failed" }, "dependency failed for job 7 (failed)"],
		[{ job: 7, policy: "success", status: "cancelled" }, "dependency failed for job 7 (cancelled)"],
		[{ job: 7, policy: "success", status: "blocked_by_dependency" }, "dependency failed for job 7 (blocked_by_dependency)"],
		[{ job: 7, policy: "failure", status: "succeeded" }, "dependency failed for job 7 (succeeded)"],
		[{ job: 7, policy: "merged", status: "succeeded", merge_status: "kept" }, "dependency failed for job 7 (succeeded)"],
		[{ job: 7, policy: "any", status: { error: "bad JSON" } }, "scheduler data error for job dependency 7: bad JSON"],
	] as [Predecessor, string][])("%j", (predecessor, words) => {
		expect(deadEnd(predecessor)).toBe(words);
		expect(ask({ job: 3, policy: "any", status: "queued" }, predecessor)).toEqual({
			reasons: [{ gate: "after", code: "dependencies", subject: "job:7", detail: words }],
			verdict: { status: "blocked_by_dependency", reason: words },
		});
	});
});
