// A fleet's chaos in short: four hosts, the built program, one PostgreSQL as it comes. `npm run chaos:fleet` plays rounds of 2,000 jobs.

import { join } from "node:path";
import { expect, test } from "vitest";
import { playRound } from "../../chaos/fleet/round.ts";

const SLUICE = join(import.meta.dirname, "../../bin/sluice.js");

/** A stopped host that wakes hears that it was given up before it can report about its runs: e2e/fleet.test.ts has one that reports too late. */
test("nothing is lost, doubled or left behind, no cap or key exceeded, and what a lost host says too late is refused", {
	timeout: 300_000,
}, async () => {
	const { faults, harms } = await playRound({
		seed: 5,
		jobs: 120,
		staleMs: 8000,
		only: ["kill", "stop-long", "die", "cut"],
		restarts: 1,
		daemon: [SLUICE, "up", "--port", "0"],
	});
	expect(faults).toEqual([]);
	expect(harms.length).toBe(5);
});
