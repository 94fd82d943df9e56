// What must not grow: the counts that `test/tidy/counts.test.ts` compares with its lists, and that `npm run measure` prints.

import { posix } from "node:path";
import { commentsOf, isNameless } from "./comments.ts";
import { castsOf, exportedTypesOf, functionsOf } from "./syntax.ts";
import { areaOf, isTest, PRODUCT, PROGRAMS, SOURCES, sourceOf } from "./tree.ts";

export const MOST_FILES = 20;
export const MOST_LINES = 80;
export const MOST_CASTS = 9;

/** A name → how much there is of it. Only what is over its limit is listed. */
export type Counts = Record<string, number>;

const byName = (counts: Map<string, number>, isOver: (count: number) => boolean): Counts =>
	Object.fromEntries([...counts].filter(([, count]) => isOver(count)).sort(([a], [b]) => (a < b ? -1 : 1)));

const add = (counts: Map<string, number>, name: string, more: number) => counts.set(name, (counts.get(name) ?? 0) + more);

/** Folder → source files directly in it, tests aside. */
function largeFolders(): Counts {
	const counts = new Map<string, number>();
	for (const path of SOURCES) if (!isTest(path)) add(counts, posix.dirname(path), 1);
	return byName(counts, (count) => count > MOST_FILES);
}

/** `file: function` → its lines. */
function longFunctions(): Counts {
	const counts = new Map<string, number>();
	for (const path of PROGRAMS) {
		for (const { name, lines } of functionsOf(sourceOf(path))) {
			const key = `${path}: ${name}`;
			counts.set(key, Math.max(counts.get(key) ?? 0, lines));
		}
	}
	return byName(counts, (count) => count > MOST_LINES);
}

/** Area → comments whose actor has no name. */
function namelessComments(): Counts {
	const counts = new Map<string, number>();
	for (const path of PRODUCT) add(counts, areaOf(path), commentsOf(sourceOf(path)).filter(isNameless).length);
	return byName(counts, (count) => count > 0);
}

/** Area → casts a thousand lines, rounded up. */
function manyCasts(): Counts {
	const rates = new Map<string, number>();
	for (const [area, { casts, lines }] of areas()) rates.set(area, Math.ceil((1000 * casts) / lines));
	return byName(rates, (rate) => rate > MOST_CASTS);
}

/** Name → how many files export a type of that name. */
function sharedTypeNames(): Counts {
	const counts = new Map<string, number>();
	for (const path of PRODUCT) for (const name of new Set(exportedTypesOf(sourceOf(path)))) add(counts, name, 1);
	return byName(counts, (count) => count > 1);
}

export type Area = { files: number; lines: number; casts: number; comments: number; nameless: number };

export function areas(): Map<string, Area> {
	const found = new Map<string, Area>();
	for (const path of PRODUCT) {
		const source = sourceOf(path);
		const area = found.get(areaOf(path)) ?? { files: 0, lines: 0, casts: 0, comments: 0, nameless: 0 };
		const comments = commentsOf(source);
		area.files++;
		area.lines += source.lines;
		area.casts += castsOf(source);
		area.comments += comments.length;
		area.nameless += comments.filter(isNameless).length;
		found.set(areaOf(path), area);
	}
	return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The name of a list in `test/tidy/lists.json` → how it is counted. */
export const LISTS = {
	"files a folder": largeFolders,
	"lines a function": longFunctions,
	"comments with a nameless actor": namelessComments,
	"casts a thousand lines": manyCasts,
	"types of one name": sharedTypeNames,
} as const satisfies Record<string, () => Counts>;
