// Where recipes are found: in a repo's `recipes/`, in the home's, and among the shipped ones; the nearest counts. Files are read when they are asked
// for, so a change counts at once.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { LineCounter, parseDocument } from "yaml";
import * as check from "../core/check.ts";
import { SluiceError } from "../core/errors.ts";
import { nearest } from "../core/nearest.ts";
import { type Recipe, readRecipe } from "../core/recipe.ts";
import { SHIPPED } from "../core/shipped-recipes.ts";
import { repeatedKeyMessage, repeatedKeys, YAML_OPTIONS, yamlFault } from "../core/yaml-bounds.ts";
import type { RecipeView } from "../intake.ts";

const KINDS = /\.ya?ml$/;
const MOST = 1_000_000;

export type RecipeBook = {
	/** Throws when there is none of this name, or when it is wrong. */
	get(name: string, repo?: string | null): Recipe;
	has(name: string, repo?: string | null): boolean;
	list(repo?: string | null): RecipeView[];
	show(name: string, repo?: string | null): RecipeView;
};

/** `repo`: the folder of a repo whose recipes may be used; null for none. */
export function openRecipeBook(home: string, repo: (name: string) => string | null): RecipeBook {
	/** Name → file; the first folder that has it counts. */
	function files(of: string | null | undefined): Map<string, string> {
		const folders = [...(of ? [repo(of)] : []), home].flatMap((folder) => (folder === null ? [] : [join(folder, "recipes")]));
		const found = new Map<string, string>();
		for (const folder of folders)
			for (const file of namesIn(folder)) {
				const name = file.replace(KINDS, "");
				if (!found.has(name)) found.set(name, join(folder, file));
			}
		return found;
	}

	function read(name: string, of: string | null | undefined): { recipe: Recipe; origin: string } {
		const path = files(of).get(name);
		if (path !== undefined) return { recipe: readRecipeText(textOf(path), name, path), origin: path };
		const shipped = Object.hasOwn(SHIPPED, name) ? SHIPPED[name] : undefined;
		if (shipped) return { recipe: readRecipe(shipped, name), origin: "shipped" };
		const all = [...new Set([...files(of).keys(), ...Object.keys(SHIPPED)])];
		const guess = nearest(name, all);
		throw new SluiceError("not_found", `there is no recipe ${check.shown(name)}`, {
			field: "recipe",
			hint: guess ? `did you mean "${guess}"?` : `known: ${all.join(", ")}`,
		});
	}

	function view(name: string, of: string | null | undefined): RecipeView {
		try {
			const { recipe, origin } = read(name, of);
			return { ...recipe, origin, error: null };
		} catch (error) {
			if (!(error instanceof SluiceError)) throw error;
			return { name, description: "", origin: files(of).get(name) ?? "shipped", vars: [], steps: [], error: error.message };
		}
	}

	return {
		get: (name, of) => read(name, of).recipe,
		has: (name, of) => Object.hasOwn(SHIPPED, name) || files(of).has(name),
		list: (of) => [...new Set([...files(of).keys(), ...Object.keys(SHIPPED)])].sort().map((name) => view(name, of)),
		show(name, of) {
			read(name, of);
			return view(name, of);
		},
	};
}

/** Throws what is wrong with it, with the line where that is known. */
export function readRecipeText(text: string, name: string, path = `${name}.yml`): Recipe {
	const fault = yamlFault(text, MOST);
	if (fault !== null) throw new SluiceError("limit", `${path}: ${fault}`, { field: "recipe" });
	const lines = new LineCounter();
	const document = parseDocument(text, { ...YAML_OPTIONS, lineCounter: lines });
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
		const stat = statSync(path);
		if (!stat.isFile()) throw new Error("is not a plain file");
		if (stat.size > MOST * 4) throw new Error("too large");
		return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
	} catch (error) {
		const said = error instanceof TypeError ? "is not UTF-8" : error instanceof Error ? error.message : String(error);
		throw new SluiceError("invalid", `${path}: ${said}`, { field: "recipe" });
	}
}
