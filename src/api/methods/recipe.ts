// The methods of recipes.

import type { RecipeView } from "../../contracts/intake.ts";
import { doc, type Handlers } from "../call.ts";
import type { Context } from "../context.ts";
import { looksSecret, MASKED, maskedDeep } from "../secrets.ts";

/** A recipe may set variables for its jobs, and defaults for its own; both may be secrets. */
function shown(recipe: RecipeView, { config }: Pick<Context, "config">): RecipeView {
	const names = config.settings().secrets;
	const { vars, ...rest } = maskedDeep(recipe, { names }) as RecipeView;
	const hides = ({ name, default: usual }: RecipeView["vars"][number]) => usual !== null && looksSecret(name, usual, names);
	return { ...rest, vars: vars.map((one) => (hides(one) ? { ...one, default: MASKED } : one)) };
}

/** Why the repo's own recipes are not in force, if so. */
const ignoredIn = (repo: string | undefined, { intake }: Pick<Context, "intake">): { warning?: string } => {
	const problem = repo === undefined ? null : intake.recipeProblem(repo);
	return problem === null ? {} : { warning: problem };
};

export const recipeMethods: Handlers<"recipe"> = {
	"recipe.list": async ({ repo }, { context }) =>
		doc({ recipes: context.intake.recipes(repo).map((one) => shown(one, context)), ...ignoredIn(repo, context) }),
	"recipe.show": async ({ name, repo }, { context }) =>
		doc({ recipe: shown(context.intake.recipe(name, repo), context), ...ignoredIn(repo, context) }),
	"recipe.check": async ({ text, name }, { context }) => {
		const problem = context.intake.checkRecipe(text, name ?? "recipe");
		return doc({ ok: problem === null, problems: problem === null ? [] : [problem] });
	},
};
