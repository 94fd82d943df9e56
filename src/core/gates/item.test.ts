// Gate 5: open and free, blocked, closed, unreadable, unknown.

import { expect, test } from "vitest";
import type { JobFacts } from "../answer.ts";
import type { Job } from "../job.ts";
import { item } from "./item.ts";

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

const ask = (value: unknown, error?: string) =>
	item.ask(job({ item: "cards:7" }), facts({ item: { value, observed_at: 5, ...(error === undefined ? {} : { error }) } }));

test("passes without an item, without news, and when it is open and free", () => {
	expect(item.ask(job(), facts())).toBeNull();
	expect(item.ask(job({ item: "cards:7" }), facts())).toBeNull();
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
		line: "fact",
	});
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
