// 002 with a real daemon and real processes: a pipeline whose middle fails, its graph, its retry with the report, a subtree that is cancelled, and what gc keeps;
// then the same pipeline on a real repository, with every kind of artifact.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeFolder } from "../make/folder.ts";
import { makeRepository } from "../make/repository.ts";

const fixture = (name: string) => readFileSync(join(import.meta.dirname, "../fixtures/graph", name), "utf8");
/** A shell's wait for a file: the test decides when. */
const awaiting = (path: string) => `while [ ! -e ${path} ]; do sleep 0.02; done`;

class Walk {
	readonly home = new TestHome();
	readonly folder = makeFolder();
	client!: Client;

	async up(more: Record<string, unknown> = {}): Promise<this> {
		this.home.make(JSON.stringify({ preset: "dag", ...more }));
		this.client = (await this.home.up({ GIT_CONFIG_NOSYSTEM: "1" })).client;
		return this;
	}
	path = (name: string) => join(this.folder, name);
	give = (name: string) => writeFileSync(this.path(name), "");
	sluice = (...args: string[]) => this.home.run(args, { cwd: this.folder });
	status = async (id: number | string) => (await this.client.call("job.show", { id })).job.status;
	is = (id: number | string, status: string) => until(async () => (await this.status(id)) === status);
	ended = (...ids: (number | string)[]) => this.client.call("job.wait", { ids });
	runs = (job: number) =>
		existsSync(join(this.home.path, "runs", String(job))) ? readdirSync(join(this.home.path, "runs", String(job))).sort() : [];
	files = (run: string) => {
		const dir = join(this.home.path, "runs", ...run.split("."));
		return Object.fromEntries(readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), "utf8")]));
	};

	/** materialize → approve → review → merge; review finds the plan by its artifact, and fails until it is fixed. */
	async pipeline(): Promise<void> {
		writeFileSync(
			this.path("build.yml"),
			`batch: build
jobs:
  materialize: {command: ["true"]}
  approve:
    command: [/bin/sh, -c, "${awaiting(this.path("approved"))}"]
    after: [materialize]
    produces: ["custom:plan:foo"]
  review:
    command: [/bin/sh, -c, "echo reviewing; test -e ${this.path("fixed")}"]
    after: [approve]
    needs: ["custom:plan:foo"]
    base_branch: main
  merge:
    command: [/bin/sh, -c, "echo merged"]
    after: [review]
    locks: ["branch:main"]
  docs: {command: ["true"], after: [materialize]}
`,
		);
		expect((await this.sluice("apply", "build.yml")).code).toBe(0);
	}
}

