// The methods of recipes.

import type { RecipeView } from "../../contracts/intake.ts";
import type { Doc } from "../documents.ts";
import { maybe, text, viewerMethod, word } from "../fields.ts";

export const RECIPE_METHODS = {
	"recipe.list": viewerMethod<Doc<{ recipes: RecipeView[]; warning?: string }>>()({
		about:
			"Recipes: of a repo, of the home, and the shipped ones. One that is wrong has an error. `warning` says why recipes of the repo's own do not count.",
		params: { repo: maybe(word("with those of this repo")) },
		result: "{recipes: [{name, description, origin, vars, steps, error}], warning?}",
	}),
	"recipe.show": viewerMethod<Doc<{ recipe: RecipeView; warning?: string }>>()({
		about: "One recipe: its variables and its steps.",
		params: { name: word("the recipe"), repo: maybe(word("as this repo has it")) },
		result:
			"{recipe: {name, description, origin, vars: [{name, about, required, default, pattern}], steps: [{name, after, template}], error}, warning?}",
	}),
	"recipe.check": viewerMethod<Doc<{ ok: boolean; problems: { message: string; field: string | null; hint: string | null }[] }>>()({
		about: "What is wrong with a recipe's text. Changes nothing.",
		params: { text: text("YAML"), name: maybe(word("its name, for messages")) },
		result: "{ok, problems: [{message, field, hint}]}",
	}),
} as const;
