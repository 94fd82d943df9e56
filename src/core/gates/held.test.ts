// Gate `held`: a job that a person holds.

import { expect, test } from "vitest";
import { makeFacts, makeJob } from "../../../test/make/job.ts";
import type { Job } from "../job.ts";
import { held } from "./held.ts";

const ask = (more: Partial<Job>) => held.ask(makeJob(more), makeFacts());

test("passes if no person holds the job", () => {
	expect(ask({})).toBeNull();
	expect(ask({ approval: "needed", rank: 5, forced: true })).toBeNull();
});

test("says who holds it, since when and why", () => {
	expect(ask({ hold: { by: "ann", since: 5, reason: "not before the demo" } })).toEqual({
		reasons: [{ gate: "held", code: "held", subject: "job:1", detail: "held by ann: not before the demo", since: 5, holder: ["ann"] }],
		parked_on: "held",
	});
	expect(ask({ hold: { by: "ann", since: 5 } })?.reasons[0]?.detail).toBe("held by ann");
});

test("run-now, even with force, does not open it", () => {
	expect(ask({ hold: { by: "ann", since: 5 }, rank: 1_000_000, forced: true })).not.toBeNull();
});
