// `sluice repo trust` covers the recipes of a repo by their content: a recipe that a commit adds, changes or removes later counts only once it was trusted itself.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, onTestFinished, test } from "vitest";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeFolder } from "../make/folder.ts";
import { makeRepository } from "../make/repository.ts";

const OWN = "command: [make, own]\n";
const PLANTED = 'command: ["sh", "-c", "echo planted"]\n';
const SAYS = "the recipes of repo r do not count: recipes/work.yml was added since they were trusted";

async function openTown(config: Record<string, unknown> = {}) {
	const [repo, todo] = [makeRepository({ "recipes/own.yml": OWN }), makeFolder()];
	for (const name of ["one", "two", "three"]) writeFileSync(join(todo, `${name}.md`), `# ${name}\n`);
	const home = new TestHome();
	home.make(
		JSON.stringify({
			repos: { r: { path: repo.path } },
			sources: { todo: { kind: "folder", root: todo } },
			agents: { claude: { command: ["true"] } },
			...config,
		}),
	);
	const { client } = await home.up({ GIT_CONFIG_NOSYSTEM: "1" });
	await client.call("scheduler.pause", {});
	return { repo, todo, home, client, sluice: (...args: string[]) => home.run(args, { cwd: todo }) };
}

async function askMcp(home: TestHome, name: string, args: Record<string, unknown>): Promise<string> {
	const client = new Client({ name: "test", version: "1" });
	await client.connect(
		new StdioClientTransport({
			command: process.execPath,
			args: [fileURLToPath(new URL("../../bin/sluice.js", import.meta.url)), "mcp"],
			env: { PATH: process.env.PATH ?? "", HOME: home.path, USER: "ann", SLUICE_HOME: home.path, SLUICE_PORT: "0" },
			stderr: "pipe",
		}),
	);
	onTestFinished(() => client.close());
	return JSON.stringify(await client.callTool({ name, arguments: args }));
}

describe("a recipe that a commit adds to a trusted repo", () => {
	test("does not take the place of a shipped one until it is trusted, whichever way a job is added", { timeout: 90_000 }, async () => {
		const nightly = { schedule: "0 3 * * *", add: { recipe: "work", repo: "r", item: "x" } };
		const { repo, home, client, sluice } = await openTown({ cron: { nightly } });
		expect((await sluice("repo", "trust", "r")).code).toBe(0);
		expect((await client.call("recipe.show", { name: "own", repo: "r" })).recipe.origin).toBe(join(repo.path, "recipes/own.yml"));
		repo.commit({ "recipes/work.yml": PLANTED });

		const slung = await client.call("job.sling", { ids: ["one", "r"] });
		expect(slung.warnings).toEqual([expect.stringContaining(SAYS)]);
		expect(slung.warnings[0]).toContain("sluice repo trust r");
		const typed = await sluice("sling", "two", "r");
		expect(typed).toMatchObject({ code: 0, err: expect.stringContaining(SAYS) });
		const added = (await client.call("job.add", { recipe: "work", repo: "r", item: "y" })) as { warning?: string };
		expect(added.warning).toContain(SAYS);
		expect((await sluice("add", "--recipe", "work", "--repo", "r", "--item", "z")).err).toContain(SAYS);
		const applied = (await client.call("job.apply", { manifest: { jobs: [{ recipe: "work", repo: "r", item: "w" }] } })) as {
			warning?: string;
		};
		expect(applied.warning).toContain(SAYS);
		await client.call("cron.run", { name: "nightly" });
		expect(home.log()).toContain(SAYS);
		const said = await askMcp(home, "job_add", { recipe: "work", repo: "r", item: "v" });
		expect(said).toContain(SAYS);
		const { jobs } = await client.call("job.list", {});
		expect(jobs.map(({ recipe, agent, command }) => [recipe, agent, command])).toEqual(jobs.map(() => ["work", "claude", null]));
		expect(jobs).toHaveLength(7);

		// The recipe that was trusted does not count either: one word covers them all.
		const own = await sluice("sling", "own", "--on", "three", "r");
		expect(own).toMatchObject({ code: 3, err: expect.stringContaining(SAYS) });
	});

	test("is named by every view, with what to type", { timeout: 90_000 }, async () => {
		const { repo, client, sluice } = await openTown();
		await sluice("repo", "trust", "r");
		await client.call("job.add", { recipe: "own", repo: "r" });
		repo.commit({ "recipes/work.yml": PLANTED });
		const views = [
			await sluice("recipe", "list", "--repo", "r"),
			await sluice("recipe", "show", "work", "--repo", "r"),
			await sluice("repo", "list"),
			await sluice("repo", "show", "r"),
			await sluice("doctor"),
			await sluice("why", "1"),
		];
		for (const { out, err } of views) {
			const said = `${out}${err}`.replaceAll(/\s+/g, " ");
			expect(said).toContain("recipes/work.yml");
			expect(said).toContain("sluice repo trust r");
		}
		const { recipes } = await client.call("recipe.list", { repo: "r" });
		expect(recipes.filter(({ name }) => ["own", "work"].includes(name)).map(({ name, origin }) => [name, origin])).toEqual([
			["work", "shipped"],
		]);
		const { repos } = await client.call("repo.list", {});
		expect(repos[0]).toMatchObject({
			recipes: "changed",
			changes: [{ file: "recipes/work.yml", change: "added", commands: [["sh", "-c", "echo planted"]] }],
		});
		const trusted = await sluice("repo", "trust", "r");
		expect(trusted.err).toContain("recipes/work.yml");
		expect(trusted.err).toContain("sh -c 'echo planted'");
		expect((await client.call("recipe.show", { name: "work", repo: "r" })).recipe.origin).toBe(join(repo.path, "recipes/work.yml"));
		expect((await sluice("doctor")).out).not.toContain("recipes/work.yml");
	});
});

