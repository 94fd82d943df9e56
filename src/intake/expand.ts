// `add` with a recipe: its jobs, with what the caller says over what the recipe says.

import { SluiceError } from "../core/errors.ts";
import type { JobInput } from "../core/job.ts";
import { type Item, plainItem } from "../source.ts";
import { jobsOf } from "./jobs.ts";
import type { RecipeBook } from "./recipe-book.ts";

export async function expand(
	parts: { find(id: string): Promise<Item | null>; book: RecipeBook; tag: () => Promise<number> },
	input: JobInput,
): Promise<JobInput[]> {
	const { recipe: name, vars, args, agent, env, item: id, source, prompt, command, ...rest } = input;
	if (name === undefined) return [input];
	if (command !== undefined)
		throw new SluiceError("invalid", "command: the recipe says what is run", {
			field: "command",
			hint: "leave out the command, or the recipe",
		});
	const recipe = parts.book.get(name, input.repo ?? null);
	const item = id === undefined ? null : await itemOf(parts, id, source);
	const said = [prompt, args].filter((part) => part !== undefined && part !== "").join("\n\n");
	const several = recipe.steps.length > 1;
	if (several && rest.name !== undefined)
		throw new SluiceError("invalid", `name: recipe ${name} makes ${recipe.steps.length} jobs`, {
			field: "name",
			hint: "leave the name out: its steps have names of their own",
		});
	const { repo, batch, cwd, after, ...fields } = rest;
	const made = jobsOf(item, recipe, {
		repo: repo ?? null,
		batch: batch ?? null,
		tag: String(await parts.tag()),
		vars: vars ?? {},
		fields,
		...(said === "" ? {} : { args: said }),
		...(agent === undefined ? {} : { agent }),
		...(env === undefined ? {} : { env }),
		...(cwd === undefined ? {} : { cwd }),
	});
	// What it comes after, its first steps come after.
	return made.map(({ job }) => ({
		...job,
		...(vars === undefined ? {} : { vars }),
		...(after !== undefined && job.after === undefined ? { after } : {}),
	}));
}

/** An item that no source has is one of the caller's own: its id is all that is known. */
async function itemOf(parts: { find(id: string): Promise<Item | null> }, id: string, source: string | undefined): Promise<Item> {
	const found = source === undefined || source === "inline" ? null : await parts.find(`${source}:${id}`);
	return found ?? plainItem(source ?? "inline", id);
}
