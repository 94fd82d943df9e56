// Gate `item`: open and free, blocked, closed, unreadable, unknown.

import { expect, test } from "vitest";
import { makeFacts, makeJob } from "../../../test/make/job.ts";
import type { Job } from "../job.ts";
import type { JobFacts } from "./gate.ts";
import { item } from "./item.ts";

const ask = (value: unknown, error?: string) =>
	item.ask(makeJob({ item: "cards:7" }), makeFacts({ item: { value, observed_at: 5, ...(error === undefined ? {} : { error }) } }));

test("passes without an item, before a probe, and if it is open and free", () => {
	expect(item.ask(makeJob(), makeFacts())).toBeNull();
	expect(item.ask(makeJob({ item: "cards:7" }), makeFacts())).toBeNull();
	expect(ask({ open: true })).toBeNull();
	expect(ask({ open: true, blocked_by: [] })).toBeNull();
	expect(ask({ open: true, in_progress: true })).toBeNull();
});

test("blocked, by which", () => {
	expect(ask({ open: true, blocked_by: ["3", "4"] })).toEqual({
		reasons: [
			{
				gate: "item",
				code: "item_blocked",
				subject: "item:cards:7",
				detail: "item cards:7 is blocked by 3, 4",
				holder: ["3", "4"],
				observed_at: 5,
			},
		],
		parked_on: "fact",
	});
});

test("not ready by its own state, and why", () => {
	expect(ask({ open: true, blocked_by: [], held: "deferred until 2199-01-01T00:00:00Z" })?.reasons[0]).toMatchObject({
		code: "item_blocked",
		detail: "item cards:7 is not ready: deferred until 2199-01-01T00:00:00Z",
		observed_at: 5,
	});
});

test("taken up by another worker: waits, unless the chain has begun or was added with force", () => {
	const taken = { value: { open: true, in_progress: true, taken: "hooked by ann" }, observed_at: 5 };
	const asked = (more: Partial<Job>, also: Partial<JobFacts> = {}) =>
		item.ask(makeJob({ item: "gt:gt-1", ...more }), makeFacts({ item: taken, ...also }));
	expect(asked({})?.reasons[0]).toMatchObject({ code: "item_blocked", detail: "item gt:gt-1 is in progress elsewhere: hooked by ann" });
	expect(asked({ attempt: 1 })).toBeNull();
	expect(asked({ take_over: true })).toBeNull();
	expect(asked({}, { chain_begun: true })).toBeNull();
});

test("closed meanwhile: cancelled, item_closed", () => {
	const answer = ask({ open: false });
	expect(answer?.verdict).toEqual({ status: "cancelled", reason: "item_closed" });
	expect(answer?.reasons[0]?.detail).toBe("item cards:7 is closed");
});

test("unreadable concerns this job only, and waits", () => {
	const answer = ask(undefined, "disk on fire");
	expect(answer?.verdict).toBeUndefined();
	expect(answer?.reasons[0]).toMatchObject({ code: "item_blocked", detail: "item cards:7 cannot be read: disk on fire" });
});

test.each([null, true, false, "open", 5])("a source that answers %j has said nothing", (value) => {
	expect(ask(value)).toBeNull();
});
