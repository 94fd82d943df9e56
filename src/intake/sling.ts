// Sling: items, epics and batches become jobs, each once. Everything is checked before the first job is added.
//
//   ids     the last id may name the repo; with `on` the first names the recipe
//   each    a batch stands for the items that it tracks, an epic for its children, an item for itself
//   skipped closed · already worked on · coordination (hq-…) · unreadable, if it is one of several

import type { Deferred, OfItems } from "../contracts/adding.ts";
import type { PlannedJob, SlingSkip, Slung } from "../contracts/intake.ts";
import { everyJob } from "../contracts/queue.ts";
import type { Scheduler } from "../contracts/scheduler.ts";
import type { Item } from "../contracts/source.ts";
import { messageOf, SluiceError } from "../core/errors.ts";
import { given } from "../core/given.ts";
import { nearest, suggest } from "../core/input/nearest.ts";
import type { JobInput } from "../core/job.ts";
import type { SlingInput } from "../core/schema/sling.ts";
import type { RunBounds } from "../core/trust/run-bounds.ts";
import { jobsOf, labelOf, type Order, rawJobOf } from "./jobs.ts";
import type { RecipeBook } from "./recipe-book.ts";
import { type Repos, repoFor } from "./repos.ts";

type Usual = {
	repo: string | null;
	lane: string | null;
	recipe: string | null;
	agent: string | null;
	root: string;
	/** The source's ids begin with the prefix of their repo. */
	prefixed: boolean;
};

export type SlingParts = {
	scheduler: Scheduler;
	/** Returns the function that finds the items of one sling: each source is read once, however many items there are. */
	survey(): (id: string) => Promise<Item | null>;
	/** The configuration of the item's source. */
	usual(source: string): Usual;
	/** Throws if a repo of this machine does not have the branch. */
	mustHaveBranch(repo: string, branch: string): Promise<void>;
	repos(): Repos;
	book: RecipeBook;
};

/** An item that is to become jobs; `batch`: the batch or epic through which it was found. */
type Target = { item: Item; batch: string | null };
type Words = { ids: string[]; repo: string | undefined; recipe: string | undefined };

/** Puts the item's id in front of an error that does not name the item itself: see `read` in contracts/source.ts. */
function named(id: string, error: unknown): unknown {
	if (!(error instanceof SluiceError) || error.field === "item") return error;
	const { code, field, hint } = error;
	return new SluiceError(code, `${id}: ${error.message}`, { field, hint, cause: error });
}

const skip = (item: string, reason: string, job: number | null = null): SlingSkip => ({ item, reason, job });

