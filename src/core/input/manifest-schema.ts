// The JSON Schema of manifests, made from one table of what a job takes: for editors, and for `sluice apply --schema`.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are what manifests write

import { EXPECTS } from "../agents/closing.ts";
import { ARTIFACT_KINDS } from "../fact.ts";
import { EXIT_KINDS, type JobInput, POLICIES } from "../job.ts";

type Schema = { [key: string]: unknown };

const text = (description: string): Schema => ({ type: "string", description });
const flag = (description: string): Schema => ({ type: "boolean", description });
const whole = (description: string, minimum?: number): Schema => ({
	type: ["integer", "string"],
	description,
	...(minimum === undefined ? {} : { minimum }),
});
const choice = (description: string, options: readonly string[]): Schema => ({ enum: [...options], description });
const list = (description: string, items: Schema = { type: "string" }): Schema => ({ type: "array", items, description });
const words = (description: string): Schema => ({ type: "object", additionalProperties: { type: "string" }, description });
const duration = (description: string): Schema => ({
	type: ["integer", "string"],
	description: `${description} Milliseconds, or "30s", "5m", "1h30m".`,
});
const time = (description: string): Schema => ({
	type: ["integer", "string", "null"],
	description: `${description} Epoch milliseconds, or RFC 3339.`,
});
const object = (properties: Record<string, Schema>, required: readonly string[] = []): Schema => ({
	type: "object",
	properties,
	...(required.length > 0 ? { required: [...required] } : {}),
	additionalProperties: false,
});
const artifacts = (description: string) => list(`${description} kind:value, with one of the kinds ${ARTIFACT_KINDS.join(", ")}.`);
const retry = object({
	max: whole("Retries after the first run; 0 = none.", 0),
	base_ms: duration("The first delay."),
	factor: { type: "number", description: "Each delay is so many times the one before." },
	jitter: { type: "number", description: "± this share of the delay." },
	cap_ms: duration("The longest delay."),
	on: list("Which ends of a run are retried.", { enum: [...EXIT_KINDS] }),
});

