// Gate `spawn`: what is known of a start before it is attempted.

import { expect, test } from "vitest";
import { makeJob } from "../../../test/make/job.ts";
import { askSpawn } from "./spawn.ts";

const NOW = 1000;

test("passes when no start has failed, and when the next try is due", () => {
	expect(askSpawn(makeJob(), NOW)).toBeNull();
	expect(askSpawn(makeJob({ backoff_until: NOW + 1 }), NOW)).toBeNull();
	expect(askSpawn(makeJob({ dispatch_failures: 2 }), NOW)).toBeNull();
	expect(askSpawn(makeJob({ dispatch_failures: 2, backoff_until: NOW }), NOW)).toBeNull();
});

test("the number of failures, the cause, and the time of the next attempt", () => {
	expect(askSpawn(makeJob({ dispatch_failures: 2, backoff_until: NOW + 5, last_failure: "no such program" }), NOW)).toEqual([
		{ gate: "spawn", code: "dispatch_failed", subject: "job:1", detail: "start failed 2 times: no such program", clears_at: NOW + 5 },
	]);
	expect(askSpawn(makeJob({ dispatch_failures: 1, backoff_until: NOW + 5 }), NOW)?.[0]?.detail).toBe("start failed once");
});
