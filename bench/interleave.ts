// Runs the contenders of one row in turns (A B A B …), each round on a fresh database file, and collects what they measured.

import { rmSync } from "node:fs";
import type { Bench } from "./row.ts";
import { type Sample, sample } from "./statistics.ts";

/**
 * One round: gets the path of a database file that does not exist yet, and says what it measured, all in the same unit for one row. `warm` is done before each
 * round, outside of what it measures: collecting the garbage of whoever had his turn before takes compiled code along, and the first seconds after it
 * are a compiler's.
 */
export type Contender<Name extends string = string> = {
	name: Name;
	round(path: string): Promise<number> | number;
	warm?(): Promise<unknown>;
};

export async function interleave<Name extends string>(
	bench: Bench,
	contenders: readonly Contender<Name>[],
	options: { rounds?: number; warmup?: number } = {},
): Promise<Record<Name, Sample>> {
	const values = {} as Record<Name, number[]>;
	for (const { name } of contenders) values[name] = [];
	const warmup = options.warmup ?? 1;
	const rounds = options.rounds ?? bench.rounds;
	for (let round = -warmup; round < rounds; round++) {
		for (const { name, round: measure, warm } of contenders) {
			const path = bench.freshFile(name);
			collectGarbage();
			await warm?.();
			const value = await measure(path);
			removeDatabase(path);
			// The first rounds only warm the compiler and the file system up.
			if (round >= 0) values[name].push(value);
			bench.progress(`${name} ${round < 0 ? "warm-up" : `${round + 1}/${rounds}`}: ${value.toPrecision(4)}`);
		}
	}
	return Object.fromEntries(contenders.map(({ name }) => [name, sample(values[name])])) as Record<Name, Sample>;
}

/** So that nobody pays for the garbage of the one before. Needs --expose-gc, which main.ts sets. */
export function collectGarbage(): void {
	(globalThis as { gc?: () => void }).gc?.();
}

function removeDatabase(path: string): void {
	for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(path + suffix, { force: true });
}