export async function sling(parts: SlingParts, input: SlingInput, act: { by: string; within?: RunBounds | undefined }): Promise<Slung> {
	const { scheduler } = parts;
	const words = wordsOf(input, parts.repos());
	const found = await targetsOf(parts, words);
	const force = input.force === true;
	const tag = String(await scheduler.lastEvent());
	const plan: { planned: PlannedJob; job: JobInput; item: Item }[] = [];
	for (const { item, batch } of found.targets) {
		const usual = parts.usual(item.source);
		const repo = repoFor(item.id, { named: words.repo, usual: usual.repo, repos: parts.repos(), force, prefixed: usual.prefixed });
		const order = orderOf(parts, input, item, { repo, tag, batch: batchOf(input, item, batch, tag) });
		for (const { step, recipe, job } of made(parts, input, words.recipe, item, order)) {
			const planned = {
				job: null,
				item: item.id,
				source: item.source,
				title: item.title,
				repo,
				recipe,
				agent: job.agent ?? null,
				step,
				batch: order.batch,
			};
			plan.push({ planned, job, item });
		}
	}
	for (const problem of new Set(plan.flatMap(({ planned, item }) => ignoredRecipes(parts.book, [planned], item))))
		found.warnings.push(problem);
	if (input.base_branch !== undefined && !force)
		for (const repo of new Set(plan.flatMap(({ planned }) => planned.repo ?? []))) await parts.mustHaveBranch(repo, input.base_branch);
	const skipped = [...found.skipped];
	const items: OfItems = { flows: found.targets.flatMap(({ item }) => item.flow ?? []), limit: "as_configured" };
	const ready = await withoutTaken(
		scheduler,
		plan,
		skipped,
		{ by: act.by, force, items },
		words.ids.length === 1 && found.targets.length === 1,
	);
	const jobs = ready.map(({ job }) => job);
	const within = act.within === undefined ? {} : { within: act.within };
	const result =
		jobs.length === 0
			? null
			: await plainly(ready, () => scheduler.apply({ jobs }, { by: act.by, force, check: input.dry_run === true, items, ...within }));
	const taken = new Map(result?.skipped.map((one) => [one.name, one]) ?? []);
	const numbers = [...(result?.jobs ?? [])];
	const planned: PlannedJob[] = [];
	for (const [index, one] of ready.entries()) {
		const other = taken.get(one.job.name ?? `jobs[${index}]`);
		if (other === undefined) {
			planned.push({ ...one.planned, job: input.dry_run ? null : (numbers.shift() ?? null) });
			continue;
		}
		const said =
			other.reason === "deferred" && result?.deferred ? skip(one.item.id, fullWords(result.deferred)) : already(one.item.id, other.job);
		if (!skipped.some(({ item, job }) => item === said.item && job === said.job)) skipped.push(said);
	}
	return {
		jobs: result?.jobs ?? [],
		planned,
		added: jobs,
		skipped,
		warnings: [...found.warnings, ...(result?.warnings ?? []), ...(await delays(scheduler, planned.length))],
		batches: [...new Set(planned.flatMap(({ batch }) => batch ?? []))],
		deferred: result?.deferred ?? null,
	};
}

/** The message for an item that the hard limit keeps out. */
export function fullWords({ limit, depths }: Deferred): string {
	const lanes = Object.entries(depths).map(([lane, count]) => `${lane}: ${count}`);
	// The counts are from before this call; jobs that the call itself has added fill the limit, too.
	return `deferred: the queue is at its hard limit of ${limit}${lanes.length > 0 ? ` (${lanes.join(", ")})` : ""}`;
}

/** If queue limits apply to items, a sling over the soft limit gets the same warning as an add. */
async function delays(scheduler: Scheduler, added: number): Promise<string[]> {
	if (added === 0 || !scheduler.config().queue.limit_items) return [];
	const { backpressure } = await scheduler.status();
	return backpressure === null ? [] : [backpressure];
}

/** An error names the item that was slung, not its index among the jobs. */
async function plainly<T>(jobs: readonly { item: Item }[], call: () => Promise<T>): Promise<T> {
	try {
		return await call();
	} catch (error) {
		if (!(error instanceof SluiceError)) throw error;
		const { code, hint, message } = error;
		const [whole, index, field] = /^jobs\[(\d+)\](?:\.(.+))?$/s.exec(error.field ?? "") ?? [];
		const id = jobs[Number(index)]?.item.id;
		if (whole === undefined || id === undefined) throw error;
		const why = message.startsWith(`${whole}: `) ? message.slice(whole.length + 2) : message;
		throw new SluiceError(code, field === "item" ? why : `${id}: ${why}`, { field, hint, cause: error });
	}
}

const already = (item: string, job: number): SlingSkip => skip(item, `job ${job} works on it already`, job);

function wordsOf(input: SlingInput, repos: Repos): Words {
	const ids = [...input.ids];
	const bad = (message: string, hint: string) => new SluiceError("invalid", `ids: ${message}`, { field: "ids", hint });
	let { repo, recipe } = input;
	if (repo !== undefined) mustBeRepo(repo, repos);
	if (input.on !== undefined) {
		const [first, last, ...rest] = ids;
		if (first === undefined || rest.length > 0)
			throw bad("with --on there is one recipe, and perhaps a repo", "sluice sling RECIPE --on ITEM [REPO]");
		if (recipe !== undefined && recipe !== first) throw bad("the recipe is named twice", "leave out --recipe");
		recipe = first;
		if (last !== undefined) repo = mustBeRepo(last, repos);
		return { ids: [input.on], repo, recipe };
	}
	const last = ids.at(-1);
	if (repo === undefined && last !== undefined && Object.hasOwn(repos, last)) {
		if (ids.length === 1) throw bad(`${last} is a repo: which item?`, `sluice sling ITEM ${last}`);
		repo = ids.pop();
	}
	if (ids.length === 0) throw bad("names nothing", "name an item, an epic or a batch");
	return { ids: [...new Set(ids)], repo, recipe };
}

