// Chance from a seed: the same seed gives the same numbers on every machine.

export type Random = {
	/** In [0, 1). */
	next(): number;
	/** 0 … n − 1. */
	int(n: number): number;
	/** low … high, both included. */
	between(low: number, high: number): number;
	chance(p: number): boolean;
	pick<T>(list: readonly T[]): T;
	/** A key of the table, by its weight. */
	weighted<K extends string>(table: Partial<Record<K, number>>): K;
	/** Some of the list, each with chance p, in its order. */
	some<T>(list: readonly T[], p: number): T[];
	fork(): Random;
};

/** Mixes text or numbers into 32 bits (FNV-1a with a final avalanche). */
export function hash(...parts: (string | number)[]): number {
	let h = 0x811c9dc5;
	for (const part of parts) {
		for (const char of `${part}|`) h = Math.imul(h ^ (char.codePointAt(0) ?? 0), 0x01000193);
	}
	h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
	h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
	return (h ^ (h >>> 16)) >>> 0;
}

/** mulberry32: small, fast, good enough to shake a scheduler. */
export function randomFrom(seed: number): Random {
	let state = hash("seed", seed);
	const next = () => {
		state = (state + 0x6d2b79f5) | 0;
		let t = Math.imul(state ^ (state >>> 15), 1 | state);
		t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
		return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
	};
	const int = (n: number) => Math.floor(next() * n);
	const random: Random = {
		next,
		int,
		between: (low, high) => low + int(high - low + 1),
		chance: (p) => next() < p,
		pick: (list) => {
			const one = list[int(list.length)];
			if (one === undefined && list.length === 0) throw new Error("pick from an empty list");
			return one as (typeof list)[number];
		},
		weighted: (table) => {
			const rows = Object.entries(table) as [never, number][];
			let rest = next() * rows.reduce((sum, [, weight]) => sum + weight, 0);
			for (const [key, weight] of rows) {
				rest -= weight;
				if (rest < 0) return key;
			}
			return (rows.at(-1) as [never, number])[0];
		},
		some: (list, p) => list.filter(() => next() < p),
		fork: () => randomFrom(int(2 ** 31)),
	};
	return random;
}

/** The one of the list that this pick means: the same one as long as it is there, whatever else comes or goes. */
export function chosen<T>(list: readonly T[], pick: number, name: (one: T) => string): T | undefined {
	let best: T | undefined;
	let least = Number.POSITIVE_INFINITY;
	for (const one of list) {
		const value = hash(pick, name(one));
		if (value < least) {
			least = value;
			best = one;
		}
	}
	return best;
}
