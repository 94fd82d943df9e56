// The recipes in a repo's checkout. Each file is read once, so that the text that is used is the text of its digest. Their number and size are limited, and
// reading never blocks.

import { opendirSync } from "node:fs";
import { join } from "node:path";
import { codeOf, messageOf } from "../../core/errors.ts";
import { RECIPES_FOLDER } from "../../core/trust/repo-files.ts";
import { type OwnFile, readOwnFile } from "./file.ts";

/** `file`: its path in the repo. */
type RecipeFile = OwnFile & { name: string; file: string };
/** `problem`: why they cannot be used; then there are no files. */
export type RecipesRead = { files: RecipeFile[]; problem: string | null };

const KINDS = /\.ya?ml$/;
const MOST_ENTRIES = 10_000;
const MOST_FILES = 500;
/** For all recipes of a repo together. */
const MOST_BYTES = 4_000_000;

/** All recipes in `recipes/`, by file name; folders in it are ignored. */
export function recipesIn(root: string): RecipesRead {
	try {
		const names = namesIn(join(root, RECIPES_FOLDER));
		if (names.length > MOST_FILES) throw new Error(`${RECIPES_FOLDER}/ has ${names.length} recipes, at most ${MOST_FILES} are read`);
		let left = MOST_BYTES;
		const files = names.map((base) => {
			const read = readOne(root, base, left);
			left -= Buffer.byteLength(read.text);
			return read;
		});
		return { files, problem: null };
	} catch (error) {
		return { files: [], problem: messageOf(error) };
	}
}

function namesIn(folder: string): string[] {
	const names: string[] = [];
	let entries: ReturnType<typeof opendirSync>;
	try {
		entries = opendirSync(folder);
	} catch (error) {
		const code = codeOf(error);
		if (code === "ENOENT" || code === "ENOTDIR") return [];
		throw new Error(`${RECIPES_FOLDER}/ cannot be read (${code})`);
	}
	try {
		for (let count = 0; ; count++) {
			const entry = entries.readSync();
			if (entry === null) return names.sort();
			if (count === MOST_ENTRIES) throw new Error(`${RECIPES_FOLDER}/ has more than ${MOST_ENTRIES} entries`);
			if (KINDS.test(entry.name) && !entry.name.startsWith(".")) names.push(entry.name);
		}
	} finally {
		entries.closeSync();
	}
}

function readOne(root: string, base: string, most: number): RecipeFile {
	const file = `${RECIPES_FOLDER}/${base}`;
	if (/\p{Cc}/u.test(base)) throw new Error(`${JSON.stringify(file)} has a name that no recipe can have`);
	const read = readOwnFile(root, file, { most, tooLarge: `recipes of a repo have ${MOST_BYTES} bytes at most, all together` });
	// Its folder has it: it is gone since, or a link to nothing.
	if (read === null) throw new Error(`${file} cannot be read (ENOENT)`);
	return { name: base.replace(KINDS, ""), file, ...read };
}
