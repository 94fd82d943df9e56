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
