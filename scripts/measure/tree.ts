// The files of the repository and their syntax trees, for the tests of its style and for `npm run measure`.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { type ParseResult, parseSync } from "oxc-parser";

/** The folder that has `biome.json`: this file lies in `scripts/` of it, or in `dist/scripts/` once it is built. */
export const ROOT = (function above(folder: string): string {
	return existsSync(join(folder, "biome.json")) ? folder : above(dirname(folder));
})(dirname(fileURLToPath(import.meta.url)));

const NOT_OURS = new Set([".git", "node_modules", "dist", "coverage", ".cache"]);

export const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** Every file of the repository, as paths from its root with forward slashes. */
export const FILES: readonly string[] = (function walk(folder: string): string[] {
	return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
		const path = posix.join(folder, entry.name);
		if (entry.isDirectory()) return NOT_OURS.has(entry.name) ? [] : walk(path);
		return entry.isFile() && !NOT_OURS.has(entry.name) && !/\.db(-wal|-shm)?$/.test(entry.name) ? [path] : [];
	});
})("");

export const SOURCES = FILES.filter((path) => /\.tsx?$/.test(path));
export const isTest = (path: string): boolean => /\.(?:test|real)\.ts$/.test(path);

/** What users run: the program and its page, without tests. */
export const PRODUCT = SOURCES.filter((path) => /^(?:src|web)\//.test(path) && !isTest(path));
/** The product and the programs around it. The makers of test data are left out, as tests are. */
export const PROGRAMS = SOURCES.filter((path) => /^(?:src|web|sim|chaos|bench|scripts)\//.test(path) && !isTest(path));

/** `src/core/gates/time.ts` → `src/core`; a contract such as `src/contracts/store.ts` → `src`; everything of the page → `web`. */
export function areaOf(path: string): string {
	const parts = path.split("/");
	return parts[0] === "src" && parts.length > 2 ? `src/${parts[1]}` : (parts[0] as string);
}

/** A source with its syntax tree. Positions count characters from 0, lines from 1. */
export type Source = { path: string; text: string; lines: number; tree: ParseResult; lineAt(position: number): number };

const parsed = new Map<string, Source>();

export function sourceOf(path: string): Source {
	const known = parsed.get(path);
	if (known) return known;
	const source = parseSource(path, read(path));
	parsed.set(path, source);
	return source;
}

export function parseSource(path: string, text: string): Source {
	const tree = parseSync(path, text);
	const [wrong] = tree.errors;
	if (wrong) throw new Error(`${path} cannot be parsed: ${wrong.message}`);
	const starts = [0];
	for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
	const lineAt = (position: number): number => {
		let low = 0;
		for (let high = starts.length; high - low > 1; ) {
			const middle = (low + high) >> 1;
			if ((starts[middle] ?? 0) <= position) low = middle;
			else high = middle;
		}
		return low + 1;
	};
	return { path, text, lines: text.trimEnd().split("\n").length, tree, lineAt };
}
