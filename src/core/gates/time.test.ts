// Gate `time` by example: a delay, a back-off, both.

import { expect, test } from "vitest";
import { makeFacts, makeJob } from "../../../test/make/job.ts";
import type { Job } from "../job.ts";
import type { JobFacts } from "./gate.ts";
import { stamp, time } from "./time.ts";

const NOW = Date.parse("2030-01-01T00:00:00Z");

const facts = (more: Partial<JobFacts> = {}): JobFacts => makeFacts({ now: NOW, ...more });

const ask = (more: Partial<Job>) => time.ask(makeJob(more), facts());

test("passes when its time has come and its back-off is over", () => {
	expect(ask({ runnable_at: NOW })).toBeNull();
	expect(ask({ runnable_at: NOW - 1, backoff_until: NOW })).toBeNull();
	expect(ask({ runnable_at: 0 })).toBeNull();
});

test("delayed, until when", () => {
	expect(ask({ runnable_at: NOW + 1000 })).toEqual({
		reasons: [{ gate: "time", code: "delayed", subject: "time", detail: "not before 2030-01-01T00:00:01.000Z", clears_at: NOW + 1000 }],
		parked_on: "time",
		until: NOW + 1000,
	});
});

test("back-off, until when, which attempt, after what", () => {
	expect(ask({ backoff_until: NOW + 1, attempt: 2, last_failure: "exit 3" })).toEqual({
		reasons: [
			{
				gate: "time",
				code: "backoff",
				subject: "time",
				detail: "attempt 3 not before 2030-01-01T00:00:00.001Z after: exit 3",
				clears_at: NOW + 1,
			},
		],
		parked_on: "time",
		until: NOW + 1,
	});
});

test("both: two reasons, and the later of the two", () => {
	const answer = ask({ runnable_at: NOW + 5, backoff_until: NOW + 9 });
	expect(answer?.reasons.map((reason) => reason.code)).toEqual(["delayed", "backoff"]);
	expect(answer?.until).toBe(NOW + 9);
	expect(ask({ runnable_at: NOW + 9, backoff_until: NOW + 5 })?.until).toBe(NOW + 9);
});

test("a time beyond the calendar is shown as a number", () => {
	expect(stamp(8.64e15)).toBe("+275760-09-13T00:00:00.000Z");
	expect(stamp(8.64e15 + 2)).toBe("8640000000000002");
});
