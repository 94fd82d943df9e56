// The tools that agents are offered: methods of the protocol under their own names with underscores. What a tool takes comes from the method's fields;
// here stands only what MCP wants besides, and the few places where an agent is served differently.
//
//   read      changes nothing
//   destroy   may undo or end work that is there
//   repeat    doing it twice is doing it once
//   reach     starts programs, which may do anything

import type { MethodName } from "../api/protocol.ts";
import { METHODS } from "../api/protocol.ts";
import { inputSchema, type ObjectSchema, type Schema } from "../api/schema.ts";
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
		more: "Give `command` (words, no shell) or `agent` with `prompt`. Without `cwd` it runs in this server's folder. Inside a run, what it adds are children of its job; a follow-up is added with `when: after_this_job`.",
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
	"account.list": { title: "Accounts and their limits", hints: ["read", "repeat"] },
	"budget.list": { title: "Budgets", hints: ["read", "repeat"] },
} as const satisfies Partial<Record<MethodName, Sketch>>;

export type ToolMethod = keyof typeof SKETCHES;
export type Tool = {
	name: string;
	title: string;
	description: string;
	inputSchema: ObjectSchema;
	annotations: { title: string; readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean; openWorldHint: boolean };
};

const nameOf = (method: string) => method.replace(".", "_");

function toolOf(method: ToolMethod): Tool {
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

const ALL = Object.keys(SKETCHES) as ToolMethod[];
export const TOOLS: readonly Tool[] = ALL.map(toolOf);
export const methodOf = (tool: string): ToolMethod | undefined => ALL.find((method) => nameOf(method) === tool);
