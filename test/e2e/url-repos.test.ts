// Repos that are registered by URL, with real daemons and a real origin: cloned when they are needed, pushed to, the same from every host.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { CLONE_STEPS, WORK_STEPS } from "../../src/workspaces/context.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { hosts } from "../make/daemons/host.ts";
import { makeFolder } from "../make/folder.ts";
import { some } from "../make/long.ts";
import { makeRepository, Repository } from "../make/repository.ts";

type Fields = Record<string, unknown>;
const settingsFor = (fields: Fields, more = "") => `${more}\nrepos: ${JSON.stringify({ r: fields })}\n`;

const add = async (client: Client, script: string, more: Fields = {}): Promise<number> => {
	const result = await client.call("job.add", { command: ["/bin/sh", "-c", script], repo: "r", ...more });
	if (result.outcome !== "queued") throw new Error(JSON.stringify(result));
	return (result.job as { id: number }).id;
};
const show = async (client: Client, id: number) => (await client.call("job.show", { id })).job;
const until_ = (client: Client, id: number, is: (job: Awaited<ReturnType<typeof show>>) => boolean) =>
	until(async () => {
		const job = await show(client, id);
		return is(job) ? job : undefined;
	});
const merged = (client: Client, id: number) => until_(client, id, ({ merge_status }) => merge_status === "merged");
const commitFile = (name: string, text: string) =>
	`printf '%s\\n' '${text}' > ${name} && git add ${name} && git -c user.name=J -c user.email=j@x commit -qm 'job: ${name}'`;

/** A bare origin, and a checkout of it in which a person works. */
function makeOrigin(files: Record<string, string> = { "README.md": "hello\n" }): { origin: Repository; person: Repository } {
	const person = makeRepository(files);
	const origin = new Repository(join(makeFolder(), "origin.git"));
	mkdirSync(origin.path);
	origin.git("init", "--quiet", "--bare", "--initial-branch=main");
	person.git("remote", "add", "origin", origin.path);
	person.git("push", "--quiet", "origin", "main");
	return { origin, person };
}

async function town(fields: Fields, env: Record<string, string> = {}) {
	const home = new TestHome();
	home.make(settingsFor(fields));
	return { home, ...(await home.up({ GIT_CONFIG_NOSYSTEM: "1", ...env })) };
}

