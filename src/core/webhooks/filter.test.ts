// Which events a webhook wants.

import { expect, test } from "vitest";
import { matches, mayMatch, type WebhookFilter } from "./filter.ts";

const ALL: WebhookFilter = { events: [], lanes: [], batches: [], repos: [], statuses: [] };
const ended = { kind: "ended" as const, job: 7, data: { from: "running", to: "succeeded" } };
const job = { lane: "code", batch: "night", repo: "web" };

test("an empty filter wants every event, with a job or without", () => {
	expect(matches(ALL, ended, job)).toBe(true);
	expect(matches(ALL, { kind: "paused", job: null, data: { scope: "all" } }, null)).toBe(true);
});

test.each([
	[{ events: ["ended"] }, true],
	[{ events: ["added", "merge"] }, false],
	[{ statuses: ["succeeded"] }, true],
	[{ statuses: ["failed"] }, false],
	[{ lanes: ["code"] }, true],
	[{ lanes: ["test"] }, false],
	[{ batches: ["night", "day"] }, true],
	[{ batches: ["day"] }, false],
	[{ repos: ["web"] }, true],
	[{ repos: ["app"] }, false],
	[{ events: ["ended"], statuses: ["succeeded"], lanes: ["code"], repos: ["web"] }, true],
	[{ events: ["ended"], statuses: ["succeeded"], lanes: ["code"], repos: ["app"] }, false],
] as [Partial<WebhookFilter>, boolean][])("%j: %s", (filter, wanted) => {
	expect(matches({ ...ALL, ...filter }, ended, job)).toBe(wanted);
});

test("an event that is no move has no status, one without a job no lane", () => {
	expect(mayMatch({ ...ALL, statuses: ["running"] }, { kind: "launched", job: 7, data: { attempt: 1 } })).toBe(false);
	expect(matches({ ...ALL, lanes: ["code"] }, { kind: "paused", job: null, data: {} }, null)).toBe(false);
});

test("an event about a batch counts for that batch", () => {
	const closed = { kind: "batch_closed" as const, job: null, data: { batch: "night", total: 3 } };
	expect(matches({ ...ALL, batches: ["night"] }, closed, null)).toBe(true);
	expect(matches({ ...ALL, batches: ["day"] }, closed, null)).toBe(false);
});
