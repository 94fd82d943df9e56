// `add` of a job that names an item or a recipe: the item from its source, the recipe's jobs, and the caller's fields over both.

import type { Expansion } from "../contracts/intake.ts";
import { type Item, plainItem } from "../contracts/source.ts";
import { SluiceError } from "../core/errors.ts";
import { given } from "../core/given.ts";
import * as check from "../core/input/check.ts";
import type { JobInput } from "../core/job.ts";
import { itemFields, jobsOf } from "./jobs.ts";
import type { RecipeBook } from "./recipe-book.ts";

export type ExpandParts = {
	find(id: string): Promise<Item | null>;
	isSource(name: string): boolean;
	/** The lane that the configuration assigns to items of a source. */
	laneOf(source: string): string | null;
	book: RecipeBook;
	tag: () => Promise<number>;
};

export async function expand(parts: ExpandParts, input: JobInput): Promise<Expansion> {
	const found = input.item === undefined ? null : await locate(parts, input.item, input.source);
	if (input.recipe !== undefined)
		return { jobs: await byRecipe(parts, input, input.recipe, found), flows: flowsOf(found), warnings: ignoredIn(parts, input) };
	if (found?.known !== true) return { jobs: [input], flows: null, warnings: [] };
	const { item } = found;
	const job = { ...laneOfItem(parts, item), ...itemFields(item), ...input, item: item.id, source: item.source };
	return { jobs: [job], flows: flowsOf(found), warnings: [] };
}

const ignoredIn = ({ book }: ExpandParts, { repo, recipe }: JobInput): string[] =>
	[book.problem(repo, recipe)].filter((problem) => problem !== null);

const flowsOf = (found: Located | null): Expansion["flows"] =>
	found?.known === true ? (found.item.flow === null ? [] : [found.item.flow]) : null;

/** `known`: a source has the item. Otherwise it is the caller's own: only its id is known. */
type Located = { item: Item; known: boolean };

/**
 * The item that an id means: `id` if exactly one source knows it, `source:id`, or an id with a separate source. An id that no source knows is inline; but
 * an id that names a source must be an item of it, and an id that several sources know is refused.
 */
async function locate(parts: Pick<ExpandParts, "find" | "isSource">, id: string, source?: string): Promise<Located> {
	if (source === "inline") return { item: plainItem("inline", id), known: false };
	const named = source ?? /^([^:]+):./s.exec(id)?.[1];
	const item = await parts.find(source === undefined ? id : `${source}:${id}`);
	if (item) return { item, known: true };
	if (named !== undefined && parts.isSource(named)) {
		const own = source === undefined ? id.slice(named.length + 1) : id;
		throw new SluiceError("not_found", `item: source ${named} has no item ${JSON.stringify(own)}`, {
			field: "item",
			hint: `sluice source show ${named} lists its items`,
		});
	}
	return { item: plainItem(source ?? "inline", id), known: false };
}

async function byRecipe(parts: ExpandParts, input: JobInput, name: string, found: Located | null): Promise<JobInput[]> {
	const { recipe: _recipe, vars, args, agent, env, item: _item, source: _source, prompt, command, ...rest } = input;
	if (command !== undefined) throw check.wrong("command", "the recipe says what is run", "leave out the command, or the recipe");
	const recipe = parts.book.get(name, input.repo ?? null);
	const item = found?.item ?? null;
	const said = [prompt, args].filter((part) => part !== undefined && part !== "").join("\n\n");
	const several = recipe.steps.length > 1;
	if (several && rest.name !== undefined)
		throw check.wrong("name", `recipe ${name} makes ${recipe.steps.length} jobs`, "leave the name out: its steps have names of their own");
	const { repo, batch, cwd, after, ...fields } = rest;
	const made = jobsOf(item, recipe, {
		repo: repo ?? null,
		batch: batch ?? null,
		tag: String(await parts.tag()),
		vars: vars ?? {},
		fields,
		...(found?.known && item !== null ? laneOfItem(parts, item) : {}),
		...given({ args: said === "" ? undefined : said, agent, env, cwd }),
	});
	// The job's predecessors become those of the recipe's first steps.
	return made.map(({ job: { args: _said, ...job } }) => ({
		...job,
		...given({ vars, args }),
		...(after !== undefined && job.after === undefined ? { after } : {}),
	}));
}

const laneOfItem = (parts: ExpandParts, item: Item): { lane?: string } => {
	const lane = parts.laneOf(item.source) ?? item.flow;
	return lane === null ? {} : { lane };
};
