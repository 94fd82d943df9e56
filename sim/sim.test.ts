// The simulator as a test: a few hundred seeds, and seeds that once found something (all of them in a long run).

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { some } from "../test/make/long.ts";
import { EXPECTED, Marks } from "./marks.ts";
import { runSeed } from "./run-seed.ts";

const FIRST = 1;
const SEEDS = 110;

const onceFailing = readFileSync(new URL("./seeds.txt", import.meta.url), "utf8")
	.split("\n")
	.map((line) => line.split("#")[0]?.trim() ?? "")
	.filter((line) => line !== "")
	.map(Number);

async function clean(seeds: number[], marks = new Marks()): Promise<string[]> {
	const bad: string[] = [];
	for (const seed of seeds) {
		const { failure, marks: reached } = await runSeed(seed);
		marks.merge(reached.counts);
		if (failure !== undefined) bad.push(`seed ${seed}, ${failure.message}`);
	}
	return bad;
}

describe("simulation", () => {
	it("stays clean on seeds that once failed", { timeout: 300_000 }, async () => {
		expect(await clean(some(onceFailing, 3))).toEqual([]);
	});

	it(`stays clean on ${SEEDS} seeds, and they reach every mark`, { timeout: 600_000 }, async () => {
		const marks = new Marks();
		const seeds = Array.from({ length: SEEDS }, (_, index) => FIRST + index);
		expect(await clean(seeds, marks)).toEqual([]);
		expect(marks.missing(EXPECTED)).toEqual([]);
	});
});
