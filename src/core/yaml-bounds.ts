// YAML from outside is bounded before it is parsed: the parser's time grows with the marks in a text, and its own search for repeated keys with their square.

/** Lines, brackets, commas and quotes. The parser takes about 5 µs for each. */
export const MAX_MARKS = 50_000;

/** For `parseDocument`: repeated keys are found by `repeatedKeys`, in one walk. */
export const YAML_OPTIONS = { prettyErrors: false, uniqueKeys: false } as const;

/** What is too much of a text, in words; null when it may be parsed. `max`: characters. */
export function yamlFault(text: string, max: number, maxMarks = MAX_MARKS): string | null {
	if (text.length > max) return `is ${text.length} characters long; the limit is ${max}`;
	let marks = 0;
	for (let at = 0; at < text.length; at++) {
		const code = text.charCodeAt(at);
		// \n " ' , [ ] { }
		if (code === 10 || code === 34 || code === 39 || code === 44 || code === 91 || code === 93 || code === 123 || code === 125) marks++;
	}
	return marks > maxMarks ? `has ${marks} lines, brackets, commas and quotes; the limit is ${maxMarks}` : null;
}

export const repeatedKeyMessage = (key: string): string => `the key "${key.slice(0, 60)}" stands here a second time`;

export type RepeatedKey = { key: string; offset: number };

/** The keys that stand twice in one map, in the order of the text. Takes a node of the parser as it is: a map has pairs, a list has nodes. */
export function repeatedKeys(root: unknown): RepeatedKey[] {
	const repeated: RepeatedKey[] = [];
	const open: unknown[] = [root];
	for (let node = open.pop(); node !== undefined; node = open.pop()) {
		const { items } = (node ?? {}) as { items?: unknown };
		if (!Array.isArray(items)) continue;
		const seen = new Set<string>();
		for (const item of items) {
			if (typeof item !== "object" || item === null) continue;
			if (!("key" in item)) {
				open.push(item);
				continue;
			}
			const { key, value } = item as { key: unknown; value?: unknown };
			if (typeof value === "object" && value !== null) open.push(value);
			const { value: name, range } = (key ?? {}) as { value?: unknown; range?: [number, number, number] };
			if (name === undefined || typeof name === "object") continue;
			const text = `${typeof name} ${String(name)}`;
			if (seen.has(text)) repeated.push({ key: String(name), offset: range?.[0] ?? 0 });
			seen.add(text);
		}
	}
	return repeated.sort((one, other) => one.offset - other.offset);
}