function mustBeRepo(name: string, repos: Repos): string {
	if (Object.hasOwn(repos, name)) return name;
	const names = Object.keys(repos);
	const known = names.length === 0 ? `none is configured; sluice repo add FOLDER --name ${name}` : `known: ${names.join(", ")}`;
	throw new SluiceError("not_found", `repo: there is no repo "${name}"`, { field: "repo", hint: suggest(name, names, known) });
}

async function targetsOf(parts: SlingParts, { ids, repo }: Words) {
	const targets: Target[] = [];
	const skipped: SlingSkip[] = [];
	const warnings: string[] = [];
	const seen = new Set<string>();
	const find = parts.survey();

	async function take(id: string, through: string | null): Promise<void> {
		if (seen.has(id)) return;
		seen.add(id);
		let item: Item | null;
		try {
			item = await find(id);
		} catch (error) {
			// Among several, an item that cannot be read does not stop the rest.
			if (ids.length === 1 && through === null) throw named(id, error);
			skipped.push(skip(id, messageOf(error)));
			return;
		}
		if (item === null) {
			if (through === null) return await takeBatch(id);
			skipped.push(skip(id, "no source knows it"));
			return;
		}
		if (item.kind !== "task") {
			if (item.members.length === 0) skipped.push(skip(item.id, `this ${item.kind} has nothing in it`));
			for (const member of item.members) await take(member, through ?? item.id);
		} else if (item.id.startsWith("hq-")) {
			warnings.push(`${item.id} is coordination, not work: skipped`);
			skipped.push(skip(item.id, "coordination, never dispatched"));
		} else if (!item.open) skipped.push(skip(item.id, "closed"));
		else targets.push({ item, batch: through });
	}

	/** An id that no source knows may be a batch of ours: then it stands for the items of its jobs. */
	async function takeBatch(id: string): Promise<void> {
		const known = (await parts.scheduler.batches()).some(({ name }) => name === id);
		if (!known) throw unknown(id, ids.length > 1 && repo === undefined && id === ids.at(-1) ? Object.keys(parts.repos()) : []);
		const items = new Set<string>();
		for await (const { item } of everyJob(parts.scheduler, { batch: id, all: true })) if (item !== undefined) items.add(item);
		if (items.size === 0) skipped.push(skip(id, "no job of this batch has an item"));
		for (const item of items) await take(item, id);
	}

	for (const id of ids) await take(id, null);
	return { targets, skipped, warnings };
}

/** `repos`: if the id is the last of several words, it may have been meant as a repo. */
function unknown(id: string, repos: readonly string[]): SluiceError {
	const guess = nearest(id, repos);
	if (guess !== undefined)
		return new SluiceError("not_found", `${JSON.stringify(id)} is neither an item nor a repo`, {
			field: "ids",
			hint: `did you mean the repo "${guess}"?`,
		});
	const hint = "sluice source list shows the sources, sluice source show NAME their items";
	return repos.length === 0
		? new SluiceError("not_found", `no source knows an item, an epic or a batch ${JSON.stringify(id)}`, { field: "ids", hint })
		: new SluiceError("not_found", `no source knows an item, an epic or a batch ${JSON.stringify(id)}, and no repo is called so`, {
				field: "ids",
				hint: `${hint}; known repos: ${repos.join(", ")}`,
			});
}

