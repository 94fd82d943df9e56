// Which branch a repo's jobs begin from and merge into: written down when the repo is added, and named wherever a merge is shown.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeRepository } from "../make/repository.ts";

const GIT = { GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };
const work = (file: string) =>
	`echo ${file} > ${file} && git add ${file} && git -c user.name=J -c user.email=j@example.org commit -qm ${file}`;
const add = async (client: Client, script: string): Promise<number> => {
	const result = await client.call("job.add", { command: ["/bin/sh", "-c", script], repo: "r" });
	if (result.outcome !== "queued") throw new Error(JSON.stringify(result));
	return (result.job as { id: number }).id;
};
const shown = async (client: Client, id: number) => (await client.call("job.show", { id })).job;
const withMerge = (client: Client, id: number, status: string) =>
	until(async () => {
		const job = await shown(client, id);
		return job.merge_status === status ? job : undefined;
	});
const configOf = (home: TestHome) => readFileSync(join(home.path, "config.yml"), "utf8");

test("repo add writes the branch down that is checked out; work goes there, whatever is checked out later", async () => {
	const repo = makeRepository();
	const home = new TestHome();
	const { client } = await home.up(GIT);
	const said = await home.run(["repo", "add", repo.path, "--name", "r"]);
	expect([said.code, said.err]).toEqual([0, `repo r at ${repo.path}, base main\n`]);
	expect(configOf(home)).toContain("base_branch: main");
	repo.git("checkout", "--quiet", "-b", "feature");
	const job = await add(client, work("b1"));
	expect(await shown(client, job)).toMatchObject({ merge_target: "main" });
	const done = await withMerge(client, job, "merged");
	expect(done).toMatchObject({ merge_target: "main", merge_commit: repo.head("main") });
	expect(repo.git("log", "--format=%s", "main")).toBe("b1\nfirst");
	expect(repo.git("log", "--format=%s", "feature")).toBe("first");
	const short = repo.head("main").slice(0, 7);
	expect((await home.run(["show", String(job)])).out).toContain(`merged into main as ${short}`);
	expect((await home.run(["why", String(job)])).out).toContain(`merged into main as ${short}`);
	expect((await home.run(["list", "--all", "--fields", "id,merge_target,merge_commit"])).out).toContain(repo.head("main"));
	// Added once more, it keeps its base.
	expect((await home.run(["repo", "add", repo.path, "--name", "r"])).err).toContain("base main");
});

test("a job that changed nothing has nothing to merge, and names no commit of others", async () => {
	const repo = makeRepository();
	const home = new TestHome();
	home.make(`repos: {r: {path: ${repo.path}, base_branch: main}}\n`);
	const { client } = await home.up(GIT);
	const job = await add(client, "true");
	expect(await withMerge(client, job, "merged")).toMatchObject({ merge_commit: null, merge_report: { nothing: true } });
	expect((await home.run(["why", String(job)])).out).toMatch(/succeeded in \S+, nothing to merge/);
	expect((await home.run(["diff", String(job)])).err).toContain("changed nothing");
});

test("a merge that waits names its target, too", async () => {
	const repo = makeRepository();
	const home = new TestHome();
	home.make(`repos: {r: {path: ${repo.path}, base_branch: main}}\n`);
	const { client } = await home.up(GIT);
	repo.write("README.md", "being changed\n");
	const job = await add(client, work("b1"));
	expect(await withMerge(client, job, "base_dirty")).toMatchObject({ merge_target: "main", merge_commit: null });
	const { out } = await home.run(["why", String(job)]);
	expect(out).toContain(`not merged yet: you have uncommitted changes on main in ${repo.path}`);
	expect(out).toContain("commit or stash them");
});

test("untracked files in the way of a merge are named", async () => {
	const repo = makeRepository();
	const home = new TestHome();
	home.make(`repos: {r: {path: ${repo.path}, base_branch: main}}\n`);
	const { client } = await home.up(GIT);
	repo.write("b1", "mine\n");
	repo.write("b2", "mine\n");
	const job = await add(client, `${work("b1")} && ${work("b2")}`);
	const found = await withMerge(client, job, "base_dirty");
	expect(found.merge_report).toMatchObject({ files: ["b1", "b2"] });
	const { out } = await home.run(["why", String(job)]);
	expect(out).toContain(`not merged yet: untracked files in ${repo.path} would be overwritten: b1, b2`);
	expect(out).toContain("move or commit them");
	expect(repo.read("b1")).toBe("mine\n");
});