test("every other change of the recipes counts as one: changed, removed, a link, a FIFO, a folder", { timeout: 90_000 }, async () => {
	const { repo, client, sluice } = await openTown();
	const own = join(repo.path, "recipes/own.yml");
	const state = async () => {
		const { recipes, changes } = (await client.call("repo.show", { name: "r" })).repo;
		return [recipes, ...changes.map(({ file, change }) => `${file} ${change}`)];
	};
	const outside = join(makeFolder(), "outside.yml");
	writeFileSync(outside, OWN);
	expect(await state()).toEqual(["untrusted", "recipes/own.yml added"]);
	expect((await sluice("repo", "trust", "r")).code).toBe(0);
	expect(await state()).toEqual(["trusted"]);
	writeFileSync(own, OWN.replace("own", "0wn"));
	expect(await state()).toEqual(["changed", "recipes/own.yml changed"]);
	writeFileSync(own, OWN);
	expect(await state()).toEqual(["trusted"]);
	rmSync(own);
	expect(await state()).toEqual(["changed", "recipes/own.yml removed"]);
	symlinkSync(outside, own);
	expect((await client.call("repo.show", { name: "r" })).repo).toMatchObject({ recipes: "bad" });
	expect(await sluice("repo", "trust", "r")).toMatchObject({
		code: 2,
		err: expect.stringContaining("recipes/own.yml leads out of the repo"),
	});
	rmSync(own);
	mkdirSync(own);
	expect(await sluice("repo", "trust", "r")).toMatchObject({
		code: 2,
		err: expect.stringContaining("recipes/own.yml is not a plain file"),
	});
	rmSync(own, { recursive: true });
	execFileSync("mkfifo", [own]);
	expect(await sluice("repo", "trust", "r")).toMatchObject({
		code: 2,
		err: expect.stringContaining("recipes/own.yml is not a plain file"),
	});
	expect((await client.call("recipe.list", { repo: "r" })).warning).toContain("recipes/own.yml is not a plain file");
	rmSync(own);
	repo.git("checkout", "--", ".");
	expect(await state()).toEqual(["trusted"]);
	// What the daemon never reads changes nothing.
	mkdirSync(join(repo.path, "recipes/notes"));
	writeFileSync(join(repo.path, "recipes/notes/work.yml"), PLANTED);
	writeFileSync(join(repo.path, "recipes/README.md"), "words\n");
	expect(await state()).toEqual(["trusted"]);
	expect((await sluice("repo", "trust", "r", "--off")).code).toBe(0);
	expect((await state())[0]).toBe("untrusted");
});

test("a repo that was trusted before recipes were recorded: they are to be trusted again", { timeout: 60_000 }, async () => {
	const { client, sluice } = await openTown();
	// The SHA-256 of no text: what `repo trust` wrote for a repo with recipes and no sluice.yml.
	const old = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
	await client.call("config.set", { key: "repos.r.trusted", value: old });
	const { repo } = await client.call("repo.show", { name: "r" });
	expect(repo).toMatchObject({ recipes: "untrusted", trust_problem: expect.stringContaining("before recipes were recorded") });
	expect(await sluice("sling", "own", "--on", "one", "r")).toMatchObject({ code: 3, err: expect.stringContaining("sluice repo trust r") });
	expect((await sluice("repo", "trust", "r")).code).toBe(0);
	expect((await sluice("sling", "own", "--on", "one", "r")).code).toBe(0);
});

