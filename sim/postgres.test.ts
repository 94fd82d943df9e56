// The simulator on a real PostgreSQL, behind a network with faults: the same plans, the same model.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPostgresPlaces } from "./engine/place.ts";
import { runSeed } from "./run-seed.ts";

/** More: npm run sim -- --postgres --seeds N. */
const SEEDS = 6;

let places: Awaited<ReturnType<typeof openPostgresPlaces>>;
beforeAll(async () => {
	places = await openPostgresPlaces();
});
afterAll(() => places?.end());

describe("simulation on PostgreSQL", () => {
	it(`stays clean on ${SEEDS} seeds`, { timeout: 300_000 }, async () => {
		const bad: string[] = [];
		for (let seed = 1; seed <= SEEDS; seed++) {
			const { failure } = await runSeed(seed, { place: places.place });
			if (failure !== undefined) bad.push(`seed ${seed}, ${failure.message}`);
		}
		expect(bad).toEqual([]);
	});
});