describe("a repo by URL", () => {
	test("is cloned for its first job, begins from origin's newest, and is merged there", async () => {
		const { origin, person } = makeOrigin();
		const { home, client } = await town({ url: `file://${origin.path}` });
		const first = await add(client, `cat README.md; ${commitFile("a.txt", "work")}`);
		await merged(client, first);
		expect(origin.git("show", "main:a.txt")).toBe("work");
		expect(readdirSync(join(home.path, "repos"))).toEqual(["r"]);

		person.git("pull", "--quiet", "origin", "main");
		person.commit({ "README.md": "changed\n" });
		person.git("push", "--quiet", "origin", "main");
		const second = await add(client, `cat README.md a.txt; ${commitFile("b.txt", "more")}`);
		await merged(client, second);
		expect((await client.call("job.logs", { id: second })).text).toBe("changed\nwork\n");
		expect(origin.git("log", "--format=%s", "main").split("\n")).toEqual(["job: b.txt", "change", "job: a.txt", "first"]);
		await until(() => !existsSync(join(home.path, "worktrees", "r", String(second))));
		expect(origin.branches()).toEqual(["main"]);
	});

	test("whose base moves during verify is rebased once more, and nothing of the other's is lost", async () => {
		const { origin, person } = makeOrigin();
		const flag = join(makeFolder(), "once");
		// Somebody pushes while the first verify runs.
		const verify = ["/bin/sh", "-c", `test -e ${flag} || { touch ${flag}; cd ${person.path} && git push -q origin main; }`];
		person.commit({ "theirs.txt": "theirs\n" }, "theirs");
		const { client } = await town({ url: origin.path, verify });
		await merged(client, await add(client, commitFile("mine.txt", "mine")));
		expect(origin.git("log", "--format=%s", "main").split("\n")).toEqual(["job: mine.txt", "theirs", "first"]);
	});

	test("whose origin refuses the push: the merge waits and says why, and goes through when it does not any more", async () => {
		const { origin } = makeOrigin();
		const hook = join(origin.path, "hooks", "pre-receive");
		mkdirSync(join(origin.path, "hooks"), { recursive: true });
		writeFileSync(hook, "#!/bin/sh\necho not today >&2\nexit 1\n", { mode: 0o755 });
		const { client } = await town({ url: origin.path });
		const job = await add(client, commitFile("a.txt", "work"));
		const waiting = await until_(client, job, ({ merge_report }) => merge_report?.message !== undefined);
		expect(waiting).toMatchObject({
			status: "succeeded",
			merge_status: "pending",
			merge_report: { message: expect.stringContaining("git push") },
		});
		expect(origin.git("log", "--format=%s", "main")).toBe("first");
	});

	test("with merge requests: the branch is pushed there, and the command is told of it", async () => {
		const { origin } = makeOrigin();
		const note = join(makeFolder(), "note");
		const { client } = await town({
			url: origin.path,
			merge: "mr",
			merge_command: ["/bin/sh", "-c", `git remote get-url origin > ${note}`],
		});
		const job = await add(client, commitFile("a.txt", "work"));
		await until_(client, job, ({ merge_status }) => merge_status === "requested");
		const [branch = "", ...others] = origin.branches().filter((name) => name !== "main");
		expect([origin.git("show", `${branch}:a.txt`), others, readFileSync(note, "utf8")]).toEqual(["work", [], `${origin.path}\n`]);
		expect(origin.git("log", "--format=%s", "main")).toBe("first");
	});

	test("that cannot be reached: the job does not start, and says why", async () => {
		const { client } = await town({ url: "/nowhere/at/all.git" });
		const job = await add(client, "true");
		const { last_failure } = await until_(client, job, ({ last_failure }) => last_failure !== null);
		expect(last_failure).toMatch(
			/^no worktree in repo r: repo r cannot be fetched from \/nowhere\/at\/all\.git: .*does not appear to be a git repository$/,
		);
	});

	test("can be registered from the command line; what is wrong with it is said in one line, and no password is shown", async () => {
		const { origin } = makeOrigin();
		const home = new TestHome();
		home.make();
		const { client } = await home.up();
		const said = await home.run(["repo", "add", "app", "--url", origin.path]);
		expect([said.code, said.err]).toEqual([0, `repo app at ${origin.path}, base main\n`]);
		expect((await client.call("repo.show", { name: "app" })).repo).toMatchObject({
			url: origin.path,
			path: null,
			hosts: ["local"],
			problem: null,
		});
		for (const [url, why] of [
			["ext::sh", "names a helper program of git"],
			["-x", "begins like an option"],
			["/nowhere", "cannot be read"],
		] as const) {
			const refused = await home.run(["repo", "add", "other", `--url=${url}`]);
			expect([refused.code, refused.err]).toEqual([2, expect.stringContaining(why)]);
		}
		expect((await home.run(["repo", "add", "app", `--url=file://${origin.path}`])).err).toContain("is registered already");
		await client.call("config.set", { key: "repos.secret.url", value: "https://ann:hunter2@127.0.0.1:9/x" });
		const all = await Promise.all([
			home.run(["repo", "list"]),
			home.run(["repo", "show", "secret"]),
			home.run(["config", "get", "repos.secret.url"]),
			home.run(["config", "list", "--json"]),
		]);
		for (const { out, err } of all) expect(out + err).not.toContain("hunter2");
		const job = await add(client, "true", { repo: "secret" });
		await until_(client, job, ({ last_failure }) => last_failure !== null);
		expect(JSON.stringify(await client.call("job.history", { id: job })) + home.log()).not.toContain("hunter2");
	});

	test("a fact of it is seen when origin changes", async () => {
		const { origin, person } = makeOrigin();
		const { client } = await town({ url: origin.path });
		person.git("push", "--quiet", "origin", "main:refs/heads/release");
		const job = await add(client, "true", { needs: ["branch:release"], no_merge: true });
		expect(await until_(client, job, ({ status }) => status === "succeeded")).toMatchObject({ attempt: 1 });
	});
});

describe("killed with SIGKILL", () => {
	test.each(some([...CLONE_STEPS, ...WORK_STEPS.filter((step) => step.startsWith("merge-"))], 2))(
		"at %s: the next daemon goes on, and nothing is lost or done twice",
		async (step) => {
			const { origin } = makeOrigin();
			const { home, child, client } = await town({ url: origin.path }, { SLUICE_CHAOS_STEP: step });
			await add(client, `echo ran >> ../../../ran; ${commitFile("a.txt", "work")}`).catch(() => {});
			await home.gone(child);
			const next = await home.up();
			expect(await merged(next.client, 1)).toMatchObject({ status: "succeeded", attempt: 1 });
			await until(() => !existsSync(join(home.path, "worktrees", "r", "1.json")));
			expect(readFileSync(join(home.path, "ran"), "utf8")).toBe("ran\n");
			expect(origin.git("log", "--format=%s", "main").split("\n")).toEqual(["job: a.txt", "first"]);
			expect(readdirSync(join(home.path, "repos"))).toEqual(["r"]);
		},
	);
});

