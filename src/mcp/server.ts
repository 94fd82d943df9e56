// `sluice mcp`: the methods as tools for agents, over stdin and stdout. Only that command loads it, with the package for the protocol.

import { type CallToolResult, type ListToolsResult, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { McpClient, ToolDocument } from "../api/mcp-client.ts";
import { bounded, isObject } from "./bounds.ts";
import { paramsOf } from "./call.ts";
import { methodOf, type Offered, type ToolMethod, toolsFor } from "./tools.ts";
import { stdioWire } from "./wire.ts";
import { wordsFor } from "./words.ts";

/** Read by the model before it chooses a tool. */
const INSTRUCTIONS =
	"Sluice schedules jobs: commands and coding agents. job_add adds one, job_why says why it waits, job_wait waits for it (ask again until `done`), job_logs reads its output. Fields that are null or empty are left out. " +
	"Inside a run of Sluice, `when: after_this_job` adds a follow-up that starts once your own job has succeeded; run_fail says that your work failed or that your review says no, run_ask asks a person, run_result reports a result to the jobs after yours.";

/** The instructions for `--for run`, about the tools that are offered there. */
const INSTRUCTIONS_FOR_RUNS =
	"You are a run of Sluice, which schedules jobs: commands and coding agents. Call run_fail when your task failed or your review says no, run_ask when a person has to decide, run_result to report a result to the jobs after yours: your words alone do not do that. job_add adds a job, job_wait waits for it (ask again until `done`); with `when: after_this_job` it is a follow-up, which starts once your own job has succeeded.";

/** Resolves when the client has closed the connection. */
export async function serve(client: McpClient, offered: Offered = "all"): Promise<void> {
	const { stdin } = process;
	// Registered before anything is read, so that a client that disconnects at once is not missed.
	const closed = new Promise<void>((resolve) => {
		for (const event of ["end", "close", "error"]) stdin.once(event, () => resolve());
	});
	const handle = serveStdio(() => createServer(client, offered), { transport: stdioWire(client, stdin, process.stdout) });
	await closed;
	await handle.close();
}

function createServer(client: McpClient, offered: Offered): McpServer {
	const instructions = offered === "run" ? INSTRUCTIONS_FOR_RUNS : INSTRUCTIONS;
	const mcp = new McpServer({ name: "sluice", version: client.version }, { capabilities: { tools: {} }, instructions });
	mcp.server.setRequestHandler("tools/list", () => ({ tools: [...toolsFor(offered)] }) as ListToolsResult);
	mcp.server.setRequestHandler("tools/call", async ({ params }) => {
		const tool = methodOf(params.name);
		if (!tool) return refusal({ code: "unknown_method", message: `there is no tool ${params.name}`, hint: "tools/list names them all" });
		try {
			return await answer(tool.method, { ...params.arguments, ...tool.with }, client);
		} catch (error) {
			return refusal(error as Failure);
		}
	});
	return mcp;
}

async function answer(method: ToolMethod, given: ToolDocument, client: McpClient): Promise<CallToolResult> {
	const params = await paramsOf(method, given, client);
	const found: ToolDocument = await client.call(method, params);
	const whole = method === "job.logs" ? readable(found, client, given.raw === true ? "raw" : "shown") : found;
	const { document, notes } = bounded(method, whole, method === "job.list" ? params.limit : undefined);
	if (method === "job.wait" && whole.done === false) notes.push(...(await progress(whole, client)));
	if (method === "job.logs") notes.push(...furtherLog(whole));
	const structuredContent = notes.length > 0 ? { ...document, note: notes.join("\n") } : document;
	return { content: [{ type: "text", text: [wordsFor(method, document), ...notes].join("\n") }], structuredContent };
}

type Failure = { code?: unknown; message: string; hint?: unknown; field?: unknown };

/** The same code and hint as in the other interfaces. */
function refusal({ code, message, hint, field }: Failure): CallToolResult {
	const error = { code: typeof code === "string" ? code : "internal", message, hint: hint ?? null, ...(field ? { field } : {}) };
	const text = `${error.code}: ${message}${hint ? `\n${hint}` : ""}`;
	return { isError: true, content: [{ type: "text", text }], structuredContent: { schema_version: 1, error } };
}

const EXPLAINED = 5;

/** What the awaited jobs are doing; only a few of them, because each costs a call. */
async function progress({ jobs }: ToolDocument, client: McpClient): Promise<string[]> {
	const all = Array.isArray(jobs) ? jobs.filter(isObject) : [];
	const open = all.filter(({ status }) => ["queued", "waiting_on_deps", "waiting_on_locks", "running"].includes(String(status)));
	const lines = await Promise.all(open.slice(0, EXPLAINED).map(({ id }) => doing(Number(id), client)));
	const more = open.length > EXPLAINED ? [`and ${open.length - EXPLAINED} more`] : [];
	return [`${open.length} of ${all.length} have not ended: call job_wait again to go on waiting.`, ...lines, ...more];
}

async function doing(id: number, client: McpClient): Promise<string> {
	const { job, reasons, position } = await client.call("job.why", { id });
	if (client.job !== undefined && job.after.some((one) => one.job === client.job))
		return `Job ${id} comes after your own job ${client.job}: it starts once you have ended well, so do not wait for it.`;
	if (job.status === "running") {
		const { tool, message, last_line, turns } = job.run?.progress ?? {};
		const now = tool ?? message ?? last_line;
		return `Job ${id} runs since ${job.started_at}${turns ? `, ${turns} turns` : ""}${now ? `; now: ${now}` : ""}; job_logs shows its output.`;
	}
	const why =
		reasons[0] === undefined
			? ""
			: `: ${reasons[0].detail}${reasons.length > 1 ? ` (and ${reasons.length - 1} more reasons: job_why)` : ""}`;
	return `Job ${id} is ${job.status}${position === null ? "" : `, number ${position} in line`}${why}.`;
}

/** Leaves out a line that began before the piece: half a line cannot be parsed. Drops `parts`, which is for programs that draw the log. */
function readable({ parts: _, ...piece }: ToolDocument, client: McpClient, how: "raw" | "shown"): ToolDocument {
	const { output = "command", stream, offset } = piece;
	if (how === "raw" || output === "command" || stream === "stderr") return piece;
	const text = String(piece.text);
	return { ...piece, text: client.rendered(String(output), Number(offset) > 0 ? text.slice(text.indexOf("\n") + 1) : text) };
}

function furtherLog({ offset, next_offset, eof, ended }: ToolDocument): string[] {
	const before = Number(offset) > 0 ? [`Bytes 0 to ${offset} come before: \`offset: 0\`.`] : [];
	const after = ended && eof ? [] : [`It goes on: ask again with \`offset: ${next_offset}\`${ended ? "" : " and `wait_ms`"}.`];
	return [...before, ...after];
}
