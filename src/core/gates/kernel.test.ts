// The gates of preset kernel's entries by example: time, deadline, the agent's ledger; and nothing else.

import { expect, test } from "vitest";
import { makeBucket, worldAt } from "../../../test/make/gates.ts";
import { makeFacts, makeJob } from "../../../test/make/job.ts";
import type { Job } from "../job.ts";
import { KERNEL_ENTRIES } from "../queue-policy.ts";
import { decide, shut } from "./index.ts";

const NOW = Date.parse("2030-01-01T00:00:00Z");
const world = worldAt(NOW);
const at = (more: Partial<Job>) => decide(makeJob({ kind: "kernel", ...more }), makeFacts({ now: NOW }), world());

test("these gates alone", () => {
	expect([...KERNEL_ENTRIES.jobGates, ...KERNEL_ENTRIES.bucketGates].map((gate) => gate.name)).toEqual(["time", "deadline", "budget"]);
});

test("waits for its time, also if that is when it was made", () => {
	expect(at({ runnable_at: NOW })).toEqual({ kind: "ready" });
	const park = {
		kind: "park",
		parked_on: "time",
		until: NOW + 1,
		reason: { code: "delayed", detail: "not before 2030-01-01T00:00:00.001Z" },
	};
	expect(at({ runnable_at: NOW + 1 })).toMatchObject(park);
	expect(at({ runnable_at: NOW + 1, created_at: NOW + 1 })).toMatchObject(park);
});

test("past its deadline it is out of sight, even before its time; it does not end", () => {
	expect(at({ deadline: NOW + 1 })).toEqual({ kind: "ready" });
	expect(at({ deadline: NOW })).toMatchObject({
		kind: "park",
		parked_on: "late",
		reason: { detail: "deadline 2030-01-01T00:00:00.000Z has passed" },
	});
	expect(at({ deadline: NOW, runnable_at: NOW + 1 })).toMatchObject({ kind: "park", parked_on: "late" });
});

test("its owner is the subject of its agent's ledgers, and stops only past the limit", () => {
	const bucket = makeBucket({ kind: "kernel", owner: "pid:7" });
	const used = (amount: number) =>
		shut(
			bucket,
			world({
				ledgers: new Map([
					["pid:7", [{ subject: "pid:7", dim: "tokens", used: amount, limit: 100, warn_at: 0.8, window: null, window_at: 0 }]],
				]),
			}),
		);
	expect(used(100)).toBeNull();
	expect(used(101)).toMatchObject({ gate: "budget", subject: "pid:7/tokens" });
});

test("no hold, cap or lack of a host shuts its bucket", () => {
	const paused = new Map([["paused/all", { kind: "paused" as const, scope: "all", by: "ann", since: 7, reason: "" }]]);
	const bucket = makeBucket({ kind: "kernel" });
	expect(shut(bucket, world({ holds: paused, usage: new Map([["all", 1000]]), hosts: [] }))).toBeNull();
});
