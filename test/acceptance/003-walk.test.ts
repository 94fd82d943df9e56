// 003 with a real daemon and real processes: plan → spec → phase → code, each adding its children from inside its run; artifacts as gates, caps by lane,
// order by priority, the penalty of a retry.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { TestHome, until } from "../make/daemon.ts";
import { makeFolder } from "../make/folder.ts";

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

	async up(config = ""): Promise<this> {
		writeFileSync(join(this.folder, "loop.sh"), loop(this.folder));
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
		expect(status.lanes.code).toEqual({ queued: 2, running: 2, max: 2 });
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
