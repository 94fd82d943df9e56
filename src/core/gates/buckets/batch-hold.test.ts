// The batch's part of gates `holds` and `budget`.

import { expect, test } from "vitest";
import { worldAt } from "../../../../test/make/gates.ts";
import { makeJob } from "../../../../test/make/job.ts";
import type { Ledger, LimitsView } from "../../limits-view.ts";
import { askBatch } from "./batch-hold.ts";

const NOW = Date.parse("2030-01-01T12:00:00Z");

const world = worldAt(NOW);
const held = (until?: number): LimitsView["holds"] =>
	new Map([
		[
			"paused/batch:b",
			{ kind: "paused" as const, scope: "batch:b", by: "ann", since: 7, reason: "", ...(until === undefined ? {} : { until }) },
		],
	]);
const spent = (window: Ledger["window"] = null): LimitsView["ledgers"] =>
	new Map([
		[
			"batch:b",
			[{ subject: "batch:b", dim: "runs", used: 5, limit: 5, warn_at: 0.8, window, window_at: Date.parse("2030-01-01T00:00:00Z") }],
		],
	]);

test("passes without a batch, and when nothing holds it", () => {
	expect(askBatch(makeJob(), world({ holds: held() }))).toBeNull();
	expect(askBatch(makeJob({ batch: "c" }), world({ holds: held(), ledgers: spent() }))).toBeNull();
	expect(askBatch(makeJob({ batch: "b" }), world({ holds: held(NOW) }))).toBeNull();
});

test("paused", () => {
	expect(askBatch(makeJob({ batch: "b" }), world({ holds: held() }))).toEqual({
		reasons: [{ gate: "holds", code: "paused", subject: "batch:b", detail: "batch b paused by ann", since: 7, holder: ["ann"] }],
		parked_on: "batch:b",
	});
	expect(askBatch(makeJob({ batch: "b" }), world({ holds: held(NOW + 5) }))?.until).toBe(NOW + 5);
});

test("over budget", () => {
	expect(askBatch(makeJob({ batch: "b" }), world({ ledgers: spent() }))).toEqual({
		reasons: [{ gate: "budget", code: "budget", subject: "batch:b/runs", detail: "batch:b has used 5 of 5 runs" }],
		parked_on: "batch:b",
	});
	expect(askBatch(makeJob({ batch: "b" }), world({ ledgers: spent("day") }))?.until).toBe(Date.parse("2030-01-02T00:00:00Z"));
});

test("both: the reasons of both, checked again at the earlier time", () => {
	const answer = askBatch(makeJob({ batch: "b" }), world({ holds: held(NOW + 5), ledgers: spent("day") }));
	expect(answer?.reasons.map((reason) => reason.code)).toEqual(["paused", "budget"]);
	expect(answer?.until).toBe(NOW + 5);
});
