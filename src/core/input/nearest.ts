// "Did you mean": the known word that is closest to a mistyped one.

/** The hint of an error about a word that is not known: the nearest one, else `otherwise`. */
export function suggest<Otherwise extends string | undefined>(
	word: string,
	known: readonly string[],
	otherwise: Otherwise,
): string | Otherwise {
	const guess = nearest(word, known);
	return guess === undefined ? otherwise : `did you mean "${guess}"?`;
}

export function nearest(word: string, known: readonly string[]): string | undefined {
	let best: string | undefined;
	if (word.length > 64) return undefined;
	let least = Math.max(word.length <= 3 ? 1 : 2, Math.floor(word.length / 3)) + 1;
	for (const candidate of known) {
		const distance = editDistance(word, candidate, least);
		if (distance < least) {
			least = distance;
			best = candidate;
		}
	}
	return best;
}

/** Insertions, deletions, replacements and swaps of neighbours; gives up at `limit`. */
function editDistance(a: string, b: string, limit: number): number {
	if (Math.abs(a.length - b.length) >= limit) return limit;
	let before: number[] = [];
	let last = Array.from({ length: b.length + 1 }, (_, index) => index);
	for (let i = 1; i <= a.length; i++) {
		const row = [i];
		for (let j = 1; j <= b.length; j++) {
			const same = a[i - 1] === b[j - 1] ? 0 : 1;
			let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + same);
			if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
			row.push(cost);
		}
		before = last;
		last = row;
	}
	return last[b.length] ?? limit;
}
