// Jobs on real repositories with a real daemon: facts, worktrees, hooks, merges, and what crashes leave behind.

import { execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { WORK_STEPS } from "../../src/workspaces/context.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeFolder } from "../make/folder.ts";
import { some } from "../make/long.ts";
import { makeRepository, Repository } from "../make/repository.ts";

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

describe("add --capture-diff", () => {
	test("what was uncommitted at that moment is the run's input.patch, whatever is changed afterwards", async () => {
		const repo = makeRepository({ "README.md": "hello\n", ".gitignore": "*.log\n", "gone.txt": "gone\n", "sub/kept.txt": "" });
		repo.write("README.md", "mine\n");
		repo.git("add", "README.md");
		repo.write("README.md", "mine, later\n");
		repo.write("sub/new.txt", "new\n");
		repo.write("noise.log", "noise\n");
		rmSync(join(repo.path, "gone.txt"));
		const before = repo.git("status", "--porcelain");
		const { home, client } = await town(repo, { path: makeRepository().path });
		const script = `cat "$SLUICE_INPUT_PATCH"; test -e go`;
		const added = await home.run(["add", "--capture-diff", "--in", "1s", "--", "/bin/sh", "-c", script], { cwd: join(repo.path, "sub") });
		expect([added.code, repo.git("status", "--porcelain")]).toEqual([0, before]);
		repo.git("stash", "--quiet", "--include-untracked");
		const job = Number(added.out);
		await ended(client, job);
		const patch = readFileSync(join(home.path, "runs", String(job), "1", "input.patch"), "utf8");
		expect((await client.call("job.logs", { id: job })).text).toBe(patch);
		expect(patch).not.toContain("noise");
		const other = makeRepository({ "README.md": "hello\n", ".gitignore": "*.log\n", "gone.txt": "gone\n", "sub/kept.txt": "" });
		writeFileSync(join(other.path, "..", "patch"), patch);
		other.git("apply", "../patch");
		expect([other.read("README.md"), other.read("sub/new.txt"), other.has("gone.txt")]).toEqual(["mine, later\n", "new\n", false]);
		expect((await show(client, job)).input_patch).toBe(true);
		// The next attempt has it, too.
		await client.call("job.rerun", { id: job });
		await until(async () => (await show(client, job)).attempt === 2 && (await ended(client, job)));
		expect(readFileSync(join(home.path, "runs", String(job), "2", "input.patch"), "utf8")).toBe(patch);
	});

	test("is refused where there is nothing to take it from, and nothing is added", async () => {
		const repo = makeRepository();
		const { home, client } = await town(repo);
		const add = (cwd: string) => home.run(["add", "--capture-diff", "--", "true"], { cwd });
		expect(await add(makeFolder())).toMatchObject({ code: 2, err: expect.stringContaining("has no working tree of git") });
		repo.write("big.txt", "0123456789".repeat(110_000));
		expect(await add(repo.path)).toMatchObject({ code: 2, err: expect.stringContaining("commit it to a branch instead") });
		writeFileSync(join(repo.path, "big.txt"), Buffer.from([0x61, 0xe9, 0x0a]));
		expect(await add(repo.path)).toMatchObject({ code: 2, err: expect.stringContaining("not UTF-8") });
		expect((await client.call("job.list", { all: true })).jobs).toEqual([]);
	});
});

describe("facts of a real repository", () => {
	test("each kind of artifact and condition is seen, and changes are seen when they happen", async () => {
		const repo = makeRepository();
		repo.git("branch", "plain");
		const home = new TestHome();
		home.make(
			settingsFor(
				{ r: { path: repo.path } },
				`poll_interval: 10m\nprobes: {ready: {command: [test, -e, ready]}, never: {command: ["false"]}}`,
			),
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
		// A file in somebody's checkout is in no worktree; one on the base is.
		repo.write("out/result.txt", "42\n");
		repo.git("branch", "stir-first");
		expect(await status(file)).toBe("awaiting producer for file:out/result.txt");
		repo.commit({});
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

	test("add --pin in a folder of no registered repo: the branch of that folder's repository is watched", async () => {
		const repo = makeRepository();
		const home = new TestHome();
		home.make("");
		const { client } = await home.up();
		const pinned = repo.head("main");
		const sluice = (...args: string[]) => home.run(args, { cwd: repo.path });
		expect((await sluice("add", "-q", "--pin", "main", "--wait", "--", "true")).code).toBe(0);
		const held = Number((await sluice("add", "-q", "--pin", `main@${pinned.slice(0, 10)}`, "--needs-approval", "--", "true")).out);
		repo.commit({ "moved.txt": "b\n" });
		const kinds = async () => (await client.call("job.why", { id: held })).reasons.map(({ code }) => code);
		await until(async () => (await kinds()).includes("pinned_head"));
		await sluice("approve", String(held));
		expect((await show(client, held)).wait_reason).toEqual({ kind: "pinned_head", detail: "pinned head mismatch on main" });
		repo.git("reset", "--quiet", "--hard", pinned);
		expect((await ended(client, held)).status).toBe("succeeded");
		expect(await home.run(["add", "--pin", "main", "--", "true"], { cwd: home.path })).toMatchObject({ code: 2 });
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

describe("the life of a worktree", () => {
	const worktree = (home: TestHome, job: number) => join(home.path, "worktrees", "r", String(job));

	test("hooks, included files, a retry in the same place that is told, and the commit of what was left", async () => {
		const repo = makeRepository({
			"README.md": "hello\n",
			".gitignore": ".env\nsecret\nlog\n",
			".worktreeinclude": ".env\nREADME.md\nnew\n",
		});
		repo.write(".env", "KEY=1\n");
		repo.write("secret", "not asked for\n");
		repo.write("new", "not ignored\n");
		const log = join(repo.path, "log");
		const hook = (name: string) => ["/bin/sh", "-c", `echo ${name} $SLUICE_JOB_ID $SLUICE_ATTEMPT $(ls -A | tr '\\n' ' ') >> ${log}`];
		const hooks = Object.fromEntries(["after_create", "before_run", "after_run", "before_remove"].map((name) => [name, hook(name)]));
		const { home, client } = await town(repo, { hooks });
		const script = `if [ "$SLUICE_ATTEMPT" = 1 ]; then echo half > half; echo oh no >&2; exit 3; fi
			echo "$SLUICE_PRIOR_ATTEMPT $SLUICE_PRIOR_EXIT $SLUICE_PRIOR_BRANCH" > told; grep -c 'oh no' "$SLUICE_PRIOR_FILE" >> told; cat half >> told; rm half`;
		const job = await add(client, script, { title: "Say it", commit: "auto", retry: { max: 1, base_ms: 1 } });
		expect(await ended(client, job)).toMatchObject({ status: "succeeded", attempt: 2 });
		await merged(client, job);
		const tag = readFileSync(join(home.path, "tag"), "utf8").trim();
		expect(repo.read("told").split("\n").slice(0, 3)).toEqual([`1 failed sluice/${tag}-${job}-say-it`, "1", "half"]);
		expect(repo.git("log", "-1", "--format=%s/%b", "main")).toBe(`Say it/Sluice-Job: ${job}\n`.trimEnd());
		expect(repo.git("ls-tree", "--name-only", "main").split("\n")).toEqual([".gitignore", ".worktreeinclude", "README.md", "told"]);
		await until(() => !existsSync(worktree(home, job)));
		const said = readFileSync(log, "utf8")
			.trim()
			.split("\n")
			.map((line) => line.split(" "));
		expect(said.map(([name, , attempt]) => `${name} ${attempt}`)).toEqual([
			"after_create 1",
			"before_run 1",
			"after_run 1",
			"before_run 2",
			"after_run 2",
			"before_remove 2",
		]);
		expect(said[0]?.slice(3)).toEqual([".env", ".git", ".gitignore", ".worktreeinclude", "README.md"]);
	});

	test("an included file is not written through a link of the branch, nor over a file of it", async () => {
		const repo = makeRepository({ "README.md": "hello\n", ".gitignore": ".env\nown\n", ".worktreeinclude": ".env\nown\n" });
		repo.write(".env", "KEY=1\n");
		repo.write("own", "of the checkout\n");
		const outside = join(makeFolder(), "outside");
		writeFileSync(outside, "untouched\n");
		const blob = (text: string) => execFileSync("git", ["hash-object", "-w", "--stdin"], { cwd: repo.path, input: text }).toString().trim();
		const tree = execFileSync("git", ["mktree"], {
			cwd: repo.path,
			input: `120000 blob ${blob(outside)}\t.env\n100644 blob ${blob("of the branch\n")}\town\n`,
		});
		repo.git("branch", "evil", repo.git("commit-tree", "-m", "evil", tree.toString().trim()));
		const { client } = await town(repo);
		const job = await add(client, "cat own; readlink .env", { base_branch: "evil", no_merge: true });
		expect(await ended(client, job)).toMatchObject({ status: "succeeded" });
		expect((await client.call("job.logs", { id: job })).text).toBe(`of the branch\n${outside}\n`);
		expect(readFileSync(outside, "utf8")).toBe("untouched\n");
	});

	test("a hook before the run that fails, or takes too long, keeps the run from starting; others go on", async () => {
		const repo = makeRepository();
		const { home, client } = await town(repo, {
			hooks: { before_run: ["/bin/sh", "-c", "case $SLUICE_JOB_ID in 1) echo broken >&2; exit 4;; 2) sleep 60;; esac"] },
			hook_timeout: "200ms",
		});
		await client.call("config.set", { key: "dispatch_breaker", value: 1 });
		const [one, two, three] = [await add(client, "touch ran"), await add(client, "touch ran"), await add(client, "true")];
		expect(await ended(client, one)).toMatchObject({ status: "failed", end_reason: "circuit-broken", exit_kind: "launch_failed" });
		expect(JSON.parse(readFileSync(join(home.path, "runs", String(one), "1", "outcome.json"), "utf8")).message).toBe(
			"hook before_run failed: exit code 4: broken",
		);
		await ended(client, two);
		expect(JSON.parse(readFileSync(join(home.path, "runs", String(two), "1", "outcome.json"), "utf8")).message).toBe(
			"hook before_run failed: it took longer than 200 ms",
		);
		expect((await ended(client, three)).status).toBe("succeeded");
		expect([existsSync(join(worktree(home, one), "ran")), existsSync(join(worktree(home, two), "ran"))]).toEqual([false, false]);
	});

	test("a failed job's worktree stays for a look, and prune saves what is not committed", async () => {
		const repo = makeRepository();
		const { home, client } = await town(repo);
		const job = await add(client, `${commitFile("done.txt", "committed")}; echo new > untracked; echo more >> README.md; exit 1`);
		await ended(client, job);
		const { patch } = await client.call("job.diff", { id: job });
		for (const line of ["+committed", "+new", "+more"]) expect(patch).toContain(line);
		// Several may look at the same time.
		const looks = await Promise.all(Array.from({ length: 5 }, () => client.call("job.diff", { id: job })));
		expect(looks.map((look) => look.patch === patch)).toEqual([true, true, true, true, true]);
		expect(readdirSync(dirname(worktree(home, job)))).toEqual([String(job), `${job}.json`]);
		const place = await client.call("job.open", { id: job });
		expect(place).toMatchObject({ path: worktree(home, job), there: true, base_branch: "main" });
		expect(await client.call("scheduler.prune", { dry_run: true })).toMatchObject({
			removed: [{ job, rescued: "a rescue ref" }],
			kept: [],
		});
		expect(existsSync(place.path)).toBe(true);
		const ref = `refs/sluice/rescue/${job}-1`;
		expect(await client.call("scheduler.prune", {})).toMatchObject({ removed: [{ job, rescued: ref }], kept: [] });
		expect([existsSync(place.path), repo.git("worktree", "list").split("\n").length]).toEqual([false, 1]);
		expect([repo.git("show", `${ref}:untracked`), repo.git("show", `${ref}:README.md`)]).toEqual(["new", "hello\nmore"]);
		expect(repo.branches()).toContain(place.branch);
		expect(repo.git("show", `${place.branch}:done.txt`)).toBe("committed");
		// Its patch is still in its run folder.
		expect(await client.call("job.diff", { id: job })).toMatchObject({ from: "run" });
	});

	test("a worktree in which somebody stands is left alone", async () => {
		const repo = makeRepository();
		const { home, client } = await town(repo);
		const job = await add(client, "exit 1");
		await ended(client, job);
		const guest = spawn("sleep", ["60"], { cwd: worktree(home, job) });
		onTestFinished(() => void guest.kill("SIGKILL"));
		await until(() => guest.pid);
		const report = await client.call("scheduler.prune", {});
		expect(report).toMatchObject({ removed: [], kept: [{ job, why: `a process works in it: ${guest.pid}` }] });
	});

	test("a rewound job begins anew, and what it had is on a rescue ref", async () => {
		const repo = makeRepository();
		const { home, client } = await town(repo);
		const job = await add(
			client,
			`[ -e left ] && exit 9; [ -n "$SLUICE_PRIOR_BRANCH" ] && exit 8; ${commitFile("first.txt", "1")}; touch left; [ "$SLUICE_ATTEMPT" = 2 ]`,
			{ commit: "never" },
		);
		expect(await ended(client, job)).toMatchObject({ status: "failed", exit_code: 1 });
		await client.call("job.retry", { id: job });
		await merged(client, job);
		expect(repo.git("ls-tree", "--name-only", `refs/sluice/rescue/${job}-1`).split("\n")).toEqual(["README.md", "first.txt", "left"]);
		// The second run left a file as well: it is not thrown away with the worktree.
		await until(() => !existsSync(worktree(home, job)));
		expect(repo.refs("refs/sluice/rescue")).toEqual([`refs/sluice/rescue/${job}-1`, `refs/sluice/rescue/${job}-2`]);
	});
});

describe("merging", () => {
	const worktree = (home: TestHome, job: number) => join(home.path, "worktrees", "r", String(job));

	test("twenty jobs on overlapping files: the base is always green, and each is there or a named conflict", async () => {
		const repo = makeRepository({ "list.txt": "start\n", "sum.txt": "0\n" });
		const seen = join(repo.path, "..", "seen");
		const verify = ["/bin/sh", "-c", `git rev-parse HEAD >> ${seen}; ! grep -q red *.txt`];
		const { client } = await town(repo, { verify });
		await client.call("config.set", { key: "max_concurrent", value: 8 });
		const script = (n: number) =>
			n % 5 === 4
				? commitFile("sum.txt", String(n))
				: n % 5 === 3
					? commitFile(`red-${n}.txt`, "red")
					: `mkdir -p many && echo ${n} > many/${n}.txt && git add many && git -c user.name=J -c user.email=j@x commit -qm 'job ${n}'`;
		const jobs = await Promise.all(Array.from({ length: 20 }, (_, n) => add(client, script(n))));
		const all = await Promise.all(jobs.map((id) => merged(client, id, ["merged", "conflict", "verify_failed"])));
		const outcome = (n: number) => all[n]?.merge_status;
		const sums = [4, 9, 14, 19].map(outcome);
		expect([sums.filter((one) => one === "merged").length, sums.filter((one) => one === "conflict").length]).toEqual([1, 3]);
		const conflict = all.find((job) => job.merge_status === "conflict");
		expect(conflict?.merge_report).toMatchObject({ files: ["sum.txt"], message: "sum.txt changed on both sides" });
		expect([3, 8, 13, 18].map(outcome)).toEqual(Array(4).fill("verify_failed"));
		expect(all[3]?.merge_report).toMatchObject({ files: ["red-3.txt"] });
		for (const n of [0, 1, 2, 5, 6, 7, 10, 11, 12, 15, 16, 17])
			expect([n, outcome(n), repo.read(`many/${n}.txt`)]).toEqual([n, "merged", `${n}\n`]);
		// Every commit that main ever pointed to had been verified before.
		const verified = new Set(readFileSync(seen, "utf8").trim().split("\n"));
		const moves = repo.git("reflog", "show", "--format=%H", "main").split("\n").slice(0, -1);
		expect(moves).toHaveLength(13);
		expect(moves.filter((commit) => !verified.has(commit))).toEqual([]);
		expect([repo.git("status", "--porcelain"), repo.git("rev-list", "--merges", "--count", "main")]).toEqual(["", "0"]);
		// Nothing is lost: what was not merged is on its branch.
		const kept = repo.branches().filter((name) => name.startsWith("sluice/"));
		await until(() => repo.branches().filter((name) => name.startsWith("sluice/")).length === 7 || kept.length);
		const artifacts = (await client.call("artifact.list", {})).artifacts.filter(({ artifact }) => artifact.startsWith("sentinel:"));
		expect(artifacts).toHaveLength(7);
		// They need a person, and the status says so.
		const unmerged = await until(async () => {
			const found = (await client.call("scheduler.status", {})).unmerged ?? [];
			return found.length === 7 ? found : undefined;
		});
		expect(unmerged.find(({ job }) => job === conflict?.id)).toMatchObject({
			merge_status: "conflict",
			message: "sum.txt changed on both sides",
		});
	});

	test("a dirty base waits and goes on when it is clean; what comes after the merge waits for it", async () => {
		const repo = makeRepository();
		const { home, client } = await town(repo);
		repo.write("README.md", "a person is writing\n");
		const job = await add(client, commitFile("a.txt", "a"));
		const later = await add(client, "test -e a.txt", { after: [`${job}:merged`] });
		const waits = await merged(client, job, ["base_dirty"]);
		expect(waits.merge_report?.message).toBe(`you have uncommitted changes on main in ${repo.path}`);
		expect([repo.read("README.md"), repo.has("a.txt")]).toEqual(["a person is writing\n", false]);
		// It holds every merge of the repo, and is told once.
		const other = await add(client, commitFile("b.txt", "b"));
		await merged(client, other, ["base_dirty"]);
		const unmerged = async () =>
			((await client.call("scheduler.status", {})).unmerged ?? []).map(({ job, merge_status, path }) => [job, merge_status, path]);
		expect(await unmerged()).toEqual([job, other].map((id) => [id, "base_dirty", repo.path]));
		const status = (await home.run(["status"])).out;
		expect(status.match(/^Needs you: .*/gm)).toEqual([
			expect.stringMatching(`^Needs you: job ${job} and 1 more not merged yet: you have uncommitted changes on main in ${repo.path}`),
		]);
		expect((await home.run(["list"])).err).toContain(`not merged, and needs you: job ${job}, job ${other}; sluice status says why`);
		expect((await home.run(["list", "--repo", "elsewhere"])).err).not.toContain("needs you");
		expect((await home.run(["why", String(job)])).out).toContain("→ commit or stash them: the merge goes on by itself");
		expect((await show(client, later)).wait_reason?.detail).toBe(`waiting on job ${job}`);
		repo.git("commit", "--quiet", "--all", "-m", "mine");
		await merged(client, job);
		await merged(client, other);
		expect(repo.git("log", "--format=%s", "main").split("\n").slice(0, 3).sort()).toEqual(["job: a.txt", "job: b.txt", "mine"]);
		expect([await unmerged(), (await home.run(["list"])).err]).toEqual([[], expect.not.stringContaining("needs you")]);
		expect((await ended(client, later)).status).toBe("succeeded");
	});

	test("work that a good run left uncommitted is not merged: it waits for a person, in sight, where it is", async () => {
		const repo = makeRepository({ "README.md": "hello\n", ".gitignore": "*.log\n" });
		const first = repo.head("main");
		const { home, child, client } = await town(repo);
		const sluice = async (...args: string[]) => (await home.run(args)).out;
		// One has committed nothing, one a part; files that git ignores do not count, and one that has changed nothing is merged as ever.
		const none = await add(client, "echo Z > zfile; echo more >> README.md", { name: "none" });
		const part = await add(client, `${commitFile("a.txt", "a")}; mkdir new; echo 1 > new/1`, { commit: "agent" });
		const idle = await add(client, "echo noise > x.log");
		const later = await add(client, "test -e zfile", { after: [`${none}:merged`] });
		const holding = async (id: number, asked = client) => {
			const job = await until(async () => {
				const found = await show(asked, id);
				return found.merge_report?.uncommitted || found.merge_status === "merged" ? found : undefined;
			});
			return [job.status, job.merge_status, job.merge_report?.message];
		};
		expect(await holding(none)).toEqual(["succeeded", "pending", "README.md, zfile are not committed"]);
		expect(await holding(part)).toEqual(["succeeded", "pending", "new/ is not committed"]);
		await merged(client, idle);
		await until(() => !existsSync(worktree(home, idle)));
		const path = worktree(home, none);
		expect(await show(client, none)).toMatchObject({ merge_report: { files: ["README.md", "zfile"], path } });
		expect([repo.head("main"), repo.refs("refs/sluice/rescue")]).toEqual([first, []]);
		expect((await show(client, later)).wait_reason?.detail).toBe(`waiting on job ${none}`);
		// Nor is the job forgotten: it would be out of sight with all of it.
		expect((await home.run(["gc", "--days", "0"])).err).toContain("kept, since their merge is open: 2");
		expect((await client.call("scheduler.prune", {})).kept.map(({ job, why }) => [job, why])).toEqual([
			[none, "its merge is open (pending)"],
			[part, "its merge is open (pending)"],
		]);
		expect(readFileSync(join(path, "zfile"), "utf8")).toBe("Z\n");
		const { unmerged = [] } = await client.call("scheduler.status", {});
		// In the order in which they ended.
		expect(new Map(unmerged.map(({ job, uncommitted }) => [job, uncommitted]))).toEqual(
			new Map([
				[none, true],
				[part, true],
			]),
		);
		expect(await sluice("status")).toContain(
			`Needs you: job ${none} (none) not merged: uncommitted work, README.md, zfile are not committed`,
		);
		expect(await sluice("why", "none")).toContain(
			`→ commit it in ${path}, then: sluice merge ${none}; or give it up: sluice merge ${none} --drop; next time add it with --commit auto\n`,
		);
		const auto = Number(await sluice("add", "--repo", "r", "--commit", "auto", "--", "touch", "whole"));
		await merged(client, auto);
		expect(repo.has("whole")).toBe(true);
		expect(await sluice("show", "none")).toContain("README.md, zfile are not committed");
		expect(await sluice("list", "--all")).toContain("not merged: uncommitted work");
		// The next daemon leaves it as it is, too, though the worktree is clean for a moment.
		new Repository(path).git("stash", "--quiet", "--include-untracked");
		await sluice("down");
		await home.gone(child);
		const next = await home.up();
		await until(async () => ((await next.client.call("scheduler.status", {})).unmerged ?? []).length === 2);
		expect(await holding(none, next.client)).toEqual(["succeeded", "pending", "README.md, zfile are not committed"]);
	});

	test("a merge that was refused is tried again by hand, without a run", async () => {
		const repo = makeRepository({ "sum.txt": "0\n" });
		const { home, client } = await town(repo, { verify: ["/bin/sh", "-c", "! grep -q red *.txt"] });
		const go = join(repo.path, "..", "go");
		const left = await add(client, "echo Z > zfile");
		const torn = await add(client, `while [ ! -e ${go} ]; do sleep 0.02; done; ${commitFile("sum.txt", "mine")}`);
		const red = await add(client, commitFile("red.txt", "red"));
		await until(() => existsSync(worktree(home, torn)));
		await merged(client, red, ["verify_failed"]);
		repo.commit({ "sum.txt": "theirs\n" });
		writeFileSync(go, "");
		await merged(client, torn, ["conflict"]);
		await until(async () => (await show(client, left)).merge_report?.uncommitted);
		const again = async (id: number) => {
			const why = (await home.run(["why", String(id)])).out;
			expect(why).toContain(`then: sluice merge ${id}; or give it up: sluice merge ${id} --drop`);
			const said = await home.run(["merge", String(id)]);
			expect(said).toMatchObject({ code: 0, err: expect.stringContaining("is in line to be merged") });
		};
		const at = (id: number) => new Repository(worktree(home, id));
		// Nothing is mended yet: it says the same once more.
		await again(left);
		await until(async () => (await show(client, left)).merge_report?.uncommitted);
		at(left).commit({});
		at(red).commit({ "red.txt": "green\n" });
		expect(() => at(torn).git("-c", "user.name=J", "-c", "user.email=j@x", "rebase", "--quiet", "main")).toThrow();
		await again(torn);
		expect((await until(async () => (await show(client, torn)).merge_report))?.message).toMatch(
			/perhaps in the middle of a rebase, not on/,
		);
		at(torn).write("sum.txt", "both\n");
		at(torn).git("add", "sum.txt");
		at(torn).git("-c", "user.name=J", "-c", "user.email=j@x", "-c", "core.editor=true", "rebase", "--continue");
		for (const id of [left, red, torn]) {
			await again(id);
			expect(await merged(client, id)).toMatchObject({ status: "succeeded", attempt: 1 });
			await until(() => !existsSync(worktree(home, id)));
		}
		expect([repo.read("zfile"), repo.read("red.txt"), repo.read("sum.txt")]).toEqual(["Z\n", "green\n", "both\n"]);
		expect((await client.call("scheduler.status", {})).unmerged).toEqual([]);
		const { artifacts } = await client.call("artifact.list", {});
		expect(artifacts.filter(({ artifact, present }) => artifact.startsWith("sentinel:") && present)).toEqual([]);
		expect(await home.run(["merge", String(red)])).toMatchObject({ code: 4, err: expect.stringContaining("is merged already") });
	});

	test("a merge is given up: nobody is needed, its branch stays, what waits for it is blocked; or it is merged after all", async () => {
		const repo = makeRepository();
		const { home, client } = await town(repo, { verify: ["/bin/sh", "-c", "! grep -q red *.txt"] });
		repo.commit({ "plain.txt": "plain\n" });
		const red = await add(client, commitFile("red.txt", "red"), { name: "red" });
		const later = await add(client, "true", { after: ["red:merged"] });
		await merged(client, red, ["verify_failed"]);
		await until(async () => (await client.call("scheduler.status", {})).unmerged?.length === 1);
		const said = await home.run(["merge", "red", "--drop", "--reason", "done otherwise"]);
		expect(said).toMatchObject({ code: 0, err: `job ${red} (red) is not merged; its branch stays\n` });
		const { branch } = await client.call("job.open", { id: red });
		expect(await show(client, red)).toMatchObject({
			status: "succeeded",
			merge_status: "kept",
			merge_report: { given_up: true, message: `given up by ann: done otherwise; its work stays on ${branch}` },
		});
		expect(await ended(client, later)).toMatchObject({ status: "blocked_by_dependency" });
		expect((await home.run(["why", String(later)])).out).toContain(`the merge of job ${red} (red) was given up`);
		expect((await client.call("scheduler.status", {})).unmerged).toEqual([]);
		expect((await home.run(["list", "--all"])).out).toContain("merge given up");
		await until(async () =>
			(await client.call("artifact.list", {})).artifacts.every(({ artifact, present }) => !artifact.startsWith("sentinel:") || !present),
		);
		// On second thoughts: it is mended and merged, and what was blocked goes on.
		const at = new Repository(worktree(home, red));
		at.commit({ "red.txt": "green\n" });
		await client.call("job.merge", { id: red });
		await merged(client, red);
		await client.call("job.retry", { id: later });
		expect((await ended(client, later)).status).toBe("succeeded");
		// Given up for good, its worktree goes when that is asked for, and its branch stays.
		const other = await add(client, commitFile("red2.txt", "red"));
		await merged(client, other, ["verify_failed"]);
		await client.call("job.merge", { id: other, drop: true });
		const place = await client.call("job.open", { id: other });
		await until(async () => (await client.call("scheduler.prune", {})).removed.some(({ job }) => job === other));
		expect(repo.git("show", `${place.branch}:red2.txt`)).toBe("red");
		await expect(client.call("job.merge", { id: other })).rejects.toMatchObject({
			message: `the worktree of job ${other} is gone: there is nothing to merge from`,
		});
	});

	test("a merge that is given up while verify runs does not move the base", async () => {
		const repo = makeRepository();
		const [begun, go] = [join(repo.path, "..", "begun"), join(repo.path, "..", "go")];
		const { client } = await town(repo, { verify: ["/bin/sh", "-c", `touch ${begun}; while [ ! -e ${go} ]; do sleep 0.02; done`] });
		const head = repo.head("main");
		const job = await add(client, commitFile("a.txt", "a"));
		await until(() => existsSync(begun));
		await client.call("job.merge", { id: job, drop: true });
		rmSync(begun);
		const next = await add(client, "true", { commit: "auto", after: [job] });
		writeFileSync(go, "");
		// One at a time: when the next one is through, the first is over.
		const after = await add(client, commitFile("b.txt", "b"), { after: [next] });
		await merged(client, after);
		expect((await show(client, job)).merge_status).toBe("kept");
		expect([repo.has("a.txt"), repo.has("b.txt"), repo.git("rev-parse", "main^")]).toEqual([false, true, head]);
	});

	test("what a job says is no part of its work stays out of the merge, which names the ref that has it", async () => {
		const repo = makeRepository();
		const { home, client } = await town(repo);
		const job = await add(client, `${commitFile("a.txt", "a")}; echo junk > junk`, { commit: "never" });
		const ref = `refs/sluice/rescue/${job}-1`;
		expect((await merged(client, job)).merge_report).toEqual({
			commit: repo.head("main"),
			target: "main",
			message: `what was not committed is kept on ${ref}`,
		});
		await until(() => !existsSync(worktree(home, job)));
		expect([repo.has("a.txt"), repo.has("junk"), repo.git("show", `${ref}:junk`), repo.refs("refs/sluice/rescue")]).toEqual([
			true,
			false,
			"junk",
			[ref],
		]);
	});

	test("what a job makes on the base is there for the next one only after the merge", async () => {
		const repo = makeRepository();
		const { client } = await town(repo, { verify: ["test", "-e", "plan.md"] });
		const plan = await add(client, commitFile("plan.md", "the plan"), { produces: ["doc:main:plan.md"] });
		const code = await add(client, "cat plan.md", { needs: ["doc:main:plan.md"] });
		expect((await show(client, code)).wait_reason?.detail).toBe("waiting on doc:main:plan.md");
		expect((await ended(client, code)).status).toBe("succeeded");
		expect((await show(client, plan)).merge_status).toBe("merged");
		expect((await client.call("job.logs", { id: code })).text).toBe("the plan\n");
	});

	test("a file that a job makes counts once it is on the base; of a job that does not merge, once it is in its worktree", async () => {
		const repo = makeRepository();
		const go = join(repo.path, "..", "go");
		const { client, home } = await town(repo, { verify: ["test", "!", "-e", "bad.md"] });
		const waiting = `while [ ! -e ${go} ]; do sleep 0.02; done`;
		const plan = await add(client, `${commitFile("plan.md", "the plan")}; ${waiting}`, { produces: ["file:plan.md"] });
		const reader = await add(client, "cat plan.md", { needs: ["file:plan.md"] });
		const notes = await add(client, `${waiting}; echo notes > notes.md`, { produces: ["file:notes.md"], no_merge: true });
		const writer = await add(client, 'cat "$SLUICE_WORKTREE/../$MAKER/notes.md"', {
			needs: ["file:notes.md"],
			env: { MAKER: String(notes) },
		});
		const bad = await add(client, commitFile("bad.md", "red"), { produces: ["file:bad.md"] });
		const never = await add(client, "true", { needs: ["file:bad.md"] });
		// It is there, in a worktree whose work is still to be merged: nobody who begins from the base would see it.
		await until(() => existsSync(join(home.path, "worktrees", "r", String(plan), "plan.md")));
		expect((await show(client, reader)).wait_reason?.detail).toBe("waiting on file:plan.md");
		writeFileSync(go, "");
		expect((await ended(client, reader)).status).toBe("succeeded");
		expect((await show(client, plan)).merge_status).toBe("merged");
		expect((await client.call("job.logs", { id: reader })).text).toBe("the plan\n");
		expect((await ended(client, writer)).status).toBe("succeeded");
		expect((await client.call("job.logs", { id: writer })).text).toBe("notes\n");
		await merged(client, bad, ["verify_failed"]);
		expect((await show(client, never)).wait_reason?.detail).toBe("probing file:bad.md");
	});

	test("a base that is checked out nowhere moves by its ref; one that is left local stays; a request is pushed", async () => {
		const repo = makeRepository();
		const remote = makeRepository();
		repo.git("remote", "add", "origin", remote.path);
		repo.git("branch", "release");
		const proof = join(repo.path, "..", "proof");
		const { client } = await town(repo, {
			merge_command: ["/bin/sh", "-c", `echo "$SLUICE_BRANCH into $SLUICE_BASE_BRANCH: $SLUICE_TITLE" > ${proof}`],
		});
		const one = await add(client, commitFile("one.txt", "1"), { base_branch: "release" });
		await merged(client, one);
		expect([repo.git("show", "release:one.txt"), repo.has("one.txt")]).toEqual(["1", false]);
		const two = await add(client, commitFile("two.txt", "2"), { merge: "local" });
		expect(await ended(client, two)).toMatchObject({ status: "succeeded", merge_status: "kept" });
		const three = await add(client, commitFile("three.txt", "3"), { merge: "mr", title: "Please" });
		await merged(client, three, ["requested"]);
		const { branch } = await client.call("job.open", { id: three });
		expect([remote.git("show", `${branch}:three.txt`), readFileSync(proof, "utf8")]).toEqual(["3", `${branch} into main: Please\n`]);
		expect(repo.branches().filter((name) => name.startsWith("sluice/"))).toHaveLength(2);
	});

	test("a repo's own way counts for jobs that do not say; after: merged of what is never merged is refused", async () => {
		const [repo, work] = [makeRepository(), makeFolder()];
		repo.git("branch", "release");
		const home = new TestHome();
		home.make(settingsFor({ r: { path: repo.path, merge: "local" }, label: {} }));
		const { client } = await home.up({ GIT_CONFIG_NOSYSTEM: "1" });
		const adding = async (...args: string[]) => {
			const said = await home.run(["add", "--repo", "r", ...args], { cwd: work });
			if (said.code !== 0) throw new Error(said.err);
			return Number(said.out);
		};
		const sh = (script: string) => ["--", "/bin/sh", "-c", script];
		const kept = await adding(...sh(commitFile("kept.txt", "kept")));
		const moved = await adding("--merge", "direct", "--base-branch", "release", ...sh(commitFile("moved.txt", "moved")));
		const loose = await adding("--no-merge", ...sh(commitFile("loose.txt", "loose")));
		expect((await ended(client, kept)).merge_status).toBe("kept");
		expect((await ended(client, loose)).merge_status).toBe(null);
		await merged(client, moved);
		expect([repo.git("show", "release:moved.txt"), repo.git("log", "--format=%s", "main")]).toEqual(["moved", "first"]);
		for (const job of [kept, loose]) await expect(adding("--after", `${job}:merged`, "--", "true")).rejects.toThrow(`job ${job}`);
		const label = await add(client, "true", { repo: "label", cwd: work });
		expect((await ended(client, label)).merge_status).toBe(null);
		await expect(adding("--after", `${label}:merged`, "--", "true")).rejects.toThrow(`job ${label}`);
	});

	test("a conflict goes back to the job, which is told, solves it and is merged", async () => {
		const repo = makeRepository({ "sum.txt": "0\n" });
		const { client } = await town(repo, { on_conflict: "follow_up" });
		const script = `if [ -z "$SLUICE_MERGE_STATUS" ]; then
			touch ${repo.path}/../begun; while [ ! -e ${repo.path}/../go ]; do sleep 0.01; done; ${commitFile("sum.txt", "mine")}
		else
			git -c user.name=J -c user.email=j@x merge -q main || true; printf '%s\\n' "both, after $SLUICE_MERGE_STATUS in $SLUICE_MERGE_FILES" > sum.txt
			git add sum.txt; git -c user.name=J -c user.email=j@x commit -qm solved
		fi`;
		const job = await add(client, script);
		await until(() => existsSync(join(repo.path, "..", "begun")));
		repo.commit({ "sum.txt": "theirs\n" });
		writeFileSync(join(repo.path, "..", "go"), "");
		await merged(client, job);
		expect(repo.read("sum.txt")).toBe("both, after conflict in sum.txt\n");
		expect(await show(client, job)).toMatchObject({ attempt: 2, status: "succeeded" });
		await until(async () =>
			(await client.call("artifact.list", {})).artifacts.every(({ artifact, present }) => !artifact.startsWith("sentinel:") || !present),
		);
	});
});

describe("odd repositories: a named error on that job, and all others go on", () => {
	const messageOf = (home: TestHome, job: number): string =>
		JSON.parse(readFileSync(join(home.path, "runs", String(job), "1", "outcome.json"), "utf8")).message;

	test("a base that is not there is the fault of the jobs that name it: no other job of the repo waits", async () => {
		const { client } = await town(makeRepository());
		const bad = await Promise.all([1, 2, 3].map(() => add(client, "true", { base_branch: "nowhere", force: true })));
		for (const id of bad) await until(async () => (await show(client, id)).dispatch_failures === 1);
		expect((await client.call("scheduler.status", {})).holds).toEqual([]);
		expect(await ended(client, await add(client, "true", { no_merge: true }))).toMatchObject({ status: "succeeded" });
	});

	test("a detached head, a vanished folder, a missing base, a branch named like an option", async () => {
		const [good, detached, gone] = [makeRepository(), makeRepository(), makeRepository()];
		detached.git("checkout", "--quiet", "--detach");
		const home = new TestHome();
		const repos = { r: { path: good.path }, detached: { path: detached.path }, gone: { path: gone.path } };
		home.make(settingsFor(repos, "dispatch_breaker: 1\nenvironment_breaker: {failures: 0}"));
		const { client } = await home.up();
		rmSync(gone.path, { recursive: true });
		const jobs = await Promise.all([
			add(client, "true", { repo: "detached" }),
			add(client, "true", { repo: "gone" }),
			add(client, "true", { base_branch: "nowhere", force: true }),
			add(client, commitFile("fine.txt", "fine")),
		]);
		const [one = 0, two = 0, three = 0, four = 0] = jobs;
		expect((await Promise.all(jobs.map((id) => ended(client, id)))).map(({ status }) => status)).toEqual([
			"failed",
			"failed",
			"failed",
			"succeeded",
		]);
		expect(messageOf(home, one)).toBe(
			"no worktree in repo detached: HEAD of repo detached is detached, so there is no base to begin from; set repos.detached.base_branch",
		);
		expect(messageOf(home, two)).toBe(`no worktree in repo gone: ${gone.path} is not there`);
		expect(messageOf(home, three)).toBe('no worktree in repo r: repo r has no branch "nowhere" to begin from');
		await merged(client, four);
		await expect(add(client, "true", { base_branch: "--upload-pack=touch" })).rejects.toMatchObject({
			message: 'base_branch: the branch name "--upload-pack=touch" looks like an option',
		});
		const needs = await client.call("job.add", { command: ["true"], repo: "gone", needs: ["branch:x"], on_missing: "wait" });
		const waiting = (needs as { job: { id: number } }).job.id;
		expect((await show(client, waiting)).wait_reason?.detail).toBe(`cannot probe branch:x: ${gone.path} is not there`);
		const { repos: listed } = await client.call("repo.list", {});
		expect(listed.map(({ name, problem }) => [name, problem])).toEqual([
			["r", null],
			["detached", "HEAD is detached, and no base_branch is set"],
			["gone", `${gone.path} is not there`],
		]);
	});

	test("a shallow clone, a repository that is itself a worktree, and a bare one", async () => {
		const origin = makeRepository();
		origin.commit({ "b.txt": "b\n" });
		origin.commit({ "c.txt": "c\n" });
		const shallow = new Repository(join(origin.path, "..", "shallow"));
		origin.git("clone", "--quiet", "--depth=1", `file://${origin.path}`, shallow.path);
		const linked = new Repository(join(origin.path, "..", "linked"));
		origin.git("worktree", "add", "--quiet", "-b", "side", linked.path);
		const bare = new Repository(join(origin.path, "..", "bare.git"));
		origin.git("clone", "--quiet", "--bare", origin.path, bare.path);
		const home = new TestHome();
		home.make(
			settingsFor({ shallow: { path: shallow.path }, linked: { path: linked.path }, bare: { path: bare.path, base_branch: "main" } }),
		);
		const { client } = await home.up();
		const jobs = await Promise.all(["shallow", "linked", "bare"].map((repo) => add(client, commitFile("new.txt", repo), { repo })));
		for (const job of jobs) await merged(client, job);
		expect([shallow.read("new.txt"), linked.read("new.txt"), bare.git("show", "main:new.txt")]).toEqual(["shallow\n", "linked\n", "bare"]);
		expect([origin.has("new.txt"), origin.git("show", "side:new.txt")]).toEqual([false, "linked"]);
	});

	test("repos are added, trusted and removed from the command line; their own file counts only then", async () => {
		const repo = makeRepository();
		const home = new TestHome();
		home.make();
		const proof = join(repo.path, "..", "proof");
		repo.commit({ "sluice.yml": `hooks: {before_run: [touch, ${proof}]}\n` });
		const sluice = async (...args: string[]) => {
			const said = await home.run(args, { cwd: repo.path });
			if (said.code !== 0) throw new Error(said.err);
			return said.out + said.err;
		};
		expect(await sluice("repo", "add", "--name", "app", "--prefix", "ap-")).toContain(`repo app at ${repo.path}, base main`);
		const first = JSON.parse(await sluice("add", "--json", "--repo", "app", "--", "true")).job.id;
		await sluice("wait", String(first));
		expect(existsSync(proof)).toBe(false);
		expect(await sluice("repo", "trust", "app")).toContain("its sluice.yml counts");
		const second = JSON.parse(await sluice("add", "--json", "--repo", "app", "--", "true")).job.id;
		await sluice("wait", String(second));
		expect(existsSync(proof)).toBe(true);
		// Its cap and prefix, too: over those of the home, from the moment it is trusted until it is changed.
		const own = async () => /max +(\S+)/.exec(await sluice("repo", "show", "app"))?.[1];
		repo.commit({ "sluice.yml": "max: 3\nprefix: own-\n" });
		await sluice("repo", "trust", "app");
		expect([await own(), await sluice("repo", "show", "app")]).toEqual(["3", expect.stringMatching(/prefix +own-/)]);
		expect((await home.run(["add", "--repo", "app", "--item", "ap-1", "--", "true"])).err).toContain('does not begin with "own-"');
		repo.commit({ "sluice.yml": "hooks: {before_run: [touch, /elsewhere]}\n" });
		expect(await sluice("repo", "list")).toContain("changed");
		await until(async () => (await home.run(["add", "--repo", "app", "--item", "own-1", "--", "true"])).err.includes('"ap-"'));
		expect(await sluice("repo", "show", "app")).toMatch(/prefix +ap-/);
		expect(await sluice("repo", "remove", "app")).toContain("no longer registered");
		expect(await sluice("repo", "list")).toContain("no repos");
		expect((await home.run(["repo", "add", "/nonexistent"])).err).toContain("/nonexistent is not a git repository");
		await sluice("down");
	});
});

describe("killed with SIGKILL", () => {
	test.each(some(WORK_STEPS, 3))("at %s: the next daemon goes on, and nothing is lost or done twice", async (step) => {
		const repo = makeRepository();
		const { home, child, client } = await town(repo, { verify: ["test", "-e", "a.txt"] }, { SLUICE_CHAOS_STEP: step });
		// Not committed: what is found on the rescue ref afterwards.
		await add(client, `echo ran >> ../../../ran; ${commitFile("a.txt", "work")}; echo left > left`, { commit: "never" }).catch(() => {});
		await home.gone(child);
		const next = await home.up();
		const job = await merged(next.client, 1);
		expect(job).toMatchObject({ status: "succeeded", attempt: 1 });
		await until(() => !existsSync(join(home.path, "worktrees", "r", "1")) && !existsSync(join(home.path, "worktrees", "r", "1.json")));
		expect(readFileSync(join(home.path, "ran"), "utf8")).toBe("ran\n");
		expect(repo.git("log", "--format=%s", "main").split("\n")).toEqual(["job: a.txt", "first"]);
		expect([repo.git("status", "--porcelain"), repo.branches()]).toEqual(["", ["main"]]);
		expect(repo.refs("refs/sluice/rescue")).toEqual(["refs/sluice/rescue/1-1"]);
		expect(repo.git("show", "refs/sluice/rescue/1-1:left")).toBe("left");
		expect(repo.git("worktree", "list", "--porcelain").match(/^locked|^prunable/gm)).toBeNull();
	});
});
