// The tools for agents: methods of the protocol under their own names with underscores. A tool's parameters come from the method's fields; this file has only
// what MCP needs besides, and the few differences for agents.
//
//   read      changes nothing
//   destroy   may undo or end existing work
//   repeat    idempotent
//   reach     starts programs, which may do anything

import type { MethodName } from "../api/protocol.ts";
import { METHODS } from "../api/protocol.ts";
import { inputSchema } from "../api/schema.ts";
import type { ObjectSchema, JsonSchema as Schema } from "../core/schema/field.ts";
import { LIST_ITEMS, LOG_BYTES } from "./bounds.ts";

type Hint = "read" | "destroy" | "repeat" | "reach";
type Sketch = { title: string; hints: readonly Hint[]; more?: string; fields?: Record<string, Schema> };

const WHEN: Schema = {
	type: "string",
	enum: ["now", "after_this_job"],
	description:
		"`now`: as soon as rules and caps allow, beside the run that calls this. `after_this_job`: once the job that this run belongs to has succeeded; only inside a run.",
};

const SKETCHES = {
	"job.add": {
		title: "Add a job",
		hints: ["reach"],
		more: "Give `command` (words, no shell) or `agent` with `prompt`. Without `cwd` it runs in this server's folder. Inside a run, what it adds are children of its job, with no more permission than that has: a `command` is refused where the run's job may not add everything (`may_add`). A follow-up is added with `when: after_this_job`.",
		fields: { when: WHEN },
	},
	"job.list": {
		title: "List jobs",
		hints: ["read", "repeat"],
		more: `At most ${LIST_ITEMS} are given at once; \`note\` tells how to get the rest.`,
		fields: { limit: { type: "integer", minimum: 1, maximum: LIST_ITEMS, description: `at most so many (${LIST_ITEMS})` } },
	},
	"job.show": { title: "Show a job", hints: ["read", "repeat"] },
	"job.why": { title: "Why a job waits", hints: ["read", "repeat"] },
	"job.cancel": { title: "Cancel jobs", hints: ["destroy", "repeat"] },
	"job.edit": { title: "Change a waiting job", hints: ["destroy", "repeat"] },
	"job.hold": { title: "Keep waiting jobs from starting", hints: ["repeat"] },
	"job.release": { title: "End the hold of jobs", hints: ["repeat", "reach"] },
	"job.freeze": { title: "Stop running jobs for a while", hints: ["repeat"] },
	"job.thaw": { title: "Let frozen jobs go on", hints: ["repeat", "reach"] },
	"job.tell": {
		title: "Tell a job's agent something",
		hints: ["reach"],
	},
	"job.retry": { title: "Retry a job and what comes after it", hints: ["destroy", "reach"] },
	"job.logs": {
		title: "Read a job's log",
		hints: ["read", "repeat"],
		more: `Without \`offset\` or \`tail\` it is the end of the log, ${LOG_BYTES.usual} bytes of it. What an agent wrote is given as text, unless \`raw\`.`,
		fields: {
			offset: { type: "integer", description: "the byte to begin at; below zero it counts from the end; else the end of the log" },
			raw: { type: "boolean", description: "an agent's own JSON lines, as it wrote them" },
			limit: { type: "integer", minimum: 1, maximum: LOG_BYTES.most, description: `bytes at most (${LOG_BYTES.usual})` },
		},
	},
	"job.wait": {
		title: "Wait for jobs",
		hints: ["read", "repeat"],
		more: "`note` says what those that have not ended are doing. Inside a run of Sluice your own slot is lent while you wait. A job that comes after your own is refused: it starts when you are done.",
	},
	"job.graph": { title: "What waits for what", hints: ["read", "repeat"] },
	"scheduler.status": { title: "The queue at a glance", hints: ["read", "repeat"] },
	"scheduler.pause": { title: "Pause starts", hints: ["repeat"] },
	"scheduler.resume": { title: "Resume starts", hints: ["repeat", "reach"] },
	"scheduler.forecast": { title: "When jobs will be done", hints: ["read", "repeat"] },
	"stats.show": {
		title: "What ended, waited and cost",
		hints: ["read", "repeat"],
		more: "Money is in micro-dollars. `waits` says what jobs waited for, in milliseconds.",
	},
	"account.list": { title: "Accounts and their limits", hints: ["read", "repeat"] },
	"budget.list": { title: "Budgets", hints: ["read", "repeat"] },
} as const satisfies Partial<Record<MethodName, Sketch>>;

/** Tools by which a run reports about itself, under names that an agent looks for; all of them call two methods. */
type Spoken = {
	method: "run.verdict" | "run.result";
	with: Record<string, unknown>;
	title: string;
	about: string;
	fields: Record<string, Schema>;
};

