// 003 with a real daemon and real processes: plan → spec → phase → code, each adding its children from inside its run; artifacts as gates, caps by lane,
// order by priority, the penalty of a retry.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeFolder } from "../make/folder.ts";
import { makeRepository } from "../make/repository.ts";

/** What each loop does: adds those below it, as a program in a run would, with nothing but its environment. */
const loop = (folder: string) => `#!/bin/sh
sluice() { "${process.execPath}" "${TestHome.command()}" "$@"; }
case "$1" in
plan) sluice add --lane spec --name spec -- /bin/sh ${folder}/loop.sh spec ;;
spec) for n in 1 2; do sluice add --lane phase --name "phase-$n" --needs custom:spec:approved -- /bin/sh ${folder}/loop.sh phase "$n" || exit 9; done ;;
phase)
	for c in a b; do sluice add --lane code --name "code-$2$c" -- /bin/sh ${folder}/loop.sh code "$2$c" || exit 9; done
	sluice pause; echo "pausing: exit code $?" ;;
code) echo "$2" >> ${folder}/started; while [ ! -e ${folder}/go ]; do sleep 0.02; done ;;
*) echo "$1" >> ${folder}/order ;;
esac
`;

class Walk {
	readonly home = new TestHome();
	readonly folder = makeFolder();
	client!: Client;

	async up(config = "", script = loop(this.folder)): Promise<this> {
		writeFileSync(join(this.folder, "loop.sh"), script);
		this.home.make(`preset: loops\n${config}`);
		this.client = (await this.home.up()).client;
		return this;
	}
	path = (name: string) => join(this.folder, name);
	lines = (name: string) => (existsSync(this.path(name)) ? readFileSync(this.path(name), "utf8").trim().split("\n") : []);
	sluice = (...args: string[]) => this.home.run(args, { cwd: this.folder });
	job = async (id: number | string) => (await this.client.call("job.show", { id })).job;
	ended = (...ids: (number | string)[]) => this.client.call("job.wait", { ids });
	there = (name: string) => until(() => this.job(name).catch(() => undefined));
	add = async (lane: string, ...words: string[]) => {
		const { code, out, err } = await this.sluice("add", "--lane", lane, ...words);
		if (code !== 0) throw new Error(err);
		return Number(out);
	};
	loop = (...words: string[]) => ["--", "/bin/sh", this.path("loop.sh"), ...words];
}

describe("003, walked through", () => {
	test("plan → spec → phase → code: children of their parents, gated by success and artifacts, two codes at a time", async () => {
		const walk = await new Walk().up("lanes: {code: {max: 2}}\n");
		const plan = await walk.add("plan", "--name", "plan", ...walk.loop("plan"));
		await walk.ended(plan);
		const spec = await walk.there("spec");
		await walk.ended("spec");
		expect([spec.parent, spec.depth, spec.lane]).toEqual([plan, 1, "spec"]);
		expect(spec.after).toEqual([{ job: plan, policy: "success" }]);

		// Their parent has succeeded; the artifact that they need is not there, and nobody has said that it will come.
		for (const name of ["phase-1", "phase-2"])
			expect(await walk.job(name)).toMatchObject({
				status: "waiting_on_deps",
				parent: spec.id,
				depth: 2,
				wait_reason: { kind: "dependencies", detail: "awaiting producer for custom:spec:approved" },
			});
		expect((await walk.sluice("graph", "--job", "phase-1")).out).toContain("custom:spec:approved -> [missing]");
		await walk.sluice("artifact", "mark", "custom:spec:approved");
		await walk.ended("phase-1", "phase-2");
		const [phase, code] = [await walk.job("phase-1"), await walk.there("code-1a")];
		expect([phase.status, code.parent, code.depth]).toEqual(["succeeded", phase.id, 3]);

		// A run may add, read and wait; it may not pause.
		expect((await walk.sluice("logs", "phase-1")).out).toContain("pausing: exit code 2");

		await until(() => walk.lines("started").length === 2);
		const status = await walk.client.call("scheduler.status", {});
		expect(status.lanes.code).toEqual({ queued: 2, running: 2, lending: 0, max: 2 });
		const names = ["code-1a", "code-1b", "code-2a", "code-2b"];
		const waiting = (await Promise.all(names.map(walk.job))).find((job) => job.status === "queued");
		const why = await walk.client.call("job.why", { id: waiting?.id as number });
		expect(why.reasons).toMatchObject([{ gate: "capacity", code: "capacity", detail: "lane code is full: 2 of 2 running" }]);
		expect(why.priority.terms.filter(({ name }) => name !== "age")).toEqual([
			{ name: "lane code", value: 100 },
			{ name: "priority", value: 0 },
			{ name: "depth 3", value: 30 },
			{ name: "iteration 1", value: 0 },
		]);
		writeFileSync(walk.path("go"), "");
		await walk.ended(...names);
		expect(walk.lines("started").sort()).toEqual(["1a", "1b", "2a", "2b"]);
		expect(await Promise.all(names.map(async (name) => (await walk.job(name)).status))).toEqual(names.map(() => "succeeded"));
	});

	test("one slot: code before phase before spec before plan, whatever came first", async () => {
		const walk = await new Walk().up("max_concurrent: 1\n");
		await walk.add("plan", ...walk.loop("code", "first"));
		await until(() => walk.lines("started").length === 1);
		const ids: number[] = [];
		for (const lane of ["plan", "spec", "phase", "code"]) ids.push(await walk.add(lane, ...walk.loop(`now-${lane}`)));
		expect((await walk.client.call("scheduler.run", { dry_run: true })).reason).toBe("capacity");
		writeFileSync(walk.path("go"), "");
		await walk.ended(...ids);
		expect(walk.lines("order")).toEqual(["now-code", "now-phase", "now-spec", "now-plan"]);
	});

	test("a failed run waits, and costs five", async () => {
		const walk = await new Walk().up();
		const id = await walk.add("code", "--retries", "3", "--", "/bin/sh", "-c", `test -e ${walk.path("fixed")}`);
		const waiting = await until(async () => {
			const job = await walk.job(id);
			return job.failures === 1 ? job : undefined;
		});
		expect(waiting).toMatchObject({ status: "queued", attempt: 1, wait_reason: { kind: "backoff" } });
		const { priority, reasons } = await walk.client.call("job.why", { id });
		expect(priority.terms.at(-1)).toEqual({ name: "iteration 2", value: -5 });
		expect(reasons.map(({ code }) => code)).toEqual(["backoff"]);
		writeFileSync(walk.path("fixed"), "");
		expect((await walk.sluice("rerun", String(id))).code).toBe(0);
		await walk.ended(id);
		expect(await walk.job(id)).toMatchObject({ status: "succeeded", attempt: 2, failures: 0 });
	});
});

