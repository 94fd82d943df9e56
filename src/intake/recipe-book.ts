// Finds recipes: in a repo's `recipes/`, in the home's, and among the shipped ones; the first of these wins. Files are read at each use, so changes apply
// at once.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { LineCounter } from "yaml";
import type { Intake, RecipeView, RepoRecipes } from "../contracts/intake.ts";
import { messageOf, SluiceError } from "../core/errors.ts";
import * as check from "../core/input/check.ts";
import { suggest } from "../core/input/nearest.ts";
import { type Recipe, readRecipe } from "../core/recipes/recipe.ts";
import { SHIPPED } from "../core/recipes/shipped.ts";
import { readPlainFileNow } from "../host/plain-file.ts";
import { parseYaml, repeatedKeyMessage, repeatedKeys } from "../host/yaml-bounds.ts";

const KINDS = /\.ya?ml$/;
const MAX_CHARACTERS = 1_000_000;

export type RecipeBook = ReturnType<typeof openRecipeBook>;
/** The repo whose own recipes come first. */
type OfRepo = string | null | undefined;

/** `text`: of a repo's recipe, which was already read for the comparison with the trusted files. */
type RecipePlace = { path: string; text?: string };

/** `repo`: returns the repo's own recipes. */
export function openRecipeBook(home: string, repo: (name: string) => RepoRecipes) {
	/** The repo's files, then the home's. */
	function files(of: OfRepo): Map<string, RecipePlace> {
		const found = new Map<string, RecipePlace>();
		const add = (name: string, place: RecipePlace) => void (found.has(name) || found.set(name, place));
		for (const { name, path, text } of of ? repo(of).files : []) add(name, { path, text });
		for (const file of namesIn(join(home, "recipes"))) add(file.replace(KINDS, ""), { path: join(home, "recipes", file) });
		return found;
	}

	/** Why the repo's own recipe of this name is not in force, so that another recipe or none is used; without a name, why none of its own is in force. */
	function problem(of: OfRepo, name?: string): string | null {
		if (!of) return null;
		const { problem, hint, ignored } = repo(of);
		if (problem === null || (name !== undefined && !ignored.includes(name))) return null;
		return hint === null ? problem : `${problem}; ${hint}`;
	}

	function read(name: string, of: OfRepo, all = files(of)): { recipe: Recipe; origin: string } {
		const place = all.get(name);
		if (place !== undefined) return { recipe: readRecipeText(place.text ?? textOf(place.path), name, place.path), origin: place.path };
		const shipped = Object.hasOwn(SHIPPED, name) ? SHIPPED[name] : undefined;
		if (shipped) return { recipe: readRecipe(shipped, name), origin: "shipped" };
		const ignored = problem(of, name);
		if (ignored !== null) throw new SluiceError("not_found", `there is no recipe ${check.shown(name)}: ${ignored}`, { field: "recipe" });
		const names = [...new Set([...all.keys(), ...Object.keys(SHIPPED)])];
		throw new SluiceError("not_found", `there is no recipe ${check.shown(name)}`, {
			field: "recipe",
			hint: suggest(name, names, `known: ${names.join(", ")}`),
		});
	}

	function view(name: string, of: OfRepo, all: Map<string, RecipePlace>): RecipeView {
		try {
			const { recipe, origin } = read(name, of, all);
			return { ...recipe, origin, error: null };
		} catch (error) {
			if (!(error instanceof SluiceError)) throw error;
			return { name, description: "", origin: all.get(name)?.path ?? "shipped", vars: [], steps: [], error: error.message };
		}
	}

	return {
		/** Throws if there is no such recipe, or if it is invalid. */
		get: (name: string, of?: OfRepo): Recipe => read(name, of).recipe,
		has: (name: string, of?: OfRepo): boolean => Object.hasOwn(SHIPPED, name) || files(of).has(name),
		list(of?: OfRepo): RecipeView[] {
			const all = files(of);
			return [...new Set([...all.keys(), ...Object.keys(SHIPPED)])].sort().map((name) => view(name, of, all));
		},
		show(name: string, of?: OfRepo): RecipeView {
			const { recipe, origin } = read(name, of);
			return { ...recipe, origin, error: null };
		},
		problem,
	};
}

/** Throws what is wrong, with the line if it is known. */
export function readRecipeText(text: string, name: string, path = `${name}.yml`): Recipe {
	const lines = new LineCounter();
	const { fault, document } = parseYaml(text, lines, MAX_CHARACTERS);
	if (fault !== null) throw new SluiceError("limit", `${path}: ${fault}`, { field: "recipe" });
	const refuse = (offset: number, message: string): never => {
		const { line, col } = lines.linePos(offset);
		throw new SluiceError("invalid", `${path}:${line}:${col}: ${message}`, { field: "recipe" });
	};
	const flaw = document.errors[0] ?? document.warnings[0];
	if (flaw) refuse(flaw.pos[0], flaw.message);
	const [repeated] = repeatedKeys(document.contents);
	if (repeated) refuse(repeated.offset, repeatedKeyMessage(repeated.key));
	try {
		return readRecipe(document.toJS({ maxAliasCount: 100 }), name);
	} catch (error) {
		if (!(error instanceof SluiceError)) throw new SluiceError("invalid", `${path}: ${String(error)}`, { field: "recipe" });
		throw new SluiceError(error.code, `${path}: ${error.message}`, { field: error.field, hint: error.hint, cause: error });
	}
}

export const checkRecipe: Intake["checkRecipe"] = (text, name) => {
	try {
		readRecipeText(text, name);
		return null;
	} catch (error) {
		if (!(error instanceof SluiceError)) throw error;
		return { message: error.message, field: error.field ?? null, hint: error.hint ?? null };
	}
};

function namesIn(folder: string): string[] {
	try {
		return readdirSync(folder)
			.filter((file) => KINDS.test(file) && !file.startsWith("."))
			.sort();
	} catch {
		return [];
	}
}

function textOf(path: string): string {
	try {
		return new TextDecoder("utf-8", { fatal: true }).decode(readPlainFileNow(path, MAX_CHARACTERS * 4));
	} catch (error) {
		const said = error instanceof TypeError ? "is not UTF-8" : messageOf(error);
		throw new SluiceError("invalid", `${path}: ${said}`, { field: "recipe" });
	}
}