test("trust is refused when the files are not those that were shown", async () => {
	const { repo, client } = await openTown();
	const { digest } = (await client.call("repo.show", { name: "r" })).repo;
	repo.commit({ "recipes/work.yml": PLANTED });
	await expect(client.call("repo.trust", { name: "r", digest: digest as string })).rejects.toMatchObject({ code: "conflict" });
	expect((await client.call("repo.show", { name: "r" })).repo.recipes).toBe("untrusted");
});

test.each([
	["changes", "echo '# a line' >> sluice.yml"],
	["removes", "rm sluice.yml"],
])("a job that %s the trusted sluice.yml does not switch verify off for the next one", { timeout: 60_000 }, async (_, change) => {
	const { repo, client, sluice } = await openTown();
	repo.commit({ "sluice.yml": "verify: [sh, -c, 'test ! -e forbidden.txt']\n" });
	expect((await sluice("repo", "trust", "r")).code).toBe(0);
	await client.call("scheduler.resume", {});
	const merged = async (name: string, script: string) => {
		await client.call("job.add", { name, command: ["sh", "-c", script], repo: "r", commit: "auto" });
		return until(async () => {
			const { job } = await client.call("job.show", { id: name });
			return job.merge_status === "merged" || job.merge_report?.message ? job : undefined;
		});
	};
	expect(await merged("first", change)).toMatchObject({ merge_status: "merged" });
	const second = await merged("second", "echo bad > forbidden.txt");
	expect(second).toMatchObject({ merge_status: "pending", merge_report: { message: expect.stringContaining("sluice repo trust r") } });
	expect(repo.has("forbidden.txt")).toBe(false);
	repo.commit({ "sluice.yml": "verify: [sh, -c, 'test ! -e forbidden.txt']\n" });
	expect((await sluice("repo", "trust", "r")).code).toBe(0);
	await client.call("job.merge", { id: "second" });
	await until(async () => (await client.call("job.show", { id: "second" })).job.merge_status === "verify_failed");
});

const WRONG = "verify: [true]\n";

test("a sluice.yml with a mistake is not trusted, and the mistake is named", { timeout: 60_000 }, async () => {
	const { repo, client, sluice } = await openTown();
	repo.commit({ "sluice.yml": WRONG });
	const said = await sluice("repo", "trust", "r", "--yes");
	expect(said.code).toBe(2);
	expect(said.err.replaceAll(/\s+/g, " ")).toMatch(
		/repo r cannot be trusted: sluice\.yml:1.*verify\[0\].*mend that, then: sluice repo trust r/,
	);
	expect((await client.call("repo.show", { name: "r" })).repo).toMatchObject({ file: "untrusted" });
	repo.commit({ "sluice.yml": "verify: ['true']\n" });
	expect((await sluice("repo", "trust", "r", "--yes")).code).toBe(0);
});

test.each([
	["by its digest", createHash("sha256").update(WRONG).digest("hex")],
	["whatever it says", true],
])("a sluice.yml that is trusted %s and has a mistake: merges wait until it has none", { timeout: 60_000 }, async (_, trusted) => {
	const repo = makeRepository({ "sluice.yml": WRONG });
	const home = new TestHome();
	home.make(JSON.stringify({ repos: { r: { path: repo.path, trusted } } }));
	const { client } = await home.up({ GIT_CONFIG_NOSYSTEM: "1" });
	await client.call("job.add", { name: "one", command: ["sh", "-c", "echo bad > forbidden.txt"], repo: "r", commit: "auto" });
	const job = await until(async () => {
		const { job } = await client.call("job.show", { id: "one" });
		return job.merge_status === "merged" || job.merge_report?.message ? job : undefined;
	});
	expect(job).toMatchObject({ merge_status: "pending" });
	const why = (await home.run(["why", "one"])).out.replaceAll(/\s+/g, " ");
	expect(why).toMatch(/the sluice\.yml of repo r cannot be used \(sluice\.yml:1.*verify\[0\].*\), so its verify is not in force/);
	expect(why).toMatch(/→ .*sluice merge 1/);
	repo.commit({ "sluice.yml": "verify: [sh, -c, 'test ! -e forbidden.txt']\n" });
	expect((await home.run(["repo", "trust", "r", "--yes"])).code).toBe(0);
	await client.call("job.merge", { id: "one" });
	await until(async () => (await client.call("job.show", { id: "one" })).job.merge_status === "verify_failed");
});