const TEXT = (description: string): Schema => ({ type: "string", description });
const ONLY_INSIDE = "Only inside a run of Sluice.";

const SPOKEN: Record<string, Spoken> = {
	run_fail: {
		method: "run.verdict",
		with: { verdict: "fail" },
		title: "Say that your own work failed",
		about: `Call this when your task failed, or when your review says no: your run then ends as failed, nothing of it is merged, and the steps after it do not start. Your words alone do not do that. End your work afterwards. ${ONLY_INSIDE}`,
		fields: { text: TEXT("why, in a sentence or two for a person") },
	},
	run_ask: {
		method: "run.verdict",
		with: { verdict: "ask" },
		title: "Ask a person",
		about: `Call this when you cannot go on without a person's answer: your job then waits for it, and goes on with it. End your work afterwards; the answer comes later. ${ONLY_INSIDE}`,
		fields: { text: TEXT("the question, with what the person needs to know to answer it") },
	},
	run_result: {
		method: "run.result",
		with: {},
		title: "Report a result",
		about: `Reports a result to the jobs after yours, who find it in their prompts, and to people. Any JSON of at most 64 KiB; called again, the last one counts. ${ONLY_INSIDE}`,
		// Programs without support for unions take the first type; `items` is for programs that require it for a list.
		fields: {
			result: {
				type: ["object", "array", "string", "number", "boolean", "null"],
				items: {},
				description: "any JSON, best an object: its members can be asked for one by one",
			},
		},
	},
};

export type ToolMethod = keyof typeof SKETCHES | Spoken["method"];
export type Tool = {
	name: string;
	title: string;
	description: string;
	inputSchema: ObjectSchema;
	annotations: { title: string; readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean; openWorldHint: boolean };
};

const nameOf = (method: string) => method.replace(".", "_");

function toolOf(method: keyof typeof SKETCHES): Tool {
	const { title, hints, more, fields }: Sketch = SKETCHES[method];
	const { about, role } = METHODS[method];
	const schema = inputSchema(METHODS[method]);
	const has = (hint: Hint) => hints.includes(hint);
	return {
		name: nameOf(method),
		title,
		description: [about, more, role === "operator" ? "Not for runs: their token allows only to look and to add." : undefined]
			.filter((part) => part !== undefined)
			.join(" "),
		inputSchema: { ...schema, properties: { ...schema.properties, ...fields } },
		annotations: {
			title,
			readOnlyHint: has("read"),
			destructiveHint: has("destroy"),
			idempotentHint: has("repeat"),
			openWorldHint: has("reach"),
		},
	};
}

/** Idempotent, and not destructive: a verdict can be withdrawn. */
const spokenTool = (name: string, { title, about, fields }: Spoken): Tool => ({
	name,
	title,
	description: about,
	inputSchema: { type: "object", properties: fields, required: Object.keys(fields), additionalProperties: false },
	annotations: { title, readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
});

const ALL = Object.keys(SKETCHES) as (keyof typeof SKETCHES)[];
export const TOOLS: readonly Tool[] = [...ALL.map(toolOf), ...Object.entries(SPOKEN).map(([name, spoken]) => spokenTool(name, spoken))];

/** The tools for a run: each offered tool costs tokens in every request. */
const FOR_RUNS = ["run_fail", "run_ask", "run_result", "job_add", "job_list", "job_show", "job_wait"];
/** The fields of `job_add` for a run: most of its fields are for people who plan a queue, and would be three quarters of the text that a run is offered. */
const FIELDS_FOR_RUNS = [
	...["name", "title", "command", "agent", "prompt", "payload", "recipe", "vars", "after", "when", "lane", "priority", "batch"],
	...["repo", "no_merge", "cwd", "env", "model", "permission", "timeout", "requires_approval"],
];

export type Offered = "all" | "run";
export const toolsFor = (offered: Offered): readonly Tool[] =>
	offered === "all"
		? TOOLS
		: TOOLS.filter(({ name }) => FOR_RUNS.includes(name)).map((tool) => (tool.name === "job_add" ? shortened(tool) : tool));

/** The method that a tool calls, and the parameters that its name implies. */
export function methodOf(tool: string): { method: ToolMethod; with: Record<string, unknown> } | undefined {
	const spoken = Object.hasOwn(SPOKEN, tool) ? SPOKEN[tool] : undefined;
	if (spoken) return { method: spoken.method, with: spoken.with };
	const method = ALL.find((one) => nameOf(one) === tool);
	return method && { method, with: {} };
}

function shortened(tool: Tool): Tool {
	const kept = Object.entries(tool.inputSchema.properties).filter(([field]) => FIELDS_FOR_RUNS.includes(field));
	return { ...tool, inputSchema: { ...tool.inputSchema, properties: Object.fromEntries(kept) } };
}