test("a conflict says what to type; open -q prints the folder alone", async () => {
	const repo = makeRepository();
	const home = new TestHome();
	home.make(`repos: {r: {path: ${repo.path}, base_branch: main}}\n`);
	const { client } = await home.up(GIT);
	const job = await add(
		client,
		`until test -e ${home.path}/go; do sleep 0.05; done; echo theirs > README.md; git -c user.name=J -c user.email=j@x commit -qam theirs`,
	);
	await until(async () => (await shown(client, job)).run?.launched);
	repo.commit({ "README.md": "ours\n" }, "ours");
	writeFileSync(join(home.path, "go"), "");
	await withMerge(client, job, "conflict");
	const { out } = await home.run(["why", String(job)]);
	expect(out).toContain(`cd "$(sluice open ${job} -q)" && git rebase main, resolve, then: sluice merge ${job}`);
	const open = await home.run(["open", String(job), "-q"]);
	expect([open.out, open.err]).toEqual([`${home.path}/worktrees/r/${job}\n`, ""]);
});

test("a repo without a written base gets the one that is checked out when the daemon starts", async () => {
	const repo = makeRepository();
	const home = new TestHome();
	home.make(`# mine\nrepos:\n  r:\n    path: ${repo.path} # here\n`);
	const { client } = await home.up(GIT);
	await until(() => configOf(home).includes("base_branch: main"));
	expect(configOf(home)).toContain("# mine");
	expect(configOf(home)).toContain("# here");
	repo.git("checkout", "--quiet", "-b", "feature");
	const job = await add(client, work("b1"));
	expect(await withMerge(client, job, "merged")).toMatchObject({ merge_target: "main" });
	expect(repo.git("log", "--format=%s", "feature")).toBe("first");
});

test("a repo whose HEAD is detached is added with --base-branch only", async () => {
	const repo = makeRepository();
	repo.git("checkout", "--quiet", "--detach");
	const home = new TestHome();
	await home.up(GIT);
	const said = await home.run(["repo", "add", repo.path, "--name", "r"]);
	expect(said.code).toBe(2);
	expect(said.err).toContain("HEAD is detached");
	expect(said.err).toContain("--base-branch");
	expect((await home.run(["repo", "list"])).out).not.toContain(repo.path);
	expect((await home.run(["repo", "add", repo.path, "--name", "r", "--base-branch", "main"])).code).toBe(0);
	expect(configOf(home)).toContain("base_branch: main");
});

test("a repo by URL gets the default branch of its remote", async () => {
	const repo = makeRepository();
	repo.git("branch", "-m", "main", "trunk");
	const home = new TestHome();
	await home.up(GIT);
	expect((await home.run(["repo", "add", "--url", repo.path, "--name", "r"])).code).toBe(0);
	expect(configOf(home)).toContain("base_branch: trunk");
});

test("what an agent leaves is committed under the first line of its prompt, not under the job's name; a title goes first", async () => {
	const repo = makeRepository();
	const home = new TestHome();
	home.make(
		`agents: {writer: {command: [sh, -c, "date > $SLUICE_JOB_ID.txt", x, "{prompt}"]}}\nrepos: {r: {path: ${repo.path}, base_branch: main}}\n`,
	);
	const { client } = await home.up(GIT);
	const prompt = "Say farewell in the README\n\nand keep it short";
	for (const more of [{ name: "farewell" }, { name: "other", title: "A title" }]) {
		const result = await client.call("job.add", { agent: "writer", prompt, repo: "r", ...more });
		if (result.outcome !== "queued") throw new Error(JSON.stringify(result));
		const done = await withMerge(client, (result.job as { id: number }).id, "merged");
		expect(repo.git("log", "-1", "--format=%s", done.merge_commit as string)).toBe(more.title ?? "Say farewell in the README");
	}
});
