// "Did you mean": a single typo is found, nonsense is not.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { INPUT_KEYS } from "../schema/job.ts";
import { nearest } from "./nearest.ts";

describe("by example", () => {
	test.each([
		["comand", "command"],
		["commnad", "command"],
		["Command", "command"],
		["prioritty", "priority"],
		["dead_line", "deadline"],
		["runable_at", "runnable_at"],
		["need", "needs"],
		["base-branch", "base_branch"],
		["reqires_aproval", "requires_approval"],
	])("%s → %s", (word, known) => {
		expect(nearest(word, INPUT_KEYS)).toBe(known);
	});

	test.each(["", "q", "xyzzy", "frobnicate", "zzzzzzzzzzzz"])("%j is like nothing", (word) => {
		expect(nearest(word, INPUT_KEYS)).toBeUndefined();
	});

	test("a short word is like one that differs in a single letter only", () => {
		expect(nearest("pr", ["up", "open"])).toBeUndefined();
		expect(nearest("ad", ["add", "up"])).toBe("add");
	});

	test("a long word that resembles no known one gets no suggestion", () => {
		expect(nearest("z".repeat(64), INPUT_KEYS)).toBeUndefined();
		expect(nearest("z".repeat(300), INPUT_KEYS)).toBeUndefined();
	});

	test("nothing known, nothing suggested", () => {
		expect(nearest("command", [])).toBeUndefined();
	});

	test("ten million characters take no time", () => {
		const word = "command".repeat(1_500_000);
		const started = process.cpuUsage().user;
		nearest(word, INPUT_KEYS);
		expect((process.cpuUsage().user - started) / 1000).toBeLessThan(50);
	});
});

/** Optimal string alignment, the slow and obvious way. */
function distance(a: string, b: string): number {
	const d = Array.from({ length: a.length + 1 }, (_, i) => Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : j === 0 ? i : 0)));
	for (let i = 1; i <= a.length; i++)
		for (let j = 1; j <= b.length; j++) {
			let least = Math.min(d[i - 1]![j]! + 1, d[i]![j - 1]! + 1, d[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
			if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, d[i - 2]![j - 2]! + 1);
			d[i]![j] = least;
		}
	return d[a.length]![b.length]!;
}

describe("by property", () => {
	test("it is the closest word, the first among equally close ones", () => {
		fc.assert(
			fc.property(fc.string({ maxLength: 12 }), fc.uniqueArray(fc.string({ maxLength: 12 }), { maxLength: 8 }), (word, known) => {
				const found = nearest(word, known);
				const most = Math.max(word.length <= 3 ? 1 : 2, Math.floor(word.length / 3));
				const best = known.map((one) => distance(word, one)).reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY);
				if (best > most) expect(found).toBeUndefined();
				else expect(found).toBe(known.find((one) => distance(word, one) === best));
			}),
			{ numRuns: 500 },
		);
	});

	test("one slip in a known key leads back to a key one step away", () => {
		const letter = fc.constantFrom(..."abcdefghijklmnopqrstuvwxyz_");
		fc.assert(
			fc.property(
				fc.constantFrom(...INPUT_KEYS),
				fc.nat(),
				fc.constantFrom("drop", "add", "change", "swap"),
				letter,
				(key, seed, how, one) => {
					const at = seed % key.length;
					const slipped =
						how === "drop"
							? key.slice(0, at) + key.slice(at + 1)
							: how === "add"
								? key.slice(0, at) + one + key.slice(at)
								: how === "change"
									? key.slice(0, at) + one + key.slice(at + 1)
									: key.slice(0, at) + (key[at + 1] ?? "") + key[at] + key.slice(at + 2);
					const found = nearest(slipped, INPUT_KEYS);
					expect(found && distance(slipped, found)).toBeLessThanOrEqual(1);
				},
			),
			{ numRuns: 500 },
		);
	});
});
