// The real Claude Code and Codex, behind a real daemon, with `sluice mcp` among their tools: a run schedules a helper, waits for it and reads its log, and
// adds a follow-up of its own job.

import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { AgentDaemon } from "./daemon.ts";
import { Place } from "./place.ts";
import type { Sandbox } from "./sandbox.ts";

/** The built command. */
const SLUICE = fileURLToPath(new URL("../../bin/sluice.js", import.meta.url));

/** As `claude mcp add` and `codex mcp add` leave it, with what `sluice mcp --help` says besides. */
const REGISTER: Record<"claude" | "codex", (account: Sandbox) => void> = {
	claude({ home }) {
		const mcpServers = { sluice: { type: "stdio", command: process.execPath, args: [SLUICE, "mcp"] } };
		writeFileSync(join(home, ".claude.json"), JSON.stringify({ mcpServers }));
		const path = join(home, "settings.json");
		const settings = JSON.parse(readFileSync(path, "utf8"));
		settings.permissions.allow.push("mcp__sluice");
		writeFileSync(path, JSON.stringify(settings));
	},
	codex({ home }) {
		const variables = ["SLUICE_HOME", "SLUICE_SOCKET", "SLUICE_TOKEN", "SLUICE_JOB_ID"];
		const server = [
			"[mcp_servers.sluice]",
			`command = "${process.execPath}"`,
			`args = ["${SLUICE}", "mcp"]`,
			`env_vars = ${JSON.stringify(variables)}`,
		];
		appendFileSync(join(home, "config.toml"), `\n${server.join("\n")}\n`);
	},
};

test.each(["claude", "codex"] as const)("%s schedules a follow-up, waits for another and reads its log", async (agent) => {
	const place = await Place.open(agent);
	const account = place.account("key-a", "api_key");
	REGISTER[agent](account);
	const daemon = await AgentDaemon.open(place, { a: account });
	const { api } = place;
	const tool = (name: string, input: Record<string, unknown>) => ({ tool: `mcp__sluice__${name}`, input });
	api.script(
		"key-a",
		[
			// Servers are connected to meanwhile.
			{ shell: "sleep 3" },
			tool("job_add", { command: ["sh", "-c", "echo the helper was here"], name: "helper", when: "now" }),
			tool("job_wait", { ids: ["helper"] }),
			tool("job_logs", { id: "helper" }),
			tool("job_add", { command: ["true"], name: "later", when: "after_this_job" }),
			tool("job_cancel", { id: "later" }),
		],
		{ say: "all done" },
	);
	const id = await daemon.add("a", "schedule what comes next");
	expect(await daemon.ended(id)).toMatchObject({ status: "succeeded", exit_kind: "completed", attempt: 1 });
	const told = api.turnsOf("key-a").map(({ asked: { body } }) => JSON.stringify(body));
	// One is shown the text, the other the structured content.
	expect(told[2]).toMatch(/added job 2 \(helper\)|\\"id\\":2,\\"name\\":\\"helper\\"/);
	expect(told[4]).toContain("the helper was here");
	expect(told[6]).toContain("unauthorised");
	const jobs = await daemon.list();
	expect(jobs).toMatchObject([
		{ id, status: "succeeded" },
		{ name: "helper", parent: id, status: "succeeded" },
		{ name: "later", parent: id, after: [{ job: id, policy: "success" }] },
	]);
	expect(await daemon.ended(3)).toMatchObject({ name: "later", status: "succeeded" });
});
