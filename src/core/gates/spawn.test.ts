// Gate 14: what is known of a start before it is tried.

import { expect, test } from "vitest";
import type { Job } from "../job.ts";
import { askSpawn } from "./spawn.ts";

const NOW = 1000;

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
test("passes when no start has failed, and when the next try is due", () => {
	expect(askSpawn(job(), NOW)).toBeNull();
	expect(askSpawn(job({ backoff_until: NOW + 1 }), NOW)).toBeNull();
	expect(askSpawn(job({ dispatch_failures: 2 }), NOW)).toBeNull();
	expect(askSpawn(job({ dispatch_failures: 2, backoff_until: NOW }), NOW)).toBeNull();
});

test("how often, why, and when it is tried again", () => {
	expect(askSpawn(job({ dispatch_failures: 2, backoff_until: NOW + 5, last_failure: "no such program" }), NOW)).toEqual([
		{ gate: "spawn", code: "dispatch_failed", subject: "job:1", detail: "start failed 2 times: no such program", clears_at: NOW + 5 },
	]);
	expect(askSpawn(job({ dispatch_failures: 1, backoff_until: NOW + 5 }), NOW)?.[0]?.detail).toBe("start failed once");
});
