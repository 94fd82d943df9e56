// Contract of the intake: recipes make jobs of items, batches of items are slung, and their outcome is written back. Implementation in intake/.

import type { JobInput } from "../core/job.ts";
import type { RecipeStep, RecipeVar } from "../core/recipes/recipe.ts";
import type { SlingInput } from "../core/schema/sling.ts";
import type { RunBounds } from "../core/trust/run-bounds.ts";
import type { Deferred } from "./adding.ts";
import type { Item, ItemFault, SourceSettings } from "./source.ts";

export type PlannedJob = {
	/** Null if the job was only planned. */
	job: number | null;
	item: string;
	source: string;
	title: string;
	repo: string | null;
	recipe: string | null;
	agent: string | null;
	/** The step, for a recipe with several. */
	step: string | null;
	batch: string | null;
};
export type SlingSkip = { item: string; reason: string; job: number | null };
/** `added`: the jobs that were added, or would be. */
export type Slung = {
	jobs: number[];
	planned: PlannedJob[];
	added: JobInput[];
	skipped: SlingSkip[];
	warnings: string[];
	batches: string[];
	/** The queue's hard limit kept some items out: they are among the skipped. */
	deferred: Deferred | null;
};

/** `flows`: the lanes that the item asks for; null if the input names no item of a source. */
export type Expansion = { jobs: JobInput[]; flows: string[] | null; warnings: string[] };

export type SourceView = Pick<SourceSettings, "kind" | "root" | "repo" | "watch" | "write_back"> & {
	name: string;
	/** Null if the source could not be read; `error` says why. */
	items: number | null;
	open: number | null;
	eligible: number | null;
	faults: ItemFault[];
	error: string | null;
};
/** An item as it is shown: without its text and what only the engine needs. */
export type ItemView = Omit<Item, "text" | "taken" | "priority" | "branch" | "owner" | "mark" | "report">;

/** A repo's own recipes. `ignored`: names of recipes that exist, or existed, and do not count; `problem` says why, `hint` what to do. */
export type RepoRecipes = {
	files: { name: string; path: string; text: string }[];
	ignored: string[];
	problem: string | null;
	hint: string | null;
};

export type RecipeView = {
	name: string;
	description: string;
	/** `shipped`, or its file. */
	origin: string;
	vars: RecipeVar[];
	steps: RecipeStep[];
	/** What is wrong with the recipe; then it has neither variables nor steps. */
	error: string | null;
};

export interface Intake {
	/** `within`: the run that slings the items; it bounds the jobs. */
	sling(input: SlingInput, act: { by: string; within?: RunBounds | undefined }): Promise<Slung>;
	/** The jobs that an input becomes, ready for `add` (one) or `apply` (several): with the item as its source describes it, and the recipe filled in. */
	expand(input: JobInput): Promise<Expansion>;
	sources(): Promise<SourceView[]>;
	/** The items of one source; reads all of them. */
	source(name: string): Promise<{ source: SourceView; items: ItemView[] }>;
	/** Reads the sources again now, and makes jobs of eligible items where the source is watched. */
	scan(name?: string): Promise<{ sources: SourceView[]; added: number[] }>;
	recipes(repo?: string): RecipeView[];
	recipe(name: string, repo?: string): RecipeView;
	/** Why a repo's own recipe of this name, or of any name if none is given, does not count; null if there is no problem. */
	recipeProblem(repo: string, name?: string): string | null;
	/** What is wrong with a recipe's text; null if nothing is. */
	checkRecipe(text: string, name: string): { message: string; field: string | null; hint: string | null } | null;
}