/** Every field of a job, in the order in which people write them. */
export const JOB_FIELDS: Record<keyof JobInput, Schema> = {
	name: text("A name that no other job has; others refer to it, and applying the file again finds the job by it."),
	title: text("A line for people."),
	command: { type: "array", items: { type: "string" }, minItems: 1, description: "What to run, word by word: no shell reads it." },
	agent: text("The agent to run with `prompt`."),
	prompt: text("What the agent shall do."),
	payload: { description: "JSON for the job; alone, a job for an outside worker." },
	after: {
		...list("Jobs that must have ended well: NAME, NUMBER, NAME:POLICY.", {
			anyOf: [
				{ type: ["string", "integer"] },
				object({ job: { type: ["string", "integer"] }, policy: choice("What must have become of it.", POLICIES) }, ["job"]),
			],
		}),
	},
	needs: artifacts("Waits until these are there."),
	on_missing: choice("When no open job will make what it needs.", ["block", "wait"]),
	produces: artifacts("What it makes."),
	locks: list("Held while it runs: KEY, KEY:shared.", {
		anyOf: [{ type: "string" }, object({ key: text("The lock."), mode: choice("How it is held.", ["shared", "exclusive"]) }, ["key"])],
	}),
	serial: text("One at a time among the jobs of this group."),
	parallelizable: flag("false: one at a time among those of its source, phase and lane."),
	lane: text("The class of work it belongs to."),
	priority: whole("Added to its lane's; higher starts sooner."),
	batch: text("Tracked together with others."),
	runnable_at: time("Not before."),
	deadline: time("Expires if not started by then."),
	retry: {
		anyOf: [{ type: ["integer", "string"] }, retry],
		description: "How often it is run again after a failure, or the whole policy.",
	},
	timeout: duration("A run that takes longer is stopped."),
	stall_timeout: duration("A run that is silent for longer is stopped."),
	requires_approval: flag("A person has to approve it first."),
	conditions: list("Starts only if: clean_worktree, branch_exists:NAME, or a command that exits 0.", {
		anyOf: [
			{ type: "string" },
			object(
				{
					kind: choice("What is looked at.", ["clean_worktree", "branch_exists", "command"]),
					branch: text("The branch."),
					argv: list("The command."),
				},
				["kind"],
			),
		],
	}),
	pinned_head: {
		...object({ branch: text("The branch."), commit: text("Where it must point.") }, ["branch", "commit"]),
		description: "Starts only while the branch is there.",
	},
	unique: {
		...object(
			{
				key: text("The key."),
				window_ms: duration("Also against jobs added within this time."),
				policy: choice("Else.", ["skip", "replace", "error"]),
			},
			["key"],
		),
		description: "One open job with this key.",
	},
	parent: { description: "The job it belongs to, by number or name.", anyOf: [{ type: "integer", minimum: 1 }, { type: "string" }] },
	parent_gate: choice("Whether it waits for its parent's success.", ["success", "none"]),
	item: text("The item in a tracker that it works on."),
	source: text("The tracker of that item."),
	phase: text("The item's phase."),
	recipe: text("The recipe that makes its prompt."),
	vars: words("Variables of the recipe."),
	args: text("Instructions for the agent, in plain words."),
	mode: choice("ralph: fresh context for each step and run.", ["ralph"]),
	raw: flag("No default recipe."),
	owned: flag("Its batch stays open until `batch close` says otherwise."),
	repo: text("The repo it works in."),
	base_branch: text("What its branch begins from."),
	worktree: text("The branch it writes on."),
	merge: choice("How its branch is merged.", ["direct", "mr", "local"]),
	no_merge: flag("Its branch is not merged."),
	input_patch: text("A diff that its runs find as input.patch."),
	cwd: text("Where it runs; else the manifest's folder."),
	env: words("Variables of its environment."),
	host_labels: list("Only on a host with these labels."),
	uses: {
		type: "object",
		additionalProperties: { type: ["integer", "string"] },
		description: "How much of each resource it takes while it runs.",
	},
	owner: text("Whose budget pays."),
	account: text("Whose quota at the provider is used."),
	model: text("Which model the agent uses."),
	permission: choice("What the agent may do without asking.", ["ask", "edit", "full"]),
	may_add: choice(
		"Upper limit for the permission of jobs that its runs add; else its own permission. `full`: everything, plain commands too.",
		["ask", "edit", "full"],
	),
	allow: list("Beginnings of shell commands that the agent may run at `edit` without asking: npm test."),
	expect: choice(
		"What a run that ends well must have done: `change` something in its repo; `none`: what its last words ask does not count.",
		[...EXPECTS],
	),
	commit: choice("What becomes of uncommitted work.", ["auto", "agent", "never"]),
	trigger: text("What caused it; manual when not said."),
};

const FOR_EACH: Schema = {
	type: ["array", "object"],
	minItems: 1,
	description:
		"Several jobs of one: a list (${item}, or the keys of each entry), a map (${key} with ${value} or the keys of each entry), or a map of lists (every combination).",
};

function manifestSchema(): Schema {
	const job = object({ for_each: FOR_EACH, ...JOB_FIELDS });
	return {
		$schema: "https://json-schema.org/draft/2020-12/schema",
		title: "Sluice manifest",
		description: "Jobs that may refer to each other, added all or none by `sluice apply`.",
		...object(
			{
				batch: text("The batch of all of them."),
				defaults: { ...object(JOB_FIELDS), description: "What each job takes over unless it says otherwise." },
				jobs: {
					description: "A list, or a map by name.",
					anyOf: [
						{ type: "array", items: { $ref: "#/$defs/job" } },
						{ type: "object", additionalProperties: { $ref: "#/$defs/job" } },
					],
				},
			},
			["jobs"],
		),
		$defs: { job },
	};
}

export const manifestSchemaText = (): string => `${JSON.stringify(manifestSchema(), null, "\t")}\n`;
