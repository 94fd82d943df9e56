// `sluice mcp --for run`: what a run is offered, over a real pipe.

import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { TestHome } from "../make/daemons/daemon.ts";

const SLUICE = fileURLToPath(new URL("../../bin/sluice.js", import.meta.url));

async function toolsOf(...words: string[]) {
	const home = new TestHome();
	const client = new Client({ name: "test", version: "1" });
	const env = { PATH: process.env.PATH ?? "", HOME: home.path, SLUICE_HOME: home.path, SLUICE_PORT: "0" };
	await client.connect(
		new StdioClientTransport({ command: process.execPath, args: [SLUICE, "mcp", ...words], env, cwd: tmpdir(), stderr: "pipe" }),
	);
	onTestFinished(() => client.close());
	const { tools } = await client.listTools();
	return { tools, names: tools.map(({ name }) => name), said: client.getInstructions() ?? "" };
}

test("a run is offered what it needs, which costs less than a third of all", { timeout: 120_000 }, async () => {
	const [run, all] = [await toolsOf("--for", "run"), await toolsOf("--for", "all")];
	expect(run.names.filter((name) => !name.startsWith("run_"))).toEqual(["job_add", "job_list", "job_show", "job_wait"]);
	expect(all.names).toEqual(expect.arrayContaining([...run.names, "job_why", "job_cancel", "scheduler_pause"]));
	expect(all.names).toEqual((await toolsOf()).names);
	const sizeOf = (tools: unknown[]) => JSON.stringify(tools).length;
	const isOfJobs = ({ name }: { name: string }) => name.startsWith("job_");
	expect(sizeOf(run.tools.filter(isOfJobs))).toBeLessThan(sizeOf(all.tools) / 3);
	const { properties = {} } = run.tools.find(({ name }) => name === "job_add")!.inputSchema;
	expect(Object.keys(properties)).toEqual(expect.arrayContaining(["command", "agent", "prompt", "after", "when", "permission"]));
	// How it says no comes first.
	expect(run.said.slice(0, run.said.indexOf("job_add"))).toMatch(/run_fail .*run_ask .*run_result /);
	// What it is told of tools it also has.
	for (const [name] of run.said.matchAll(/\b(?:job|run|scheduler)_\w+/g)) expect(run.names).toContain(name);
});
