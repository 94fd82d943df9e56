// The model of a fleet's load: what can be worked out by hand comes out of the play.

import { describe, expect, test } from "vitest";
import { MEASURED } from "../bench/model/constants.ts";
import { type Fleet, play } from "../bench/model/play.ts";

const CALM: Fleet = {
	hosts: 10,
	runs: 1000,
	runSeconds: 100,
	heartbeatSeconds: 1e6,
	pollSeconds: 1e6,
	wake: "free",
	look: "lock",
	reads: "changed",
	spreadSeconds: 0,
	seconds: 300,
	seed: 7,
};
const FREE = { ms: 0, trips: 0 };
/** Only an end with its claim costs anything: one journey of a millisecond. */
const SIMPLE = {
	...MEASURED,
	base: FREE,
	host: FREE,
	started: FREE,
	heartbeat: FREE,
	claim: FREE,
	end: { ms: 0, trips: 1 },
	rttMs: 1,
	syncMs: 0,
};

describe("the model of a fleet's load", () => {
	test("a lock that is free most of the time is busy for as long as its transactions take", () => {
		const { busy, startsPerSecond, wantedPerSecond } = play(CALM, SIMPLE);
		expect(wantedPerSecond).toBe(10);
		expect(startsPerSecond).toBeGreaterThan(9);
		expect(startsPerSecond).toBeLessThan(11);
		expect(busy).toBeCloseTo(startsPerSecond * 0.001, 3);
	});

	test("one that never rests serves each host once a round", () => {
		const slow = { ...SIMPLE, base: { ms: 100, trips: 0 } };
		const { busy, waitMs } = play({ ...CALM, hosts: 50, runs: 5000, wake: "all" }, slow);
		expect(busy).toBeGreaterThan(0.99);
		// Fifty hosts, a tenth of a second each.
		expect(waitMs.p50).toBeGreaterThan(4500);
		expect(waitMs.p99).toBeLessThan(6500);
	});

	test("whoever wakes without need makes others wait", () => {
		const busyWith = (wake: Fleet["wake"]) => play({ ...CALM, wake }, MEASURED).busy;
		expect(busyWith("all")).toBeGreaterThan(2 * busyWith("free"));
	});

	test("looks apart from the lock are not in line", () => {
		const fleet: Fleet = { ...CALM, pollSeconds: 1 };
		expect(play(fleet, MEASURED).looks).toBeGreaterThan(0.2);
		expect(play({ ...fleet, look: "apart" }, MEASURED).looks).toBe(0);
	});

	test("two plays of the same fleet agree", () => {
		expect(play(CALM, MEASURED)).toEqual(play(CALM, MEASURED));
		expect(play({ ...CALM, seed: 8 }, MEASURED)).not.toEqual(play(CALM, MEASURED));
	});
});
