// The real programs at the default permission, in a repo: they may commit, what they are denied waits for a person, and what the person grants they may do.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JobDocument } from "../../src/api/documents.ts";
import { AGENT_NAMES, type AgentName } from "../../src/core/agents/profile.ts";
import { until } from "../make/daemons/daemon.ts";
import { AgentDaemon } from "./daemon.ts";
import { Place } from "./place.ts";
import { newestOf, versionsOf } from "./programs.ts";
import { MODELS } from "./sandbox.ts";

const git = (cwd: string, ...words: string[]) => execFileSync("git", words, { cwd, encoding: "utf8" }).trim();

async function open(agent: AgentName, version = newestOf(agent)) {
	const place = await Place.open(agent, version);
	const account = place.account("key-a");
	if (agent === "claude") {
		// What the other tests allow it beforehand.
		const path = join(account.home, "settings.json");
		const { permissions: _, ...settings } = JSON.parse(readFileSync(path, "utf8"));
		writeFileSync(path, JSON.stringify(settings));
	}
	const daemon = await AgentDaemon.open(place, { a: account });
	const repo = place.workFolder("repo");
	for (const [name, value] of Object.entries({ "user.name": "Ann", "user.email": "ann@example.org" })) git(repo, "config", name, value);
	git(repo, "commit", "-q", "--allow-empty", "-m", "first");
	await daemon.say("repo", "add", repo, "--name", "app");
	const add = async (...words: string[]): Promise<number> => {
		const env = Object.entries({ PATH: place.path, ...account.env }).flatMap(([name, value]) => ["--env", `${name}=${value}`]);
		const how = ["--agent", agent, "--model", MODELS[agent], "--account", "a", "--repo", "app", ...env];
		return (JSON.parse(await daemon.say("add", ...how, ...words, "do it", "--json")) as { job: JobDocument }).job.id;
	};
	const asks = (id: number) =>
		until(async () => {
			const job = await daemon.show(id);
			if (job.ended_at !== null) throw new Error(JSON.stringify(job));
			return job.question === null ? undefined : job;
		});
	return { place, daemon, repo, add, asks };
}

describe.each(AGENT_NAMES)("%s", (agent) => {
	test("a question at the end of nothing waits for a person", async () => {
		const { place, daemon, add, asks } = await open(agent);
		place.api.script("key-a", [], { say: "There are two servers. Which one should listen on the new port?" });
		const id = await add();
		expect((await asks(id)).question).toBe("There are two servers. Which one should listen on the new port?");
		const research = await add("--expect", "none");
		expect(await daemon.ended(research)).toMatchObject({ status: "succeeded" });
	});

	test("what it was denied waits for a person, who grants it", async () => {
		const { place, daemon, add, asks } = await open(agent);
		// Outside its folder: the one thing that Codex's sandbox keeps a command from.
		const command = agent === "codex" ? `touch ${place.folder}/outside` : "python3 -c pass";
		place.api.script("key-a", [{ shell: command }], { say: "I was not allowed to do that." });
		const id = await add();
		const asked = await asks(id);
		expect(asked.denied.map((one) => one.replace(/^\w+: /, ""))).toEqual([command]);
		place.api.script("key-a", [{ shell: command }, { shell: "echo made > made.txt" }], { say: "Done." });
		await daemon.say("answer", String(id), "--permission", agent === "codex" ? "full" : "asked");
		const after = await until(async () => {
			const job = await daemon.show(id);
			return job.attempt === 2 && job.run === null ? job : undefined;
		});
		expect(after.denied.map((one) => one.replace(/^\w+: /, ""))).not.toContain(command);
	});

	test.runIf(agent !== "codex")("it may commit without asking", async () => {
		const { place, daemon, repo, add } = await open(agent);
		place.api.script("key-a", [{ shell: "git commit --allow-empty -m made-by-the-agent" }], { say: "Done." });
		expect(await daemon.ended(await add())).toMatchObject({ status: "succeeded", denied: [] });
		await until(() => git(repo, "log", "--format=%s").includes("made-by-the-agent"));
	});
});

const READING = ["status", "diff", "log", "show", "rev-parse HEAD", "ls-files", "blame one.txt"].map((one) => `git ${one}`);

const TRIED = (["claude", "opencode"] as const).flatMap((agent) => versionsOf(agent).map((version) => [agent, version] as const));

test.each(TRIED)("%s %s at edit reads with git, and git writes no file for it", async (agent, version) => {
	const { place, daemon, repo, add } = await open(agent, version);
	const outside = join(place.folder, "outside");
	for (const folder of [outside, join(repo, "plug")]) mkdirSync(folder);
	for (const name of ["one.txt", "evil.json", "plug/x.js"]) writeFileSync(join(repo, name), "{}\n");
	git(repo, "add", ".");
	git(repo, "commit", "-qm", "files");
	const writing = [
		`git log > ${outside}/log`,
		`git log -1 >> ${outside}/log`,
		`git log --output=${outside}/output`,
		`git show --output ${outside}/show`,
		`git diff --no-index --output=${outside}/diff one.txt evil.json`,
		`git status && git diff --no-index --output=${outside}/diff one.txt evil.json`,
		"git mv evil.json opencode.json",
		"git mv plug .opencode",
		"git rm one.txt",
		`git restore --source=HEAD~1 one.txt`,
	];
	place.api.script(
		"key-a",
		[...READING, ...writing].map((shell) => ({ shell })),
		{ say: "Done." },
	);
	const id = await add("--expect", "none");
	const { denied } = await daemon.ended(id);
	expect(readdirSync(outside)).toEqual([]);
	expect(denied.map((one) => one.replace(/^\w+: /, ""))).toEqual(writing);
	for (const name of ["opencode.json", ".opencode"]) expect(existsSync(join(repo, name))).toBe(false);
});
