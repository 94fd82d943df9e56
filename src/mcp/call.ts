// Turns a tool's arguments into a method's parameters: `when`, folder and variables of a new job, size limits.

import { RpcError } from "../api/client.ts";
import type { McpClient, ToolDocument } from "../api/mcp-client.ts";
import { orElse } from "../core/errors.ts";
import { readResult, verdictText } from "../core/runs/verdict.ts";
import { isObject, LIST_ITEMS, LOG_BYTES } from "./bounds.ts";
import type { ToolMethod } from "./tools.ts";

export async function paramsOf(method: ToolMethod, given: ToolDocument, client: McpClient): Promise<ToolDocument> {
	switch (method) {
		case "job.add":
			return newJob(given, client);
		case "job.list":
			return { ...given, limit: atMost(given.limit, LIST_ITEMS, LIST_ITEMS) };
		case "job.logs": {
			const limit = atMost(given.limit, LOG_BYTES.usual, LOG_BYTES.most);
			const { raw: _, ...asked } = given;
			return {
				...asked,
				limit,
				...(given.tail === undefined ? { offset: given.offset ?? (typeof limit === "number" ? -limit : undefined) } : {}),
			};
		}
		case "run.verdict": {
			const { text, ...rest } = given;
			// Cut here: the daemon refuses a request that is too long, and the verdict would be lost with it.
			return text === undefined || text === null ? rest : { ...rest, text: typeof text === "string" ? verdictText(text) : text };
		}
		case "run.result":
			return { ...given, result: checked(unpacked(given.result)) };
		default:
			return given;
	}
}

/** Some programs can only pass strings, and encode an object as one. */
function unpacked(result: unknown): unknown {
	if (typeof result !== "string" || !/^\s*[{[]/.test(result)) return result;
	return orElse(() => JSON.parse(result), result);
}

/** A value that is nested too deeply cannot even be sent to the daemon. */
function checked(result: unknown): unknown {
	readResult(result);
	return result;
}

/** A value that is not a number is passed on, and the daemon refuses it. */
const atMost = (given: unknown, usual: number, most: number): unknown =>
	given === undefined || given === null ? usual : typeof given === "number" ? Math.min(given, most) : given;

async function newJob({ when, ...given }: ToolDocument, client: McpClient): Promise<ToolDocument> {
	const job: ToolDocument = { ...given, ...timing(when, given, client.job) };
	if (client.job !== undefined && job.parent === undefined) job.parent = client.job;
	// A job with only a payload is for an outside worker: it has no folder and no variables.
	if (given.command === undefined && given.agent === undefined && given.recipe === undefined) return job;
	const { cwd } = given;
	if (cwd === undefined || typeof cwd === "string") job.cwd = client.folder(cwd);
	if (given.env === undefined || isObject(given.env)) job.env = { ...(await client.environment()), ...given.env };
	return job;
}

function timing(when: unknown, given: ToolDocument, own: number | undefined): ToolDocument {
	if (when === undefined || when === null) return {};
	// `now` overrides the default that children wait for their parent.
	if (when === "now") return own !== undefined && given.parent_gate === undefined ? { parent_gate: "none" } : {};
	if (when !== "after_this_job") throw invalid("when", `${JSON.stringify(when)} is neither now nor after_this_job`);
	if (own === undefined)
		throw invalid("when", "this server was not started from a run, so there is no job to come after", "name the job in `after`");
	const after = given.after ?? [];
	return { after: Array.isArray(after) ? (after.some((one) => one === own) ? after : [...after, own]) : after };
}

const invalid = (field: string, message: string, hint?: string) =>
	new RpcError(`${field}: ${message}`, null, { code: "invalid", field, hint });
