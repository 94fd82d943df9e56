// Gate `deadline` by example: before, at and after the deadline.

import { expect, test } from "vitest";
import { makeFacts, makeJob } from "../../../test/make/job.ts";
import type { Job } from "../job.ts";
import { deadline } from "./deadline.ts";
import type { JobFacts } from "./gate.ts";

const NOW = Date.parse("2030-01-01T00:00:00Z");

const facts = (more: Partial<JobFacts> = {}): JobFacts => makeFacts({ now: NOW, ...more });

const ask = (more: Partial<Job>) => deadline.ask(makeJob(more), facts());

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
