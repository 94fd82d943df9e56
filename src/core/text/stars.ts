// Names with stars, such as `AWS_*`: `*` matches any characters, or none. Not converted to a regular expression: `*a*a*a*b` would backtrack too much.

/** Whether a name is one that a list of patterns means; letters count as they are written. */
export const matchesAny = (patterns: readonly string[], name: string): boolean => patterns.some((pattern) => matchesStars(pattern, name));

export function matchesStars(pattern: string, name: string): boolean {
	const [first = "", ...rest] = pattern.split("*");
	const last = rest.pop();
	if (last === undefined) return name === first;
	if (!name.startsWith(first)) return false;
	// The earliest match is best for every piece but the last: it leaves most of the name for the rest.
	let at = first.length;
	for (const piece of rest) {
		const found = name.indexOf(piece, at);
		if (found < 0) return false;
		at = found + piece.length;
	}
	return name.length - last.length >= at && name.endsWith(last);
}
