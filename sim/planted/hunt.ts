// Runs in a copy of the build that has every bug planted: switches on the bug that planted.ts names, and runs seeds until one fails.

import { runSeed } from "../run-seed.ts";
import type { Mistake } from "./bug.ts";
import { BUGS } from "./bugs.ts";

/** `place`: where the bug was planted. */
export type Hunt = { bug: string; place: string; first: number; seeds: number };
export type Catch = { outcome: "caught" | "missed" | "broken"; said: string };

let on: { place: string; wrong: Mistake["wrong"] } | undefined;
let passed = new Set<string>();
Object.assign(globalThis, {
	plantedBug(place: string, right: () => unknown) {
		passed.add(place);
		return place === on?.place ? on.wrong(right) : right;
	},
});

const reached = new Map<string, ReadonlySet<string>>();

/** The places that a seed comes by without a bug. A seed always goes the same way, so a bug anywhere else would change nothing in it. */
async function placesIn(seed: number, fleet: boolean): Promise<ReadonlySet<string>> {
	const key = `${fleet} ${seed}`;
	const known = reached.get(key);
	if (known) return known;
	passed = new Set();
	const { failure } = await runSeed(seed, { fleet });
	if (failure) throw new Error(`seed ${seed} fails without a bug: ${failure.message}`);
	reached.set(key, passed);
	return passed;
}

/** What the engine says where a wrong version does not fit its function any more: nothing was caught then. */
const BROKEN = /TypeError|ReferenceError|Cannot (?:read|set) properties|is not (?:a function|defined|iterable)/;

async function hunt({ bug: name, place, first, seeds }: Hunt): Promise<Catch> {
	const bug = BUGS.find((one) => one.name === name);
	if (!bug) throw new Error(`there is no bug "${name}"`);
	const { fleet, wrong } = bug;
	let tried = 0;
	for (let seed = first; seed < first + seeds; seed++) {
		if (!(await placesIn(seed, fleet)).has(place)) continue;
		tried += 1;
		on = { place, wrong };
		const { failure } = await runSeed(seed, { fleet });
		on = undefined;
		if (!failure) continue;
		const said = `seed ${seed}, step ${failure.step}, ${failure.message.split("\n")[0]}`;
		return { outcome: BROKEN.test(said) ? "broken" : "caught", said };
	}
	// A bug that the engine never came by is another thing than one that the checkers overlook.
	return { outcome: "missed", said: `${seeds} seeds, ${tried} of them come by` };
}

process.on("message", (asked: Hunt) => {
	hunt(asked).then(
		(found) => process.send?.(found),
		(error: Error) => process.send?.({ outcome: "broken", said: error.message } satisfies Catch),
	);
});
