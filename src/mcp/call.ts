// From a tool's arguments to a method's parameters: `when`, the folder and the variables of a new job, the bounds of what is asked for.

import { RpcError } from "../api/client.ts";
import { readResult, verdictText } from "../core/verdict.ts";
import { LIST_ITEMS, LOG_BYTES } from "./bounds.ts";
import type { Document, Door } from "./door.ts";
import type { ToolMethod } from "./tools.ts";

export async function paramsOf(method: ToolMethod, given: Document, door: Door): Promise<Document> {
	switch (method) {
		case "job.add":
			return newJob(given, door);
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

/** Some programs can hand over texts alone, and write an object as one. */
function unpacked(result: unknown): unknown {
	if (typeof result !== "string" || !/^\s*[{[]/.test(result)) return result;
	try {
		return JSON.parse(result);
	} catch {
		return result;
	}
}

/** What is nested too deep cannot even be sent to the daemon. */
function checked(result: unknown): unknown {
	readResult(result);
	return result;
}

/** What is no number is left for the daemon to refuse. */
const atMost = (given: unknown, usual: number, most: number): unknown =>
	given === undefined || given === null ? usual : typeof given === "number" ? Math.min(given, most) : given;

async function newJob({ when, ...given }: Document, door: Door): Promise<Document> {
	const job: Document = { ...given, ...timing(when, given, door.job) };
	if (door.job !== undefined && job.parent === undefined) job.parent = door.job;
	// A job that only carries a payload is for a worker elsewhere: it has no folder and no variables.
	if (given.command === undefined && given.agent === undefined && given.recipe === undefined) return job;
	const { cwd } = given;
	if (cwd === undefined || typeof cwd === "string") job.cwd = door.folder(cwd);
	if (given.env === undefined || isDocument(given.env)) job.env = { ...(await door.environment()), ...given.env };
	return job;
}

const isDocument = (value: unknown): value is Document => value !== null && typeof value === "object" && !Array.isArray(value);

function timing(when: unknown, given: Document, own: number | undefined): Document {
	if (when === undefined || when === null) return {};
	// A rule that children wait for their parents is not what `now` says.
	if (when === "now") return own !== undefined && given.parent_gate === undefined ? { parent_gate: "none" } : {};
	if (when !== "after_this_job") throw invalid("when", `${JSON.stringify(when)} is neither now nor after_this_job`);
	if (own === undefined)
		throw invalid("when", "this server was not started from a run, so there is no job to come after", "name the job in `after`");
	const after = given.after ?? [];
	return { after: Array.isArray(after) ? (after.some((one) => one === own) ? after : [...after, own]) : after };
}

const invalid = (field: string, message: string, hint?: string) =>
	new RpcError(`${field}: ${message}`, null, { code: "invalid", field, hint });