describe("several hosts", () => {
	test("work in one repo at once: each clones it, and all of it is merged", async () => {
		const { origin } = makeOrigin();
		const config = settingsFor({ url: origin.path }, "max_concurrent: 8\nhosts: {a: {max: 2}, b: {max: 2}}\n");
		const { a, b } = await hosts({ a: config, b: config });
		// Each waits until both hosts have been at work.
		const both = join(makeFolder(), "seen");
		mkdirSync(both);
		const script = (name: string) =>
			`touch ${both}/"$(basename "$SLUICE_HOME")"; while [ "$(ls ${both} | wc -l)" -lt 2 ]; do sleep 0.05; done; ${commitFile(name, "work")}`;
		const jobs: number[] = [];
		for (const name of ["1", "2", "3", "4"]) jobs.push(await add(a.client, script(name)));
		for (const job of jobs) await merged(b.client, job);
		expect(origin.git("ls-tree", "--name-only", "main").split("\n")).toEqual(["1", "2", "3", "4", "README.md"]);
		expect([a, b].map(({ path }) => readdirSync(join(path, "repos")))).toEqual([["r"], ["r"]]);
	});

	test("a repo by path: jobs go only to the host that has it, and why says what is missing", async () => {
		const repo = makeRepository();
		const { a, b } = await hosts({ a: settingsFor({ path: repo.path }), b: settingsFor({ path: "/nowhere/here" }) });
		expect((await b.client.call("repo.show", { name: "r" })).repo.hosts).toEqual(["a"]);
		const job = await add(b.client, commitFile("a.txt", "work"));
		expect((await merged(b.client, job)).last_run).toMatchObject({ host: "a" });
		await a.client.call("scheduler.pause", {});
		const stuck = await add(b.client, "true");
		await a.client.call("config.set", { key: "repos.r.path", value: "/nowhere/either" });
		await a.client.call("scheduler.resume", {});
		expect((await a.client.call("job.why", { id: stuck })).reasons).toMatchObject([
			{ code: "no_host", detail: expect.stringMatching(/^no live host with repo r/) },
		]);
	});

	test("a job that failed on one and succeeded on the other: only what succeeded is merged", async () => {
		const { origin } = makeOrigin();
		const config = settingsFor({ url: origin.path });
		const { a, b } = await hosts({ a: config, b: config });
		const flag = join(makeFolder(), "flag");
		const script = `test -e ${flag} && { ${commitFile("good.txt", "good")}; exit; }; touch ${flag}; ${commitFile("bad.txt", "bad")}; exit 1`;
		const job = await add(a.client, script);
		const failed = await until_(a.client, job, ({ status }) => status === "failed");
		const [first, second] = failed.last_run?.host === "a" ? [a, b] : [b, a];
		// It no longer has the repo, so the other one gets it.
		await first.client.call("config.unset", { key: "repos.r" });
		await second.client.call("job.rerun", { id: job });
		await merged(b.client, job);
		expect(origin.git("ls-tree", "--name-only", "main").split("\n")).toEqual(["README.md", "good.txt"]);
	});

	test("a merge that was refused on one is tried again, or given up, from the other", async () => {
		const { origin } = makeOrigin();
		const config = settingsFor({ url: origin.path });
		const { a, b } = await hosts({ a: config, b: config });
		const jobs = [await add(a.client, "echo Z > zfile"), await add(a.client, "echo Y > yfile")];
		const places: { other: typeof a; path: string }[] = [];
		for (const job of jobs) {
			const { last_run } = await until_(a.client, job, ({ merge_report }) => merge_report?.uncommitted === true);
			const [has, other] = last_run?.host === "a" ? [a, b] : [b, a];
			places.push({ other, path: join(has.path, "worktrees", "r", String(job)) });
		}
		const [[first = 0, second = 0], [one, two]] = [jobs, places];
		new Repository(one?.path ?? "").commit({});
		await one?.other.client.call("job.merge", { id: first });
		await merged(b.client, first);
		expect(origin.git("ls-tree", "--name-only", "main").split("\n")).toEqual(["README.md", "zfile"]);
		const { job } = (await two?.other.client.call("job.merge", { id: second, drop: true })) ?? {};
		expect(job).toMatchObject({ merge_status: "kept", merge_report: { message: expect.stringContaining(`; its work stays on sluice/`) } });
	});

	test("a job goes on on the host that has its worktree", async () => {
		const { origin } = makeOrigin();
		const config = settingsFor({ url: origin.path, merge: "local" });
		const { a, b } = await hosts({ a: config, b: config });
		const job = await add(a.client, 'echo "$SLUICE_HOME" >> where; git rev-parse --show-toplevel >> where; test "$(wc -l < where)" -ge 8');
		for (let round = 0; round < 3; round++) {
			await until_(b.client, job, ({ status, attempt }) => status === "failed" && attempt === round + 1);
			await b.client.call("job.rerun", { id: job });
		}
		const { last_run } = await until_(b.client, job, ({ status }) => status === "succeeded");
		const { path } = last_run?.host === "a" ? a : b;
		const where = readFileSync(join(path, "worktrees", "r", String(job), "where"), "utf8")
			.trim()
			.split("\n");
		expect(where).toHaveLength(8);
		expect(new Set(where).size).toBe(2);
	});
});
