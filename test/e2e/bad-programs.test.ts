// A mistyped program or agent, with a real daemon and a real repository: told when it is added, and no other job waits for it.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeRepository } from "../make/repository.ts";

test("three jobs with a mistyped program hold no healthy job of their repo", async () => {
	const repo = makeRepository();
	const home = new TestHome();
	home.make(`repos: ${JSON.stringify({ r: { path: repo.path, merge: "local" } })}\n`);
	const { client } = await home.up({ GIT_CONFIG_NOSYSTEM: "1" });
	for (let n = 0; n < 3; n++) {
		const { code, err } = await home.run(["add", "--repo", "r", "--", "nosuchprog"], { cwd: home.path });
		expect([code, err]).toEqual([0, expect.stringContaining("warning: no such program in PATH: nosuchprog")]);
	}
	const failures = async (id: number) => (await client.call("job.show", { id })).job.dispatch_failures ?? 0;
	for (const id of [1, 2, 3]) await until(async () => (await failures(id)) === 1);
	expect((await home.run(["add", "-q", "--wait", "--repo", "r", "--no-merge", "--", "true"], { cwd: home.path })).code).toBe(0);
	const { holds } = await client.call("scheduler.status", {});
	expect(holds).toEqual([]);
	expect(await Promise.all([1, 2, 3].map(failures))).toEqual([1, 1, 1]);
	const { out } = await home.run(["why", "1"], { cwd: home.path });
	expect(out).toContain("start failed once: no such program in PATH: nosuchprog");
});

test("an unknown agent is refused with the nearest name, however it comes in", async () => {
	const home = new TestHome();
	home.make("agents: {mine: {command: [sh, -c, '{prompt}']}}\n");
	const { client } = await home.up();
	writeFileSync(join(home.path, "m.yml"), "jobs:\n  - {agent: cluade, prompt: x}\n");
	writeFileSync(join(home.path, "r.yml"), "agent: cluade\nprompt: x\n");
	for (const args of [
		["add", "--agent", "cluade", "x"],
		["apply", "m.yml"],
		["apply", "--check", "m.yml"],
		["cron", "add", "night", "0 2 * * *", "--agent", "cluade", "x"],
	]) {
		const { code, err } = await home.run(args, { cwd: home.path });
		expect([args, code, err]).toEqual([args, 3, expect.stringMatching(/there is no agent "cluade"\n\s+did you mean "claude"\?/)]);
	}
	expect((await client.call("job.list", { all: true })).jobs).toEqual([]);
	expect((await home.run(["add", "-q", "--wait", "--agent", "mine", "true"], { cwd: home.path })).code).toBe(0);
	expect((await home.run(["add", "--force", "--agent", "theirs", "x"], { cwd: home.path })).code).toBe(0);
});

test("a shell line in place of a program is told how to write it", async () => {
	const home = new TestHome();
	home.make("dispatch_breaker: 1\n");
	await home.up();
	const { err } = await home.run(["add", "--", "ls | wc -l"], { cwd: home.path });
	expect(err).toContain("for a shell line: sluice add -- sh -c 'ls | wc -l'");
	await until(async () => (await home.run(["why", "1"], { cwd: home.path })).out.includes("add it anew: sluice add -- sh -c 'ls | wc -l'"));
});

test("deferred with a heartbeat: a job is only scheduled, why names sluice run, and run starts it", async () => {
	const home = new TestHome();
	home.make("preset: town\nmax_concurrent: 5\ncycle_interval: 24h\n");
	await home.up();
	const run = async (...args: string[]) => (await home.run(args, { cwd: home.path })).out;
	await run("add", "-q", "--name", "abc", "--", "sh", "-c", "echo $SLUICE_STARTED_BY");
	expect(await run("status")).toContain("Queued: 1 total, 1 ready");
	expect(await run("why", "abc")).toMatch(/waiting for the next cycle, clears in .*\n\s+→ start a cycle now: sluice run/);
	expect(await run("run", "--dry-run")).toContain("Would start: 1");
	expect(await run("run")).toContain("Started: 1");
	expect((await home.run(["wait", "abc"], { cwd: home.path })).code).toBe(0);
	expect(await run("logs", "abc")).toBe("run\n");
	expect(await run("run")).toContain("Started: nothing");
	await run("add", "-q", "--", "true");
	expect(await run("status")).toContain("Queued: 1 total, 1 ready");
});
