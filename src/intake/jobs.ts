// Turns an item and a recipe into jobs: fills in variables, applies the caller's fields, and links the steps. Pure.

import type { Item } from "../contracts/source.ts";
import { given } from "../core/given.ts";
import type { JobInput } from "../core/job.ts";
import { renamePlaces, withoutPlaces } from "../core/recipes/after-result.ts";
import type { BuiltIn, Recipe } from "../core/recipes/recipe.ts";
import { renderRecipe } from "../core/recipes/render.ts";

/** What the caller sets for the jobs; takes precedence over the recipe. */
export type Order = {
	repo: string | null;
	batch: string | null;
	/** Makes the names of steps unique to this call. */
	tag: string;
	vars: Record<string, string>;
	args?: string | undefined;
	agent?: string | undefined;
	/** Fields of the job that override the recipe. */
	fields: JobInput;
	/** The lane if the recipe names none. */
	lane?: string | undefined;
	env?: Record<string, string> | undefined;
	cwd?: string | undefined;
};

/** One job per step, in order; the steps refer to each other by name. */
export function jobsOf(item: Item | null, recipe: Recipe, order: Order): { step: string | null; job: JobInput }[] {
	const several = recipe.steps.length > 1;
	const nameOf = (step: string) => `${labelOf(item?.id ?? recipe.name)}.${labelOf(step)}.${order.tag}`;
	const names = new Map(several ? recipe.steps.map(({ name }) => [name, nameOf(name)]) : []);
	return renderRecipe(recipe, { vars: order.vars, built: builtIn(item, order) }).map(({ name, after, job }) => ({
		step: several ? name : null,
		job: {
			...shared(item, order),
			...(item === null ? {} : { title: titleOf(item, several ? name : null) }),
			...job,
			...(job.prompt === undefined ? {} : { prompt: renamePlaces(job.prompt, names) }),
			...(job.command === undefined && order.agent !== undefined ? { agent: order.agent } : {}),
			...(job.env === undefined && order.env === undefined ? {} : { env: { ...order.env, ...job.env } }),
			...over(order.fields, job),
			recipe: recipe.name,
			...said(order),
			...(several ? { name: nameOf(name) } : {}),
			...(after.length > 0 ? { after: after.map(({ step, policy }) => ({ job: nameOf(step), policy })) } : {}),
		},
	}));
}

/** The title if the recipe gives none. */
const titleOf = ({ id, title }: Item, step: string | null): string =>
	cut(`${id}${title === id ? "" : `: ${title}`}${step === null ? "" : ` (${step})`}`);

/** A file's title is often its first line: do not repeat it. */
const beginsWithTitle = ({ title, text }: Item): boolean =>
	text
		.trimStart()
		.replace(/^#+\s*/, "")
		.startsWith(title);

/** A job whose prompt is the item's own text. */
export const rawJobOf = (item: Item, order: Order): JobInput => ({
	...shared(item, order),
	title: cut(item.title),
	agent: order.agent ?? "claude",
	// Placeholders in the item's text are never filled in.
	prompt: withoutPlaces(
		[beginsWithTitle(item) ? "" : item.title, item.text, order.args ?? ""].filter((part) => part.trim() !== "").join("\n\n"),
	),
	...given({ env: order.env }),
	...order.fields,
	...said(order),
	raw: true,
});

/** The caller's instructions and variables, for the record: they are already in the prompt. */
const said = ({ args, vars }: Order): JobInput => ({
	...(args === undefined ? {} : { args }),
	...(Object.keys(vars).length === 0 ? {} : { vars }),
});

/** A step's own decision stands: an option for all steps does not merge a step that must not be merged. */
function over(fields: JobInput, job: JobInput): JobInput {
	const { merge, ...rest } = fields;
	return job.no_merge === true || merge === undefined ? rest : { ...rest, merge };
}

/** What an item sets for each job that works on it. */
export const itemFields = (item: Item): JobInput => ({
	item: item.id,
	source: item.source,
	...(item.phase === null ? {} : { phase: item.phase }),
	...(item.parallelizable === null ? {} : { parallelizable: item.parallelizable }),
	...(item.priority === 0 ? {} : { priority: item.priority }),
	...(item.owner === null ? {} : { owner: item.owner }),
});

const shared = (item: Item | null, { repo, batch, cwd, lane }: Order): JobInput => ({
	...(item === null ? {} : itemFields(item)),
	...given({ lane, repo: repo ?? undefined, batch: batch ?? undefined, cwd }),
});

function builtIn(item: Item | null, { repo, batch, args, fields }: Order): Partial<Record<BuiltIn, string>> {
	const built: Partial<Record<BuiltIn, string | null | undefined>> = {
		item: item?.id,
		title: item === null ? undefined : cut(item.title),
		text: item?.text,
		source: item?.source,
		phase: item?.phase,
		branch: item?.branch,
		repo,
		batch,
		base_branch: fields.base_branch,
		args,
	};
	return Object.fromEntries(Object.entries(built).filter(([, value]) => value !== null && value !== undefined)) as Record<BuiltIn, string>;
}

/** A line for people; the source has the full text. */
const cut = (title: string): string => (title.length > 300 ? `${title.slice(0, 299)}…` : title);

/** Makes a text usable in a name: invalid characters become `_`. */
export const labelOf = (text: string): string =>
	text
		.replace(/[^\p{L}\p{N}_.@+-]/gu, "_")
		.replace(/^[^\p{L}\p{N}_]/u, "_")
		.slice(0, 80);
