// How long jobs take, by runs that ended well: which past runs represent a job, and random draws from them. Pure: chance is a seeded sequence.
//
// The runs of its recipe in its lane come first, then those of its recipe, then those of its lane, each if there are enough; else the first of these pools
// that has any; else all runs. A draw is one run, varied a little (a smoothed bootstrap): few runs say less about the next one than many do.

import { addTo } from "../text/lists-by-key.ts";

export type Sample = { lane: string; recipe: string | null; ms: number };
/** What an estimate is based on. `like`: "same" = the job's recipe or lane, "any" = other kinds of runs, if there are no better ones. */
export type Basis = {
	of: string;
	runs: number;
	like: "same" | "any";
	/** How long half, and nine of ten, of these runs took at most. */
	usual: { p50_ms: number; p90_ms: number };
};
export type Pool = { basis: Basis; sorted: Float64Array; width: number };

const ENOUGH_RUNS = 5;
/** A single run says nothing about the spread: assume that the middle two thirds are within a factor of two. */
const UNKNOWN_SPREAD = Math.LN2;

export function poolsOf(samples: readonly Sample[]): (job: { lane: string; recipe: string | null }) => Pool | null {
	const groups = new Map<string, number[]>();
	const key = (recipe: string | null, lane: string | null) => JSON.stringify([recipe, lane]);
	for (const { lane, recipe, ms } of samples) {
		const least = Math.max(1, ms);
		addTo(groups, key(null, null), least);
		addTo(groups, key(null, lane), least);
		if (recipe === null) continue;
		addTo(groups, key(recipe, null), least);
		addTo(groups, key(recipe, lane), least);
	}
	const made = new Map<string, Pool>();
	const pool = (group: string, of: string, like: Basis["like"]): Pool => {
		const known = made.get(group);
		if (known) return known;
		const sorted = Float64Array.from(groups.get(group) ?? []).sort();
		const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
		const usual = { p50_ms: at(0.5), p90_ms: at(0.9) };
		const fresh = { basis: { of, runs: sorted.length, like, usual }, sorted, width: widthOf(sorted) };
		made.set(group, fresh);
		return fresh;
	};
	return ({ lane, recipe }) => {
		const ways: [string, string][] = [
			...(recipe === null
				? []
				: ([
						[key(recipe, lane), `recipe ${recipe} in lane ${lane}`],
						[key(recipe, null), `recipe ${recipe}`],
					] as [string, string][])),
			[key(null, lane), `lane ${lane}`],
		];
		const count = ([at]: [string, string]) => groups.get(at)?.length ?? 0;
		const best = ways.find((way) => count(way) >= ENOUGH_RUNS) ?? ways.find((way) => count(way) > 0);
		if (best) return pool(best[0], best[1], "same");
		return groups.size > 0 ? pool(key(null, null), "other lanes", "any") : null;
	};
}

/** How much a draw is varied: Silverman's rule, on the logarithms. */
function widthOf(sorted: Float64Array): number {
	const count = sorted.length;
	if (count < 2) return UNKNOWN_SPREAD;
	const logs = sorted.map(Math.log);
	const mean = logs.reduce((sum, one) => sum + one, 0) / count;
	const spread = Math.sqrt(logs.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (count - 1));
	const widened = spread * 0.9 * count ** -0.2;
	return count < ENOUGH_RUNS ? Math.max(widened, UNKNOWN_SPREAD / count) : widened;
}

/** A random sequence of numbers in [0, 1), determined by the seed (mulberry32). */
export function sequence(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = state;
		mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
	};
}

const bell = (chance: () => number): number => Math.sqrt(-2 * Math.log(1 - chance())) * Math.cos(2 * Math.PI * chance());

/** Draws how long a run will take in total that has taken `elapsed` already. */
export function draw({ sorted, width }: Pool, elapsed: number, chance: () => number): number {
	// Only runs that took longer count. If there are none, the run is about to end, or its duration is unknown.
	let from = 0;
	if (elapsed > 0) {
		let above = sorted.length;
		while (from < above) {
			const middle = (from + above) >> 1;
			if ((sorted[middle] as number) > elapsed) above = middle;
			else from = middle + 1;
		}
		if (from === sorted.length) return elapsed * (1 + chance());
	}
	const one = sorted[from + Math.floor(chance() * (sorted.length - from))] as number;
	return Math.max(elapsed + 1, one * Math.exp(width * bell(chance)));
}
