// Descriptions of the `recipe` commands.

import type { CommandSpec } from "../command.ts";

const load = () => import("../commands/recipe.ts");
const REPO = { name: "repo", type: "text", value: "NAME", help: "With the recipes of this repo." } as const;

export const RECIPE: readonly CommandSpec[] = [
	{
		name: "recipe list",
		help: "Recipes: of a repo, of the home, and those that come with Sluice.",
		options: [REPO],
		examples: [["sluice recipe list", "and where each is"]],
		load,
	},
	{
		name: "recipe show",
		help: "One recipe: its variables and steps.",
		args: [{ name: "NAME", help: "The recipe.", take: "one" }],
		options: [REPO],
		examples: [["sluice recipe show work", "what it asks for, and what it makes"]],
		load,
	},
	{
		name: "recipe check",
		help: "Look for mistakes in recipe files.",
		args: [{ name: "FILE", help: "Files; - is stdin.", take: "many", completes: "file" }],
		examples: [["sluice recipe check recipes/*.yml", "before they are used"]],
		load,
	},
];
