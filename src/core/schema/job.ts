// A job as callers write it: one row a field. The type `JobInput`, the check, the JSON Schema of manifests, the parameters of `job.add` over RPC and MCP, the
// fields of recipes and what goes into a job's spec all come from this table. Checks that need the configuration are in input/job.ts.

import { EXPECTS } from "../agents/closing.ts";
import { readAllow } from "../agents/permissions/allowing.ts";
import { PERMISSIONS } from "../agents/profile.ts";
import * as check from "../input/check.ts";
import { readPayload } from "../input/payload.ts";
import { choice, duration, type Field, field, flag, type GivenType, id, label, orNull, text, time, whole, word } from "./field.ts";
import { amounts, argv, artifacts, branch, conditions, labels, locks, pin, predecessors, retry, unique, variables } from "./job-values.ts";

/**
 * spec     is stored under its own name in the job's spec, which only its host reads
 * recipe   a recipe may set it; owner and times are up to the caller
 * agent    is for agents: a job of a manifest that runs a command does not inherit it from `defaults`
 * strict   is refused for any other job than an agent
 * became   is not shown under its own name, but as what it became: an edge, a lock
 */
type Mark = "spec" | "recipe" | "agent" | "strict" | "became";
type Row<Read, Given, Marks> = Field<Read, Given, true> & { readonly marks: readonly Marks[] };
const row = <Read, Given, Marks extends Mark = never>(one: Field<Read, Given, true>, ...marks: Marks[]): Row<Read, Given, Marks> => ({
	...one,
	marks,
});

