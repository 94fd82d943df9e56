// What a run is given and what it leaves: its own MCP server, a session that a person takes up by hand, output in words that no adapter knows.

import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { AgentName } from "../../../src/core/agents/profile.ts";
import { runProgram } from "../../../src/host/program.ts";
import { until } from "../../make/daemons/daemon.ts";
import { usageFor } from "../charges.ts";
import { MODELS } from "../sandbox.ts";
import { bodiesOf, isNewest, openStand, REPO, type Stand, type Tried } from "./stand.ts";

/** The built command. */
const SLUICE = fileURLToPath(new URL("../../../bin/sluice.js", import.meta.url));

/** Gemini CLI takes servers from its own settings alone, as `gemini mcp add` leaves them; the others are given the run's server by Sluice. */
function registerServer({ place }: Stand): void {
	if (place.agent !== "gemini") return;
	const path = join(place.folder, "gemini-key-a", ".gemini", "settings.json");
	const server = { command: process.execPath, args: [SLUICE, "mcp"], env: { SLUICE_TOKEN: "$SLUICE_TOKEN" } };
	writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), mcpServers: { sluice: server } }));
}

/** What a person types after `sluice open`, in the form that needs no terminal. */
const HEADLESS: Record<AgentName, (argv: string[]) => string[]> = {
	claude: ([program, ...words]) => [program!, "-p", ...words, "go on by hand"],
	codex: ([program, , ...words]) => [program!, "exec", "resume", "--skip-git-repo-check", ...words, "go on by hand"],
	gemini: ([program, ...words]) => [program!, ...words, "-m", MODELS.gemini, "-p", "go on by hand"],
	opencode: ([program, ...words]) => [program!, "run", ...words, "go on by hand"],
};

/** `restore`: what makes its folder again, where it is gone. */
type Opened = { path: string; restore?: string[] | null; resume: { argv: string[]; env: Record<string, string> } };

export function surroundings(tried: Tried): void {
	if (!isNewest(tried)) return;
	const { agent } = tried;
	const usage = usageFor(agent);

	test("at the default permission a run may use its own MCP server: it adds a job and reports a result", async () => {
		const stand = await openStand(tried, { allowed: "nothing" });
		const { api, daemon } = stand;
		registerServer(stand);
		const calls = [
			{ mcp: "job_add", input: { command: ["true"], name: "helper", when: "now" } },
			{ mcp: "run_result", input: { result: { n: 7 } } },
		];
		api.script("key-a", calls, { say: "all done" });
		const id = await daemon.add("a", "schedule a helper", { permission: "default", flags: ["--may-add", "full"] });
		expect(await daemon.ended(id)).toMatchObject({ status: "succeeded", attempt: 1, result: { n: 7 } });
		expect(await daemon.list()).toMatchObject([{ id }, { name: "helper", parent: id }]);
	});

	test("open of a job, before its work is merged and after: the command that it prints goes on with the session", async () => {
		const { api, daemon, place } = await openStand(tried);
		const goOn = async ({ path, resume }: Opened, prompt: string) => {
			api.script("key-a", [], { say: "went on" });
			const asked = api.turnsOf("key-a").length;
			const env = { ...place.account("key-a").env, PATH: place.path, ...resume.env };
			const said = await runProgram(HEADLESS[agent](resume.argv), { cwd: path, env, timeoutMs: 120_000 });
			const body = bodiesOf(api, "key-a").slice(asked).at(-1);
			expect(body, JSON.stringify(said)).toContain(prompt);
			expect(body).toContain("go on by hand");
		};
		api.script("key-a", [{ shell: "echo made > made.txt", usage }], { say: "all done", usage });
		const kept = await daemon.add("a", "make the kept file", { repo: REPO, flags: ["--no-merge"] });
		await daemon.ended(kept);
		await goOn(await daemon.ask<Opened>("open", String(kept)), "make the kept file");
		api.script("key-a", [{ shell: "echo made > other.txt", usage }], { say: "all done", usage });
		const merged = await daemon.add("a", "make the merged file", { repo: REPO });
		await daemon.merged(merged);
		// Its worktree is removed; the line makes it again.
		const opened = await until(async () => {
			const found = await daemon.ask<Opened>("open", String(merged));
			return found.restore ? found : undefined;
		});
		await runProgram(opened.restore as string[], { cwd: place.folder, env: { PATH: place.path }, timeoutMs: 60_000 });
		await goOn(opened, "make the merged file");
	});

	test("events under names that no adapter knows: a person is asked, and told that nothing was understood, with the version", async () => {
		const { api, daemon, place } = await openStand(tried);
		// As if a newer version had renamed all that it prints.
		const bin = join(place.folder, "renamed");
		mkdirSync(bin);
		const program = join(place.path.split(":")[0] ?? "", agent);
		writeFileSync(
			join(bin, agent),
			`#!/bin/bash\nif [ "$1" = --version ]; then exec ${program} "$@"; fi\nset -o pipefail\n${program} "$@" | sed -u 's/"type":"/"type":"new./g'\n`,
		);
		chmodSync(join(bin, agent), 0o755);
		api.script("key-a", [], { say: "all done", usage });
		const id = await daemon.add("a", "say something", { flags: ["--env", `PATH=${bin}:${place.path}`] });
		const { question } = await daemon.asks(id);
		expect(question).toMatch(/not understood/);
		expect(question).toContain(tried.version);
	});
}
