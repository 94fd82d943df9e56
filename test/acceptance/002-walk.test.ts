// 002 with a real daemon and real processes: a pipeline whose middle fails, its graph, its retry with the report, a subtree that is cancelled, and what gc keeps.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { TestHome, until } from "../make/daemon.ts";
import { makeFolder } from "../make/folder.ts";

const fixture = (name: string) => readFileSync(join(import.meta.dirname, "../fixtures/graph", name), "utf8");
/** A shell's wait for a file: the test decides when. */
const awaiting = (path: string) => `while [ ! -e ${path} ]; do sleep 0.02; done`;

class Walk {
	readonly home = new TestHome();
	readonly folder = makeFolder();
	client!: Client;

	async up(): Promise<this> {
		this.home.make("preset: dag\n");
		this.client = (await this.home.up()).client;
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
