// An agent without a model, as a program: a run that uses Sluice through MCP. It schedules a helper, waits for it and reads its log, adds a follow-up
// of its own job, and tries what a run may not do. Prints what it was told, as one line of JSON. Argument: the sluice command.

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const client = new Client({ name: "agent", version: "1" });
await client.connect(
	new StdioClientTransport({
		command: process.execPath,
		args: [process.argv[2] as string, "mcp"],
		env: Object.fromEntries(Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))),
	}),
);
const call = async (name: string, args: Record<string, unknown> = {}) => {
	const { structuredContent, isError } = await client.callTool({ name, arguments: args });
	return { isError: isError === true, ...(structuredContent as Record<string, unknown>) } as Record<string, unknown>;
};

const helper = await call("job_add", { command: ["sh", "-c", "echo the helper was here; pwd"], name: "helper", when: "now" });
let waited = await call("job_wait", { ids: ["helper"], timeout_ms: 0 });
for (let tries = 0; !waited.done && tries < 20; tries++) waited = await call("job_wait", { ids: ["helper"] });
const log = await call("job_logs", { id: "helper" });
const later = await call("job_add", { command: ["true"], name: "later", when: "after_this_job" });
const early = await call("job_wait", { ids: ["later"], timeout_ms: 0 });
const refused = await call("job_cancel", { id: "later" });
await client.close();
console.log(JSON.stringify({ helper, waited, log, later, early, refused }));
