// Fuzzy search: how well a text fits the words that a person typed, and which letters to mark. Pure.

export type FuzzyFit = { score: number; marks: [from: number, to: number][] };

const isStart = (text: string, at: number): boolean => at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1] ?? "");

/** The letters of a word in their order, with gaps: only at the beginnings of words or side by side, so that chance finds little. */
function scattered(text: string, word: string): FuzzyFit | null {
	const marks: FuzzyFit["marks"] = [];
	let at = 0;
	let gaps = 0;
	for (const letter of word) {
		const last = marks.at(-1);
		if (last && text[at] === letter) last[1] = ++at;
		else {
			let next = text.indexOf(letter, at);
			while (next >= 0 && !isStart(text, next)) next = text.indexOf(letter, next + 1);
			if (next < 0) return null;
			marks.push([next, next + 1]);
			at = next + 1;
			gaps++;
		}
	}
	return { score: 30 - Math.min(20, gaps * 4), marks };
}

function oneWord(text: string, word: string): FuzzyFit | null {
	let inside = -1;
	for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
		if (isStart(text, at)) {
			const isWhole = at + word.length === text.length || !/[\p{L}\p{N}]/u.test(text[at + word.length] ?? "");
			return { score: (isWhole ? 100 : 80) - Math.min(20, at / 4), marks: [[at, at + word.length]] };
		}
		if (inside < 0) inside = at;
	}
	if (inside >= 0 && word.length > 1) return { score: 50 - Math.min(20, inside / 4), marks: [[inside, inside + word.length]] };
	return word.length > 1 ? scattered(text, word) : null;
}

/** The words of a query, in lower case. */
export const wordsOf = (query: string): string[] => query.toLowerCase().split(/\s+/).filter(Boolean);

/** Every word must be found; null if one is not. The score is that of the worst word, and a little more for short texts. */
export function fitOf(words: readonly string[], text: string): FuzzyFit | null {
	const low = text.toLowerCase();
	let score = 100;
	const marks: FuzzyFit["marks"] = [];
	for (const word of words) {
		const found = oneWord(low, word);
		if (found === null) return null;
		score = Math.min(score, found.score);
		marks.push(...found.marks);
	}
	// Letters whose lower case is longer would shift the marks.
	return { score: score - Math.min(9, text.length / 20), marks: low.length === text.length ? joined(marks) : [] };
}

function joined(marks: FuzzyFit["marks"]): FuzzyFit["marks"] {
	const found: FuzzyFit["marks"] = [];
	for (const [from, to] of marks.sort((a, b) => a[0] - b[0])) {
		const last = found.at(-1);
		if (last && from <= last[1]) last[1] = Math.max(last[1], to);
		else found.push([from, to]);
	}
	return found;
}
