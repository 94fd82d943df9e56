// The methods of sources and recipes.

import type { RecipeView } from "../../intake.ts";
import { doc, type Handlers } from "../call.ts";
import type { Context } from "../context.ts";
import { maskedDeep } from "../secrets.ts";

export const sourceMethods: Handlers<"source"> = {
	"source.list": async (_params, { context }) => doc({ sources: await context.intake.sources() }),
	"source.show": async ({ name, all }, { context }) => {
		const { source, items } = await context.intake.source(name);
		return doc({ source, items: all ? items : items.filter(({ open }) => open) });
	},
	"source.scan": async ({ name }, { context }) => doc(await context.intake.scan(name)),
};

/** A recipe may set variables for its jobs. */
const shown = (recipe: RecipeView, { config }: Pick<Context, "config">): RecipeView =>
	maskedDeep(recipe, { names: config.settings().secrets }) as RecipeView;

export const recipeMethods: Handlers<"recipe"> = {
	"recipe.list": async ({ repo }, { context }) => doc({ recipes: context.intake.recipes(repo).map((one) => shown(one, context)) }),
	"recipe.show": async ({ name, repo }, { context }) => doc({ recipe: shown(context.intake.recipe(name, repo), context) }),
	"recipe.check": async ({ text, name }, { context }) => {
		const problem = context.intake.checkRecipe(text, name ?? "recipe");
		return doc({ ok: problem === null, problems: problem === null ? [] : [problem] });
	},
};
