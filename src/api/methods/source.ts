// The methods of sources and recipes.

import { doc, type Handlers } from "../call.ts";

export const sourceMethods: Handlers<"source"> = {
	"source.list": async (_params, { context }) => doc({ sources: await context.intake.sources() }),
	"source.show": async ({ name, all }, { context }) => {
		const { source, items } = await context.intake.source(name);
		return doc({ source, items: all ? items : items.filter(({ open }) => open) });
	},
	"source.scan": async ({ name }, { context }) => doc(await context.intake.scan(name)),
};

export const recipeMethods: Handlers<"recipe"> = {
	"recipe.list": async ({ repo }, { context }) => doc({ recipes: context.intake.recipes(repo) }),
	"recipe.show": async ({ name, repo }, { context }) => doc({ recipe: context.intake.recipe(name, repo) }),
	"recipe.check": async ({ text, name }, { context }) => {
		const problem = context.intake.checkRecipe(text, name ?? "recipe");
		return doc({ ok: problem === null, problems: problem === null ? [] : [problem] });
	},
};