/** In the order in which people write them. */
export const JOB = {
	name: row(
		field("word", "A name that no other job has; others refer to it, and applying the file again finds the job by it.", check.jobName, {
			type: "string",
		}),
	),
	title: row(text("A line for people.", 10_000, "one"), "spec", "recipe"),
	command: row(argv("What to run, word by word: no shell reads it."), "spec", "recipe"),
	agent: row(label("The agent to run with `prompt`."), "recipe", "agent"),
	prompt: row(text("What the agent shall do."), "spec", "recipe", "agent"),
	/** Any JSON; a `JsonText` if a JavaScript value cannot represent all of it. */
	payload: row(
		field<ReturnType<typeof readPayload>, unknown>("json", "JSON for the job; alone, a job for an outside worker.", readPayload, {}),
		"recipe",
	),
	after: row(predecessors("Jobs that must have ended well: NAME, NUMBER, NAME:POLICY.")),
	needs: row(artifacts("Waits until these are there."), "recipe"),
	on_missing: row(choice("When no open job will make what it needs.", ["block", "wait"]), "recipe"),
	produces: row(artifacts("What it makes."), "recipe"),
	locks: row(locks("Held while it runs: KEY, KEY:shared."), "recipe"),
	serial: row(word("One at a time among the jobs of this group."), "recipe", "became"),
	parallelizable: row(flag("false: one at a time among those of its source, phase and lane."), "recipe"),
	lane: row(label("The class of work it belongs to."), "recipe"),
	priority: row(whole("Added to its lane's; higher starts sooner.", -1_000_000, 1_000_000), "recipe"),
	batch: row(label("Tracked together with others.")),
	runnable_at: row(time("Not before.")),
	deadline: row(orNull(time("Expires if not started by then."))),
	retry: row(retry("How often it is run again after a failure, or the whole policy."), "recipe"),
	timeout: row(duration("A run that takes longer is stopped."), "recipe"),
	stall_timeout: row(duration("A run that is silent for longer is stopped."), "recipe"),
	hold: row(flag("Held from the start: does not start before it is released.")),
	requires_approval: row(flag("A person has to approve it first."), "recipe"),
	conditions: row(conditions("Starts only if: clean_worktree, branch_exists:NAME, or a command that exits 0."), "recipe"),
	pinned_head: row(pin("Starts only while the branch is there.")),
	unique: row(unique("One open job with this key.")),
	/** The parent's number or name. */
	parent: row(id("The job it belongs to, by number or name.")),
	parent_gate: row(choice("Whether it waits for its parent's success.", ["success", "none"]), "became"),
	item: row(word("The item in a tracker that it works on.")),
	source: row(label("The tracker of that item.")),
	phase: row(word("The item's phase.")),
	recipe: row(label("The recipe that makes its prompt."), "spec"),
	vars: row(variables("Variables of the recipe.", /^[A-Za-z_][\w.-]*$/), "spec"),
	args: row(text("Instructions for the agent, in plain words."), "spec"),
	mode: row(choice("ralph: fresh context for each step and run.", ["ralph"]), "spec", "recipe"),
	raw: row(flag("No default recipe."), "spec"),
	owned: row(flag("Its batch stays open until `batch close` says otherwise."), "spec"),
	repo: row(label("The repo it works in.")),
	base_branch: row(branch("What its branch begins from."), "spec", "recipe"),
	/** The branch the job writes to; its own branch if absent. */
	worktree: row(branch("The branch it writes on."), "spec", "recipe"),
	merge: row(choice("How its branch is merged.", ["direct", "mr", "local"]), "spec", "recipe"),
	no_merge: row(flag("Its branch is not merged."), "spec", "recipe"),
	/** A diff that its runs find as `input.patch`: uncommitted changes from when the job was added. */
	input_patch: row(text("A diff that its runs find as input.patch."), "spec"),
	cwd: row(text("Where it runs; else the manifest's folder.", 4096, "one"), "spec"),
	env: row(variables("Variables of its environment.", /^[A-Za-z_][A-Za-z0-9_]*$/), "spec", "recipe"),
	host_labels: row(labels("Only on a host with these labels."), "recipe"),
	uses: row(amounts("How much of each resource it takes while it runs."), "recipe"),
	owner: row(word("Whose budget pays."), "recipe"),
	account: row(label("Whose quota at the provider is used."), "recipe"),
	model: row(word("Which model the agent uses."), "spec", "recipe", "agent"),
	permission: row(choice("What the agent may do without asking.", PERMISSIONS), "spec", "recipe", "agent"),
	/** The highest permission of jobs that its runs add: table in run-bounds.ts. */
	may_add: row(
		choice(
			"Upper limit for the permission of jobs that its runs add; else its own permission. `full`: everything, plain commands too.",
			PERMISSIONS,
		),
		"spec",
		"recipe",
	),
	/** Tables: agents/permissions/allowing.ts, agents/closing.ts. */
	allow: row(
		field("list", "Beginnings of shell commands that the agent may run at `edit` without asking: npm test.", readAllow, {
			type: "array",
			items: { type: "string" },
		}),
		"spec",
		"recipe",
		"agent",
		"strict",
	),
	expect: row(
		choice(
			"What a run that ends well must have done: `change` something in its repo; `none`: what its last words ask does not count.",
			EXPECTS,
		),
		"spec",
		"recipe",
		"agent",
		"strict",
	),
	commit: row(choice("What becomes of uncommitted work.", ["auto", "agent", "never"]), "spec", "recipe"),
	trigger: row(word("What caused it; manual when not said.")),
};

type Job = typeof JOB;
export type JobKey = keyof Job;
type MarkedAs<M extends Mark> = { [K in JobKey]: M extends Job[K]["marks"][number] ? K : never }[JobKey];

/** What a caller passes to `add`. Times are epoch milliseconds or RFC 3339; durations are milliseconds or "30s", "5m". */
export type JobInput = { [K in JobKey]?: GivenType<Job[K]> };
/** The same after its check: times and durations in milliseconds. */
export type CheckedJob = { [K in JobKey]?: ReturnType<Job[K]["read"]> };
/** The fields that go into the job's spec. */
export type SpecFields = { [K in MarkedAs<"spec">]?: ReturnType<Job[K]["read"]> };

export const INPUT_KEYS = Object.keys(JOB) as JobKey[];
const isMarked = <M extends Mark>(key: JobKey, mark: M): key is MarkedAs<M> => {
	const { marks }: { marks: readonly Mark[] } = JOB[key];
	return marks.includes(mark);
};
export const keysMarked = <M extends Mark>(mark: M): MarkedAs<M>[] => INPUT_KEYS.filter((key) => isMarked(key, mark));
