// The simulator with a fleet: some seeds of hosts that come, fall silent, are lost and come back.

import { describe, expect, it } from "vitest";
import { FLEET_MARKS, Marks } from "./marks.ts";
import { runSeed } from "./run-seed.ts";

/** More: npm run sim -- --fleet --seeds N; from 300 on, every mark of a fleet has to be reached. */
const SEEDS = 14;
/** What so few seeds get to all the same. */
const OFTEN = ["stale", "back", "lost", "lost-run", "anew-after-lost", "drained", "left", "restarted"].map((deed) => `deed:host-${deed}`);

describe("simulation of a fleet", () => {
	it(`stays clean on ${SEEDS} seeds`, { timeout: 300_000 }, async () => {
		const marks = new Marks();
		const bad: string[] = [];
		for (let seed = 1; seed <= SEEDS; seed++) {
			const { failure, marks: reached } = await runSeed(seed, { fleet: true });
			marks.merge(reached.counts);
			if (failure !== undefined) bad.push(`seed ${seed}, ${failure.message}`);
		}
		expect(bad).toEqual([]);
		expect(marks.missing(OFTEN)).toEqual([]);
		expect(FLEET_MARKS).toEqual(expect.arrayContaining(OFTEN));
	});
});
