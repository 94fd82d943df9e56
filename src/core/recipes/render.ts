// Fills in a recipe's variables and returns its jobs. Pure.

import { SluiceError } from "../errors.ts";
import * as check from "../input/check.ts";
import { suggest } from "../input/nearest.ts";
import type { JobInput } from "../job.ts";
import { MAX_STEPS } from "../text/pattern.ts";
import { asText, isAfterPlace, isPlaceAt, isRunTime } from "./prompt-context.ts";
import { BUILT_IN, type BuiltIn, isPrompt, mustFit, type Recipe, type RecipeStep, VARIABLE, walk } from "./recipe.ts";

/** Maximum characters that values add to all texts of a recipe: a short text can insert a long value many times. */
const MAX_RENDERED = 10_000_000;

export type RecipeValues = { vars: Record<string, string>; built: Partial<Record<BuiltIn, string>> };
export type Rendered = { name: string; after: RecipeStep["after"]; job: JobInput };

/** The recipe's jobs with every variable filled in. Values are inserted as they are: they become arguments or text, and no shell parses them. */
export function renderRecipe(recipe: Recipe, { vars, built }: RecipeValues): Rendered[] {
	const values = new Map<string, string>();
	const budget = { steps: MAX_STEPS };
	const declared = recipe.vars.map(({ name }) => name);
	for (const name of Object.keys(vars)) {
		if (declared.includes(name)) continue;
		const known = declared.length === 0 ? `recipe ${recipe.name} has none` : `recipe ${recipe.name} has: ${declared.join(", ")}`;
		throw new SluiceError("unknown_key", `vars.${name.slice(0, 60)}: there is no such variable`, {
			field: `vars.${name.slice(0, 60)}`,
			hint: suggest(name, declared, known),
		});
	}
	for (const one of recipe.vars) {
		const value = Object.hasOwn(vars, one.name) ? vars[one.name] : one.default;
		if (value === null || value === undefined) {
			if (!one.required) values.set(one.name, "");
			else throw check.wrong(`vars.${one.name}`, "is missing", `give --var ${one.name}=…${one.about === "" ? "" : `: ${one.about}`}`);
			continue;
		}
		const text = check.text(value, `vars.${one.name}`, { max: 131_072 });
		mustFit(one, text, `vars.${one.name}`, budget);
		values.set(one.name, text);
	}
	for (const name of BUILT_IN) {
		const value = built[name];
		if (value !== undefined) values.set(name, value);
	}
	if (!values.has("args")) values.set("args", "");
	let left = MAX_RENDERED;
	const put = (value: string, field: string): string => {
		left -= value.length;
		if (left < 0)
			throw new SluiceError(
				"limit",
				`${field}: recipe ${recipe.name} with its variables filled in has more than ${MAX_RENDERED} characters`,
				{ field, hint: "give shorter values, or name them fewer times" },
			);
		return value;
	};
	const fill = (text: string, field: string): string => {
		// A prompt is filled in a second time when a run starts: placeholders in inserted values are escaped, so that they survive that unchanged.
		const late = isPrompt(field);
		return text.replace(VARIABLE, (part, variable: string | undefined, at: number) => {
			if (variable === undefined) return late && isPlaceAt(text, at + 1) ? part : part.slice(1);
			if (late && (isRunTime(variable.trim()) || isAfterPlace(variable.trim()))) return part;
			const value = values.get(variable.trim());
			if (value !== undefined) return put(late ? asText(value) : value, field);
			throw check.wrong(field, `recipe ${recipe.name} needs {{${variable.trim()}}}, and there is none`, HINTS[variable.trim() as BuiltIn]);
		});
	};
	return recipe.steps.map(({ name, after, template }) => {
		const at = name === "" ? "" : `steps.${name}.`;
		const job = Object.fromEntries(Object.entries(template).map(([key, value]) => [key, walk(value, `${at}${key}`, fill)])) as JobInput;
		if (job.prompt !== undefined) job.prompt = withArgs(job.prompt, template.prompt ?? "", built.args);
		return { name, after, job };
	});
}

/** If a template has no placeholder for the instructions, they are appended. */
const withArgs = (prompt: string, template: string, args: string | undefined): string => {
	const text = prompt.trim();
	return args === undefined || /\{\{\s*args\s*\}\}/.test(template) ? text : `${text}\n\n${asText(args)}`;
};

const HINTS: Partial<Record<BuiltIn, string>> = {
	item: "name one with --item, or sling it",
	title: "name an item with --item and --source, or sling it",
	text: "name an item with --item and --source, or sling it",
	repo: "name one with --repo",
	base_branch: "name one with --base-branch",
	batch: "name one with --batch",
	source: "name an item of a source",
	phase: "only cards have one",
	branch: "only cards have one",
};