/** One batch per sling, unless the item belongs to a batch. */
function batchOf(input: SlingInput, item: Item, through: string | null, tag: string): string | null {
	if (input.no_batch) return null;
	return input.batch ?? labelOf(through ?? item.batch ?? `sling-${tag}`);
}

export function orderOf(
	parts: SlingParts,
	input: SlingInput,
	item: Item,
	{ repo, tag, batch }: { repo: string | null; tag: string; batch: string | null },
): Order {
	const usual = parts.usual(item.source);
	const lane = usual.lane ?? item.flow;
	const path = repo === null ? null : (parts.repos()[repo]?.path ?? null);
	const { account, priority, merge, base_branch, mode, parent, args, env } = input;
	const fields: JobInput = {
		trigger: "sling",
		...given({ lane: input.lane, account, priority, merge, base_branch, mode, parent }),
		...(input.no_merge ? { no_merge: true } : {}),
		...(input.owned ? { owned: true } : {}),
	};
	return {
		repo,
		tag,
		batch,
		vars: input.vars ?? {},
		fields,
		...(lane === null ? {} : { lane }),
		// A bead without a repo is worked on where its database is, wherever it was slung from.
		cwd: path ?? (usual.prefixed ? usual.root : (input.cwd ?? usual.root)),
		...given({ agent: input.agent ?? usual.agent ?? undefined, args, env }),
	};
}

export function made(parts: SlingParts, input: SlingInput, named: string | undefined, item: Item, order: Order) {
	if (input.raw && named === undefined) return [{ step: null, recipe: null, job: rawJobOf(item, order) }];
	const name = named ?? usualRecipe(parts, item, order.repo);
	return jobsOf(item, parts.book.get(name, order.repo), order).map(({ step, job }) => ({ step, recipe: name, job }));
}

/** Why a repo's own recipes are not in force, if they have the name of a recipe that was used or of the item's kind of work. */
export function ignoredRecipes(
	book: RecipeBook,
	made: readonly { recipe: string | null; repo: string | null }[],
	{ flow }: Pick<Item, "flow">,
): string[] {
	const wanted = made.flatMap(({ recipe, repo }) =>
		recipe === null ? [] : [recipe, ...(flow === null ? [] : [flow])].map((name) => [repo, name] as const),
	);
	return [...new Set(wanted.flatMap(([repo, name]) => book.problem(repo, name) ?? []))];
}

/** The source's recipe, else the repo's, else the recipe named after the item's kind of work. */
function usualRecipe({ usual, repos, book }: Pick<SlingParts, "usual" | "repos" | "book">, item: Item, repo: string | null): string {
	const own = usual(item.source).recipe ?? (repo === null ? null : (repos()[repo]?.recipe ?? null));
	return own ?? (item.flow !== null && book.has(item.flow, repo) ? item.flow : "work");
}

/** Items that the source calls in progress, though no job of this queue works on them: a single one is refused, one of several is skipped. */
async function withoutTaken<T extends { item: Item; job: JobInput }>(
	scheduler: Scheduler,
	plan: readonly T[],
	skipped: SlingSkip[],
	act: { by: string; force: boolean; items: OfItems },
	alone: boolean,
): Promise<T[]> {
	if (act.force) return [...plan];
	const refused = new Set<string>();
	for (const item of new Set(plan.flatMap((one) => (one.item.in_progress ? [one.item] : []))))
		try {
			const jobs = plan.filter((one) => one.item === item).map(({ job }) => job);
			await scheduler.apply({ jobs }, { ...act, check: true });
		} catch (error) {
			if (!(error instanceof SluiceError) || error.code !== "forbidden") throw error;
			const words = `in progress elsewhere${item.taken === null ? "" : `: ${item.taken}`}`;
			if (alone)
				throw new SluiceError("forbidden", `${item.id} is ${words}`, {
					field: "item",
					hint: `wait for it, or take it over: sluice sling ${item.id} --force`,
					cause: error,
				});
			skipped.push(skip(item.id, words));
			refused.add(item.id);
		}
	return plan.filter(({ item }) => !refused.has(item.id));
}
