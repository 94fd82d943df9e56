// The lists of what was over a limit when the limit came: `test/tidy/lists.json`. Their numbers may only fall.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Counts, LISTS } from "./counts.ts";
import { ROOT, read } from "./tree.ts";

const FILE = "test/tidy/lists.json";

export type ListName = keyof typeof LISTS;
export const LIST_NAMES = Object.keys(LISTS) as ListName[];

export const readLists = (): Partial<Record<string, Counts>> => JSON.parse(read(FILE));

/** What differs from the list, a line each: what grew, or fell and is still listed with the larger number. */
export function differences(listed: Counts, found: Counts): string[] {
	return [...new Set([...Object.keys(listed), ...Object.keys(found)])].sort().flatMap((name) => {
		const before = listed[name];
		const now = found[name];
		if (before === now) return [];
		if (before === undefined) return [`${name}: ${now} is over the limit`];
		if (now === undefined) return [`${name}: within the limit now, listed with ${before}: lower the list (npm run measure -- --lower)`];
		return [
			now > before
				? `${name}: ${now}, was ${before}`
				: `${name}: ${now}, listed with ${before}: lower the list (npm run measure -- --lower)`,
		];
	});
}

/** The list with every number that fell; what grew, or is new, stays as it was listed. */
export function lowered(listed: Counts, found: Counts): Counts {
	return Object.fromEntries(
		Object.entries(listed).flatMap(([name, before]) => {
			const now = found[name];
			return now === undefined ? [] : [[name, Math.min(before, now)]];
		}),
	);
}

export function lowerLists(): void {
	const lists = readLists();
	const next = Object.fromEntries(LIST_NAMES.map((name) => [name, lowered(lists[name] ?? {}, LISTS[name]())]));
	writeFileSync(join(ROOT, FILE), `${JSON.stringify(next, null, 2)}\n`);
}
