// The real programs behind a real daemon, each at the permission mode that jobs have by default: a run finds Sluice's own tools without being registered for them,
// schedules a helper, waits for it, and adds a follow-up of its own job. Gemini CLI takes servers only from its own settings, so there it is registered.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { AGENT_NAMES, type AgentName } from "../../src/core/agents/profile.ts";
import { AgentDaemon } from "./daemon.ts";
import { Place } from "./place.ts";
import type { Sandbox } from "./sandbox.ts";

/** The built command. */
const SLUICE = fileURLToPath(new URL("../../bin/sluice.js", import.meta.url));

/** What each program calls a server's tool. */
const TOOL: Record<AgentName, string> = { claude: "mcp__sluice__", codex: "mcp__sluice__", gemini: "mcp_sluice_", opencode: "sluice_" };

/** As `gemini mcp add` leaves it, with what `sluice mcp --help` says. */
function register({ home }: Sandbox): void {
	const path = join(home, ".gemini", "settings.json");
	const server = { command: process.execPath, args: [SLUICE, "mcp", "--for", "run"], env: { SLUICE_TOKEN: "$SLUICE_TOKEN" } };
	writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), mcpServers: { sluice: server } }));
}

describe.each(AGENT_NAMES)("%s", (agent) => {
	test.each(["edit", "ask"] as const)("at %s: a run schedules a helper, waits for it, and adds a follow-up", async (permission) => {
		const place = await Place.open(agent);
		const account = place.account("key-a", "api_key");
		if (agent === "gemini") register(account);
		const daemon = await AgentDaemon.open(place, { a: account });
		const { api } = place;
		const tool = (name: string, input: Record<string, unknown>) => ({ tool: `${TOOL[agent]}${name}`, input });
		api.script(
			"key-a",
			[
				tool("job_add", { command: ["sh", "-c", "echo the helper was here"], name: "helper", when: "now" }),
				tool("job_wait", { ids: ["helper"] }),
				tool("job_add", { command: ["true"], name: "later", when: "after_this_job" }),
			],
			{ say: "all done" },
		);
		// A run that may edit or ask adds plain commands only where its job says so.
		const id = await daemon.add("a", "schedule what comes next", { permission, flags: ["--may-add", "full"] });
		expect(await daemon.ended(id)).toMatchObject({ status: "succeeded", exit_kind: "completed", attempt: 1 });
		const told = api.turnsOf("key-a").map(({ asked: { body } }) => JSON.stringify(body));
		// One is shown the text, the other the structured content.
		expect(told[1]).toMatch(/added job 2 \(helper\)|\\"id\\":2,\\"name\\":\\"helper\\"/);
		expect(await daemon.list()).toMatchObject([
			{ id, status: "succeeded" },
			{ name: "helper", parent: id, status: "succeeded" },
			{ name: "later", parent: id, after: [{ job: id, policy: "success" }] },
		]);
		expect(await daemon.ended(3)).toMatchObject({ name: "later", status: "succeeded" });
		// It is offered what a run needs, and no more.
		expect(told.join("")).not.toContain("scheduler_pause");
	});
});
