// Cycles and spawn delays: what they say before, at and after their time.

import { expect, test } from "vitest";
import { worldAt } from "../../../../test/make/gates.ts";
import { DEFAULTS } from "../../config.ts";
import { askPace } from "./pace.ts";

const NOW = 100_000;

const world = worldAt(NOW);
const ask = (cycle_interval_ms: number, spawn_delay_ms: number, last_cycle_at: number, last_start_at: number, cycle_left = 0) =>
	askPace(world({ config: { ...DEFAULTS, cycle_interval_ms, spawn_delay_ms }, last_cycle_at, cycle_left, last_start_at }));

test("neither is set: at once", () => {
	expect(ask(0, 0, NOW, NOW)).toBeNull();
});

test("the next cycle", () => {
	expect(ask(500, 0, NOW - 499, NOW)).toEqual([
		{ gate: "capacity", code: "capacity", subject: "cycle_interval", detail: "waiting for the next cycle", clears_at: NOW + 1 },
	]);
});

test("a cycle that has starts left lets them go, whenever it began", () => {
	expect(ask(500, 0, NOW - 499, NOW, 1)).toBeNull();
	expect(ask(500, 500, NOW - 499, NOW, 1)?.map((reason) => reason.subject)).toEqual(["spawn_delay"]);
});

test("the next start", () => {
	expect(ask(0, 500, NOW, NOW - 499)).toEqual([
		{ gate: "capacity", code: "capacity", subject: "spawn_delay", detail: "starts are spaced by spawn_delay", clears_at: NOW + 1 },
	]);
	expect(ask(0, 500, NOW, NOW - 500)).toBeNull();
});

test("both", () => {
	expect(ask(500, 500, NOW, NOW)?.map((reason) => reason.subject)).toEqual(["cycle_interval", "spawn_delay"]);
});