describe("002, walked through", () => {
	test("the graph at each stage, a failed middle, its retry, and nothing of the first attempt changed", async () => {
		const walk = await new Walk().up();
		await walk.pipeline();
		await walk.is("approve", "running");
		await walk.ended("docs");
		expect((await walk.sluice("graph")).out).toBe(fixture("002-approving.dag.txt"));

		expect((await walk.sluice("artifact", "mark", "custom:plan:foo")).code).toBe(0);
		walk.give("approved");
		await walk.ended("merge");
		expect((await walk.sluice("graph")).out).toBe(fixture("002-blocked.dag.txt"));
		expect((await walk.sluice("graph", "--all", "--max-depth", "1")).out).toBe(fixture("002-all.dag.txt"));
		const { schema_version, ...document } = JSON.parse((await walk.sluice("graph", "--json")).out);
		expect([schema_version, document]).toEqual([1, JSON.parse(fixture("002-blocked.json"))]);
		const failed = await walk.client.call("job.show", { id: "review" });
		expect(failed.job).toMatchObject({ status: "failed", exit_code: 1, attempt: 1 });
		expect(await walk.client.call("job.show", { id: "merge" })).toMatchObject({
			job: { status: "blocked_by_dependency", exit_code: null, end_reason: "dependency failed for job 3 (failed)" },
		});
		const first = walk.files("3.1");
		expect(JSON.parse(first["outcome.json"] as string)).toMatchObject({ exit_code: 1 });
		expect([first["stdout.log"], first["stderr.log"]]).toEqual(["reviewing\n", ""]);

		walk.give("fixed");
		const retry = await walk.sluice("retry", "review");
		expect([retry.code, retry.err]).toEqual([0, expect.stringMatching(/^reset: 3, 4\n(?:goes on from: 3\n)?last successful point: 2\n$/)]);
		await walk.ended("merge");
		for (const name of ["materialize", "approve", "review", "merge", "docs"])
			expect([name, await walk.status(name)]).toEqual([name, "succeeded"]);
		// Attempts are folders of their own: the first is as it was, predecessors have not run again.
		expect([1, 2, 3, 4].map((job) => walk.runs(job))).toEqual([["1"], ["1"], ["1", "2"], ["1"]]);
		expect(walk.files("3.1")).toEqual(first);
		expect((await walk.client.call("job.show", { id: "review" })).job).toMatchObject({
			attempt: 2,
			exit_code: 0,
			failures: 0,
			wait_reason: null,
		});
		expect((await walk.sluice("logs", "review", "--run", "1")).out).toBe("reviewing\n");
		expect((await walk.sluice("graph")).out).toBe("Outcome: No scheduled jobs\n");
	});

	test("a retry is refused while anything behind it runs, naming it; and takes its markers away", async () => {
		const walk = await new Walk().up();
		await walk.pipeline();
		await walk.is("approve", "running");
		const refused = await walk.sluice("retry", "materialize");
		expect([refused.code, refused.err]).toEqual([4, expect.stringContaining("cannot rewind job 1: 2 is running")]);
		await walk.sluice("artifact", "mark", "custom:plan:foo");
		walk.give("approved");
		walk.give("fixed");
		await walk.ended("merge");
		const report = JSON.parse((await walk.sluice("retry", "approve", "--json")).out);
		expect(report).toMatchObject({ reset: [2, 3, 4], last_successful: [1] });
		// What approve makes is in doubt again: review was reset, and nobody has set the marker anew.
		await walk.ended("review");
		expect(await walk.status("review")).toBe("blocked_by_dependency");
		expect((await walk.client.call("artifact.list", {})).artifacts.filter(({ present }) => present)).toEqual([]);
	});

	test("cancel --subtree ends everything behind a job, the running one with 143, and leaves the rest", async () => {
		const walk = await new Walk().up();
		await walk.pipeline();
		await walk.is("approve", "running");
		const cancelled = JSON.parse((await walk.sluice("cancel", "approve", "--subtree", "--reason", "wrong plan", "--json")).out);
		expect(cancelled).toMatchObject({ requested: [2], cancelled: [3, 4] });
		await walk.ended("approve", "docs");
		expect((await walk.client.call("job.show", { id: "approve" })).job).toMatchObject({ status: "cancelled", exit_code: 143 });
		expect([await walk.status("review"), await walk.status("merge"), await walk.status("docs")]).toEqual([
			"cancelled",
			"cancelled",
			"succeeded",
		]);
	});

	test("gc deletes jobs with their runs and logs, and never one that an active job refers to", async () => {
		const walk = await new Walk().up();
		await walk.pipeline();
		await walk.is("approve", "running");
		await walk.ended("docs");
		await walk.sluice("artifact", "mark", "custom:plan:foo");
		// approve, review and merge are active: materialize is still referred to, docs is not.
		expect(JSON.parse((await walk.sluice("gc", "--days", "0", "--json")).out)).toEqual({ schema_version: 1, deleted: 1, kept: 1 });
		expect([1, 5].map((job) => walk.runs(job))).toEqual([["1"], []]);
		expect((await walk.sluice("logs", "5")).code).toBe(3);
		walk.give("fixed");
		walk.give("approved");
		await walk.ended("merge");
		expect(await walk.status("merge")).toBe("succeeded");
		expect(JSON.parse((await walk.sluice("gc", "--days", "7", "--json")).out)).toMatchObject({ deleted: 0 });
		expect(walk.runs(4)).toEqual(["1"]);
		expect(JSON.parse((await walk.sluice("gc", "--days", "0", "--json")).out)).toMatchObject({ deleted: 4, kept: 0 });
		expect(readdirSync(join(walk.home.path, "runs")).filter((name) => /^\d+$/.test(name))).toEqual([]);
		expect((await walk.sluice("show", "merge")).code).toBe(3);
	});
});