/** On a repository: each loop commits its artifact in its own worktree, then adds the loop below it, which needs that artifact. */
const repoLoop = (folder: string) => `#!/bin/sh
set -e
sluice() { "${process.execPath}" "${TestHome.command()}" "$@"; }
make() { mkdir -p plans; echo "$1" > "plans/$1.md"; git add plans; git -c user.name=L -c user.email=l@x commit -qm "$1"; }
below() { sluice add --repo r --lane "$1" --name "$2" --needs "file:plans/$3.md" --produces "file:plans/$2.md" -- /bin/sh ${folder}/loop.sh "$1" "$2"; }
case "$1" in
plan) make plan; below spec spec plan ;;
spec) cat plans/plan.md; make spec; below phase phase-1 spec; below phase phase-2 spec ;;
phase) cat plans/spec.md; make "$2"; below code "code-$2" "$2" ;;
code) cat "plans/\${2#code-}.md"; echo "$2" > "$2.txt"; git add .; git -c user.name=L -c user.email=l@x commit -qm "$2" ;;
forgetful) sluice add --repo r --lane spec --name orphan --needs file:plans/none.md -- true ;;
esac
`;

test("003 on a real repository: the artifact of each loop is the gate of those below it", { timeout: 90_000 }, async () => {
	const repo = makeRepository();
	const walk = new Walk();
	const verify = ["/bin/sh", "-c", `while [ ! -e ${walk.path("verified")} ]; do sleep 0.02; done`];
	await walk.up(`repos: ${JSON.stringify({ r: { path: repo.path, verify } })}\n`, repoLoop(walk.folder));
	const plan = await walk.add("plan", "--name", "plan", "--repo", "r", "--produces", "file:plans/plan.md", ...walk.loop("plan"));
	await walk.ended(plan);
	// The plan's run is over and its parent gate passes; but what it made is not on main yet, where the spec would begin.
	await walk.there("spec");
	expect(await walk.job("plan")).toMatchObject({ status: "succeeded", merge_status: "pending" });
	expect(await walk.job("spec")).toMatchObject({
		status: "waiting_on_deps",
		parent: plan,
		depth: 1,
		after: [{ job: plan, policy: "success" }],
	});
	expect((await walk.client.call("job.why", { id: "spec" })).reasons.map(({ gate, subject }) => [gate, subject])).toEqual([
		["artifacts", "file:plans/plan.md"],
	]);
	writeFileSync(walk.path("verified"), "");
	for (const name of ["code-phase-1", "code-phase-2"]) {
		await walk.there(name);
		await until(async () => (await walk.job(name)).merge_status === "merged");
		expect(await walk.job(name)).toMatchObject({ status: "succeeded", lane: "code", depth: 3 });
		expect((await walk.sluice("logs", name)).out).toBe(`${name.slice("code-".length)}\n`);
	}
	expect([repo.read("code-phase-1.txt"), repo.read("code-phase-2.txt")]).toEqual(["code-phase-1\n", "code-phase-2\n"]);
	// One whose artifact nobody makes waits, with that as its reason, until somebody does.
	await walk.add("plan", "--name", "forgetful", "--repo", "r", "--no-merge", ...walk.loop("forgetful"));
	await walk.there("orphan");
	await until(async () => (await walk.job("orphan")).wait_reason?.detail === "awaiting producer for file:plans/none.md");
	repo.commit({ "plans/none.md": "by hand\n" });
	await walk.ended("orphan");
	expect((await walk.job("orphan")).status).toBe("succeeded");
});
