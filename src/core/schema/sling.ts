// What a caller passes to sling: items, and fields of the jobs that are made of them. The parameters of RPC come from it.

import { type Field, flag, maybe, word, words } from "./field.ts";
import { JOB } from "./job.ts";

/** A field of the jobs, with what it means here. */
const ofJobs = <Read, Given>(one: Field<Read, Given, true>, about: string) => maybe<Read, Given>({ ...one, about });

export const SLING = {
	ids: words("items, epics or batches, as `id` or `source:id`; the last may name the repo; with `on` the first is a recipe"),
	on: maybe(word("the item that the recipe is for")),
	repo: ofJobs(JOB.repo, "the repo; else the one whose prefix the id has"),
	recipe: ofJobs(JOB.recipe, "the recipe; else the source's, the repo's, or `work`"),
	vars: ofJobs(JOB.vars, "variables of the recipe"),
	args: ofJobs(JOB.args, "instructions for the agent, in plain words"),
	agent: ofJobs(JOB.agent, "another agent than the recipe names"),
	account: ofJobs(JOB.account, "whose quota at the provider is used"),
	lane: ofJobs(JOB.lane, "another lane"),
	priority: ofJobs(JOB.priority, "its own term of the priority sum"),
	merge: ofJobs(JOB.merge, "how branches are merged"),
	base_branch: ofJobs(JOB.base_branch, "what their branches begin from"),
	no_merge: ofJobs(JOB.no_merge, "do not merge"),
	raw: ofJobs(JOB.raw, "the item's own text is the prompt: no recipe"),
	owned: ofJobs(JOB.owned, "the batch stays open until `batch.close`"),
	mode: ofJobs(JOB.mode, "a fresh context for each step"),
	batch: ofJobs(JOB.batch, "the batch; else a new one, or the one that the items belong to"),
	no_batch: maybe(flag("no batch")),
	dry_run: maybe(flag("only say what would be added")),
	env: ofJobs(JOB.env, "variables of the jobs"),
	cwd: ofJobs(JOB.cwd, "where jobs without a repo run"),
	force: maybe(flag("override what may be overridden: caps of 0, an item in progress elsewhere, another repo's prefix")),
};
/** `parent`: the job whose run slings them. */
export type SlingInput = { ids: string[]; parent?: number } & {
	[K in keyof typeof SLING]?: ReturnType<(typeof SLING)[K]["read"]> | undefined;
};