describe("002 on a real repository", { timeout: 120_000 }, () => {
	/** A commit as a job makes it. */
	const commit = (file: string, text: string) =>
		`mkdir -p "$(dirname ${file})" && echo ${text} > ${file} && git add ${file} && git -c user.name=J -c user.email=j@x commit -qm ${file}`;

	test("approve → review → merge: each kind of artifact, a pinned head, locks, a failed middle, a merge in progress, a sentinel", async () => {
		const repo = makeRepository({ "README.md": "hello\n" });
		const walk = await new Walk().up();
		const { path } = walk;
		await walk.client.call("config.set", { key: "repos.r.path", value: repo.path });
		await walk.client.call("config.set", { key: "probes.tests", value: { command: ["test", "-e", path("tested")] } });
		const pinned = repo.head();
		const apply = async (jobs: Record<string, unknown>) => {
			writeFileSync(path("build.yml"), JSON.stringify({ batch: "build", defaults: { repo: "r" }, jobs }));
			expect(await walk.sluice("apply", "build.yml")).toMatchObject({ code: 0 });
		};
		// Somebody moves main between the plan and its approval.
		repo.commit({ "README.md": "moved\n" });
		await apply({
			materialize: {
				command: ["/bin/sh", "-c", commit("docs/plan.md", "plan")],
				worktree: "draft/foo",
				no_merge: true,
				produces: ["branch:draft/foo", "doc:draft/foo:docs/plan.md", "commits:draft/foo"],
			},
			docs: { command: ["/bin/sh", "-c", awaiting(path("documented"))], locks: ["docs"], no_merge: true },
			approve: {
				command: ["/bin/sh", "-c", `${commit("code.txt", "code")} && echo approved > notes.md`],
				worktree: "draft/foo",
				no_merge: true,
				needs: ["branch:draft/foo", "doc:draft/foo:docs/plan.md", "commits:draft/foo"],
				pinned_head: { branch: "main", commit: pinned },
				locks: ["docs"],
				produces: ["ahead:draft/foo", "file:notes.md"],
			},
		});
		// The number of its producer is known only now.
		const producer = (await walk.client.call("job.show", { id: "approve" })).job.id;
		await apply({
			review: {
				command: ["/bin/sh", "-c", `echo reviewing; test -e ${path("fixed")}`],
				worktree: "draft/foo",
				no_merge: true,
				needs: ["ahead:draft/foo", "file:notes.md", `patch:${producer}`, `job:${producer}`],
				produces: ["custom:review:foo"],
			},
			merge: {
				command: ["true"],
				worktree: "draft/foo",
				after: ["review"],
				needs: ["custom:review:foo", "probe:tests"],
				produces: ["doc:main:docs/plan.md"],
				on_missing: "wait",
			},
			tell: {
				command: ["true"],
				after: [{ job: "merge", policy: "merged" }],
				needs: ["branch:main", "doc:main:docs/plan.md"],
				no_merge: true,
			},
		});
		const shown = async (...args: string[]) => (await walk.sluice("graph", ...args)).out.replaceAll(pinned, "<pinned>");
		/** Facts are looked at in their own time: the drawing is as it should be soon. */
		const drawn = async (name: string, ...args: string[]) => {
			for (let tries = 0; tries < 20 && (await shown(...args)) !== fixture(name); tries++);
			expect(await shown(...args)).toBe(fixture(name));
		};
		await walk.ended("materialize");
		await until(async () => (await walk.client.call("job.show", { id: "approve" })).job.wait_reason?.kind === "pinned_head");
		await drawn("002-repo-moved.dag.txt");

		// It comes back; now only the lock is in the way.
		repo.git("reset", "--quiet", "--hard", pinned);
		await walk.is("approve", "waiting_on_locks");
		await drawn("002-repo-locked.dag.txt", "--job", "approve", "--max-depth", "1");
		walk.give("documented");
		await walk.ended("approve", "review");
		expect(await walk.status("review")).toBe("failed");
		expect((await walk.client.call("job.show", { id: "merge" })).job).toMatchObject({
			status: "blocked_by_dependency",
			end_reason: "dependency failed for job 4 (failed)",
		});
		await drawn("002-repo-failed.dag.txt", "--all");
		const { nodes, edges } = JSON.parse((await walk.sluice("graph", "--job", "review", "--json")).out.replaceAll(walk.folder, "<folder>"));
		expect({ nodes, edges }).toEqual(JSON.parse(fixture("002-repo-review.json")));

		// Git is in the middle of something: nothing is rewound, and the way out is said.
		repo.git("checkout", "--quiet", "-b", "other");
		repo.commit({ "README.md": "theirs\n" });
		repo.git("checkout", "--quiet", "main");
		repo.commit({ "README.md": "ours\n" });
		expect(() => repo.git("merge", "other")).toThrow();
		const refused = await walk.sluice("retry", "review");
		expect([refused.code, refused.err]).toEqual([4, expect.stringContaining("repo r is in the middle of a merge")]);
		expect(refused.err).toMatch(/finish|abort/);
		expect(await walk.status("review")).toBe("failed");
		repo.git("merge", "--abort");
		repo.git("reset", "--quiet", "--hard", pinned);

		walk.give("fixed");
		const report = JSON.parse((await walk.sluice("retry", "review", "--json")).out);
		expect(report).toMatchObject({ reset: [4, 5, 6], last_successful: [3] });
		await walk.ended("review");
		expect((await walk.client.call("job.show", { id: "review" })).job).toMatchObject({ status: "succeeded", attempt: 2 });
		await until(async () => (await walk.client.call("job.show", { id: "merge" })).job.wait_reason?.detail.includes("custom:review:foo"));
		await walk.sluice("artifact", "set", "custom:review:foo");
		await until(async () => (await walk.client.call("job.show", { id: "merge" })).job.wait_reason?.detail.includes("probe:tests"));
		walk.give("tested");
		await walk.ended("tell");
		expect(await walk.status("tell")).toBe("succeeded");
		expect([repo.read("docs/plan.md"), repo.read("code.txt"), repo.has("notes.md")]).toEqual(["plan\n", "code\n", false]);
		expect(await shown()).toBe("Outcome: No scheduled jobs\n");
	});

	test("a pin without a repo means the repository that the job's folder is in", async () => {
		const repo = makeRepository({ "README.md": "hello\n", "sub/a.txt": "a\n" });
		const walk = await new Walk().up();
		const add = (name: string, ...more: string[]) =>
			walk.home.run(["add", "--name", name, "--pin", "main", ...more, "--", "true"], { cwd: join(repo.path, "sub") });
		expect((await add("now")).code).toBe(0);
		await walk.ended("now");
		expect(await walk.status("now")).toBe("succeeded");
		const pinned = repo.head();
		expect((await add("later", "--needs-approval")).code).toBe(0);
		repo.commit({ "README.md": "moved\n" });
		await until(async () => (await walk.client.call("job.why", { id: "later" })).reasons.some(({ code }) => code === "pinned_head"));
		await walk.sluice("approve", "later");
		expect((await walk.client.call("job.show", { id: "later" })).job).toMatchObject({
			status: "waiting_on_deps",
			wait_reason: { kind: "pinned_head", detail: "pinned head mismatch on main" },
		});
		repo.git("reset", "--quiet", "--hard", pinned);
		await walk.ended("later");
		expect(await walk.status("later")).toBe("succeeded");
	});

	test("right before a run its pinned head is looked at once more: one that has moved since the last look starts nothing", async () => {
		const repo = makeRepository({ "README.md": "hello\n" });
		// The next look would come too late.
		const walk = await new Walk().up({ poll_interval: "1h" });
		const add = ["add", "--name", "later", "--pin", "main", "--needs-approval", "--", "touch", walk.path("ran")];
		expect((await walk.home.run(add, { cwd: repo.path })).code).toBe(0);
		await until(async () => (await walk.client.call("job.why", { id: "later" })).reasons.every(({ code }) => code === "approval"));
		repo.commit({ "README.md": "moved\n" });
		await walk.sluice("approve", "later");
		await until(async () => (await walk.client.call("job.show", { id: "later" })).job.wait_reason?.kind === "pinned_head");
		expect((await walk.client.call("job.show", { id: "later" })).job).toMatchObject({
			status: "waiting_on_deps",
			failures: 0,
			wait_reason: { detail: "pinned head mismatch on main" },
		});
		expect(existsSync(walk.path("ran"))).toBe(false);
	});

	test("a merge in conflict leaves its sentinel, which another job waits for; its retry takes it away", async () => {
		const repo = makeRepository({ "a.txt": "0\n" });
		const walk = await new Walk().up({ repos: { r: { path: repo.path } } });
		const change = (text: string) => ["--repo", "r", "--", "/bin/sh", "-c", `${awaiting(walk.path("go"))}; ${commit("a.txt", text)}`];
		await walk.sluice("add", "--name", "one", ...change("one"));
		await walk.is("one", "running");
		const waiting = await walk.sluice(
			"add",
			"--name",
			"mend",
			"--needs",
			"sentinel:merge-conflict-1",
			"--on-missing",
			"wait",
			"--",
			"true",
		);
		expect(waiting.code).toBe(0);
		expect(await walk.status("mend")).toBe("waiting_on_deps");
		repo.commit({ "a.txt": "two\n" });
		walk.give("go");
		await walk.ended("mend");
		expect((await walk.client.call("job.show", { id: "one" })).job).toMatchObject({
			merge_status: "conflict",
			merge_report: { files: ["a.txt"] },
		});
		expect(repo.read("a.txt")).toBe("two\n");
		const present = async () =>
			(await walk.client.call("artifact.list", {})).artifacts.filter((one) => one.present).map((one) => one.artifact);
		expect(await present()).toEqual(["sentinel:merge-conflict-1"]);
		expect((await walk.sluice("retry", "one")).code).toBe(0);
		// Begun anew, from where main is now.
		await until(async () => (await walk.client.call("job.show", { id: "one" })).job.merge_status === "merged");
		expect([await present(), repo.read("a.txt")]).toEqual([[], "one\n"]);
	});
});
