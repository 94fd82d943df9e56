// Jobs on real repositories with a real daemon: facts, worktrees, hooks, merges, and what crashes leave behind.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { TestHome, until } from "../make/daemon.ts";
import { makeRepository, type Repository } from "../make/repository.ts";

type Fields = Record<string, unknown>;
const settingsFor = (repos: Record<string, Fields>, more = "") => `${more}\nrepos: ${JSON.stringify(repos)}\n`;

const add = async (client: Client, script: string, more: Fields = {}): Promise<number> => {
	const result = await client.call("job.add", { command: ["/bin/sh", "-c", script], repo: "r", ...more });
	if (result.outcome !== "queued") throw new Error(JSON.stringify(result));
	return (result.job as { id: number }).id;
};
const show = async (client: Client, id: number) => (await client.call("job.show", { id })).job;
const ended = (client: Client, id: number) =>
	until(async () => {
		const job = await show(client, id);
		return ["succeeded", "failed", "cancelled", "blocked_by_dependency", "expired"].includes(job.status) ? job : undefined;
	});
const merged = (client: Client, id: number, wanted = ["merged"]) =>
	until(async () => {
		const job = await show(client, id);
		return wanted.includes(job.merge_status ?? "") ? job : undefined;
	});
const commitFile = (name: string, text: string) =>
	`printf '%s\\n' '${text}' > ${name} && git add ${name} && git -c user.name=J -c user.email=j@x commit -qm 'job: ${name}'`;

async function town(repo: Repository, fields: Fields = {}, env: Record<string, string> = {}) {
	const home = new TestHome();
	home.make(settingsFor({ r: { path: repo.path, ...fields } }));
	return { home, ...(await home.up({ GIT_CONFIG_NOSYSTEM: "1", ...env })) };
}

describe("a job with a repo", () => {
	test("runs in a worktree of its own, is merged, and leaves nothing but its work", async () => {
		const repo = makeRepository();
		const { home, client } = await town(repo);
		const job = await add(client, `pwd > where; env | grep ^SLUICE_ | sort > vars; ${commitFile("a.txt", "work")}; rm where vars`, {
			title: "Add a file!",
		});
		expect(await ended(client, job)).toMatchObject({ status: "succeeded", end_reason: null });
		expect(await merged(client, job)).toMatchObject({ merge_report: { commit: repo.head("main") } });
		expect(repo.read("a.txt")).toBe("work\n");
		await until(() => !existsSync(join(home.path, "worktrees", "r", String(job))));
		await until(() => repo.branches().join() === "main");
		expect(repo.git("status", "--porcelain")).toBe("");
		expect(readFileSync(join(home.path, "runs", String(job), "1", "output.patch"), "utf8")).toContain("+work");
	});
});

describe("facts of a real repository", () => {
	test("each kind of artifact and condition is seen, and changes are seen when they happen", async () => {
		const repo = makeRepository();
		repo.git("branch", "plain");
		const home = new TestHome();
		home.make(
			settingsFor({ r: { path: repo.path } }, `poll_interval: 10m\nprobes: {ready: {command: [test, -e, ready]}, never: {command: ["false"]}}`),
		);
		const { client } = await home.up();
		const needing = (artifact: string) => add(client, "true", { needs: [artifact], on_missing: "wait", no_merge: true });
		const status = async (id: number) => (await show(client, id)).wait_reason?.detail ?? (await show(client, id)).status;
		const there = ["branch:plain", "commits:plain", "doc:main:README.md", "file:README.md"];
		for (const id of await Promise.all(there.map(needing))) expect((await ended(client, id)).status).toBe("succeeded");
		const missing = ["branch:later", "commits:later", "ahead:later", "doc:later:docs/x.md", "file:out/result.txt", "probe:ready"];
		const waiting = await Promise.all(missing.map(needing));
		for (const [n, id] of waiting.entries()) expect(await status(id)).toBe(`awaiting producer for ${missing[n]}`);
		const clean = await add(client, "true", { conditions: ["clean_worktree", "branch_exists:later"], no_merge: true });
		expect(await status(clean)).toBe("condition branch_exists:later is not met");
		// The polling is far away: only the watch can tell.
		repo.git("branch", "later");
		const [branch = 0, commits = 0, ahead = 0, doc = 0, file = 0, probe = 0] = waiting;
		await ended(client, branch);
		await ended(client, commits);
		expect(await status(ahead)).toBe("awaiting producer for ahead:later");
		expect((await ended(client, clean)).status).toBe("succeeded");
		repo.git("checkout", "--quiet", "later");
		repo.commit({ "docs/x.md": "x\n" });
		repo.git("checkout", "--quiet", "main");
		await ended(client, ahead);
		await ended(client, doc);
		repo.write("out/result.txt", "42\n");
		await ended(client, file);
		repo.write("ready", "");
		repo.git("branch", "stir");
		await ended(client, probe);
		const wrong = await add(client, "true", { needs: ["file:../../etc/passwd"], on_missing: "wait", no_merge: true });
		expect(await status(wrong)).toMatch(/^cannot probe file:.* leads out of /);
	});

	test("a pinned head that moves holds its job back, and lets it go when it comes back", async () => {
		const repo = makeRepository();
		const { client } = await town(repo, {}, {});
		await client.call("config.set", { key: "poll_interval", value: "10m" });
		const pinned = repo.head("main");
		repo.commit({ "b.txt": "b\n" });
		const job = await add(client, "true", { pinned_head: { branch: "main", commit: pinned }, no_merge: true });
		expect((await show(client, job)).wait_reason).toEqual({ kind: "pinned_head", detail: "pinned head mismatch on main" });
		repo.git("reset", "--quiet", "--hard", pinned);
		expect((await ended(client, job)).status).toBe("succeeded");
	});

	test("a retry is refused while git is in the middle of a merge", async () => {
		const repo = makeRepository();
		const { client } = await town(repo);
		const job = await add(client, "exit 3");
		expect((await ended(client, job)).status).toBe("failed");
		repo.git("checkout", "--quiet", "-b", "other");
		repo.commit({ "README.md": "theirs\n" });
		repo.git("checkout", "--quiet", "main");
		repo.commit({ "README.md": "ours\n" });
		expect(() => repo.git("merge", "other")).toThrow();
		await expect(client.call("job.retry", { id: job })).rejects.toMatchObject({ message: "repo r is in the middle of a merge" });
		repo.git("merge", "--abort");
		expect(await client.call("job.retry", { id: job })).toMatchObject({ reset: [job] });
	});
});
