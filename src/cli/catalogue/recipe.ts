// Descriptions of the `recipe` commands.

import { commandsOf, text } from "../command.ts";

const REPO = text("repo", "NAME", "With the recipes of this repo.");

export const RECIPE = commandsOf("recipe", () => import("../commands/recipe.ts"), {
	list: {
		help: "Recipes: of a repo, of the home, and those that come with Sluice.",
		options: [REPO],
		examples: [["sluice recipe list", "and where each is"]],
	},
	show: {
		help: "One recipe: its variables and steps.",
		args: [{ name: "NAME", help: "The recipe.", take: "one" }],
		options: [REPO],
		examples: [["sluice recipe show work", "what it asks for, and what it makes"]],
	},
	check: {
		help: "Look for mistakes in recipe files.",
		args: [{ name: "FILE", help: "Files; - is stdin.", take: "many", completes: "file" }],
		examples: [["sluice recipe check recipes/*.yml", "before they are used"]],
	},
});
