// Operating it: direct and deferred mode, plans, pauses that are remembered, clearing, caps that change while jobs wait. Through the command line.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";

const UNTIL_GO = ["sh", "-c", "echo x >>begun; while [ ! -e go ]; do sleep 0.02; done"];

async function open(config = ""): Promise<{ home: TestHome; client: Client; json(...args: string[]): Promise<Record<string, unknown>> }> {
	const home = new TestHome();
	home.make(config);
	const { client } = await home.up();
	const json = async (...args: string[]) => {
		const { code, out, err } = await home.run(["--json", ...args], { cwd: home.path });
		expect([args, code, err]).toEqual([args, 0, ""]);
		return JSON.parse(out) as Record<string, unknown>;
	};
	return { home, client, json };
}

const running = async (client: Client) => (await client.call("scheduler.status", {})).running;
const begun = (home: TestHome) => {
	const path = join(home.path, "begun");
	return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n").length : 0;
};
const statuses = async (client: Client) => (await client.call("job.list", { all: true })).jobs.map(({ status }) => status);
/** Each is a call of the same command. */
const addAll = async (home: TestHome, count: number) => {
	for (let n = 0; n < count; n++)
		expect(await home.run(["add", "-q", "--", ...UNTIL_GO], { cwd: home.path })).toMatchObject({ code: 0, out: `${n + 1}\n` });
};

describe("the same command", () => {
	test("in direct mode starts each job at once", async () => {
		const { home, client } = await open("max_concurrent: -1\n");
		await addAll(home, 6);
		await until(() => begun(home) === 6);
		expect(await running(client)).toBe(6);
		writeFileSync(join(home.path, "go"), "");
		await until(async () => (await running(client)) === 0);
		expect(new Set(await statuses(client))).toEqual(new Set(["succeeded"]));
	});

	test("in deferred mode starts as many as may run, and the next when one ends", async () => {
		const { home, client, json } = await open("max_concurrent: 2\n");
		await addAll(home, 6);
		await until(() => begun(home) === 2);
		expect(await json("status")).toMatchObject({ running: 2, queued_total: 4, queued_ready: 4, max_concurrent: 2 });
		const why = await json("why", "3");
		expect(why.reasons).toMatchObject([{ gate: "capacity", code: "capacity" }]);
		expect(await home.run(["cancel", "1"])).toMatchObject({ code: 0 });
		await until(() => begun(home) === 3);
		expect(await running(client)).toBe(2);
		writeFileSync(join(home.path, "go"), "");
		await until(async () => (await running(client)) === 0 && begun(home) === 6);
	});

	test("one mode becomes the other while jobs wait", async () => {
		const { home, client } = await open("max_concurrent: 1\npoll_interval: 1h\n");
		await addAll(home, 4);
		await until(() => begun(home) === 1);
		expect(await home.run(["config", "set", "max_concurrent", "-1"])).toMatchObject({ code: 0 });
		await until(() => begun(home) === 4);
		expect(await running(client)).toBe(4);
	});
});

test("raising max_concurrent starts jobs at once; lowering it stops none", async () => {
	// No poll and no timer would find them within the test's time.
	const { home, client } = await open("max_concurrent: 1\npoll_interval: 1h\n");
	await addAll(home, 4);
	await until(() => begun(home) === 1);
	expect(await home.run(["config", "set", "max_concurrent", "3"])).toMatchObject({ code: 0, err: "max_concurrent is 3\n" });
	await until(() => begun(home) === 3);
	expect(await home.run(["config", "set", "max_concurrent", "1"])).toMatchObject({ code: 0 });
	expect(await running(client)).toBe(3);
	writeFileSync(join(home.path, "go"), "");
	await until(async () => (await running(client)) === 0 && begun(home) === 4);
});

test("run --dry-run says what would start, what is skipped and which bound holds, and changes nothing", async () => {
	const { home, client, json } = await open("max_concurrent: 2\n");
	expect(await json("run", "--dry-run")).toEqual({ schema_version: 1, dispatch: [], skipped: [], reason: "none" });
	await home.run(["pause", "--lane", "default"]);
	await addAll(home, 3);
	const before = (await client.call("job.list", {})).jobs;
	const plan = await json("run", "--dry-run");
	expect(plan).toMatchObject({ dispatch: [] });
	expect((plan.skipped as { job: number }[]).map(({ job }) => job)).toEqual([1, 2, 3]);
	expect((await client.call("job.list", {})).jobs).toEqual(before);
	expect(begun(home)).toBe(0);
	await home.run(["resume", "--lane", "default"]);
	await until(() => begun(home) === 2);
	expect(await json("run", "--dry-run")).toMatchObject({ dispatch: [], skipped: [{ job: 3 }], reason: "capacity" });
	expect(await home.run(["run", "--dry-run"])).toMatchObject({
		code: 0,
		out: expect.stringMatching(/^Would start: nothing\nBound: a cap is full\n/),
	});
});

test("run is a pass of its own: it does not wait for the next cycle, but keeps to batch size and caps", async () => {
	const { home, client, json } = await open("preset: town\nmax_concurrent: 3\ncycle_interval: 24h\n");
	await addAll(home, 5);
	// The next cycle is up to a day away.
	expect((await json("why", "1")).reasons).toMatchObject([{ subject: "cycle_interval" }]);
	expect(await json("run", "--dry-run")).toMatchObject({ dispatch: [1], reason: "batch" });
	expect(begun(home)).toBe(0);
	expect(await json("run")).toMatchObject({ dispatch: [1] });
	await until(() => begun(home) === 1);
	expect(await json("run")).toMatchObject({ dispatch: [2] });
	await until(() => begun(home) === 2);
	expect(await home.run(["run"])).toMatchObject({ code: 0, out: expect.stringMatching(/^Started: 3\n/) });
	await until(() => begun(home) === 3);
	expect(await json("run")).toMatchObject({ dispatch: [], reason: "capacity" });
	expect(await running(client)).toBe(3);
	writeFileSync(join(home.path, "go"), "");
});

test("a pause is recorded with who and when, and outlives the daemon", async () => {
	const { home, client, json } = await open();
	const paused = await home.run(["pause", "--reason", "release day"], { env: { USER: "bo" } });
	expect(paused).toMatchObject({ code: 0, err: "paused: everything; what runs goes on\n" });
	const told = await json("status");
	expect(told).toMatchObject({ paused: true, paused_by: "bo", holds: [{ scope: "all", by: "bo", reason: "release day" }] });
	const at = Date.parse(told.paused_at as string);
	expect(at).toBeGreaterThan(0);
	await addAll(home, 1);
	expect(await home.run(["down"])).toMatchObject({ code: 0 });
	await until(() => !existsSync(home.socket));
	const second = await home.up();
	expect(client).not.toBe(second.client);
	expect(await json("status")).toMatchObject({ paused: true, paused_by: "bo", paused_at: told.paused_at, queued_total: 1, running: 0 });
	expect((await json("why", "1")).reasons).toMatchObject([{ gate: "holds" }]);
	expect(await home.run(["resume"], { env: { USER: "cy" } })).toMatchObject({ code: 0 });
	await until(() => begun(home) === 1);
	expect(await json("status")).toMatchObject({ paused: false, paused_by: null, paused_at: null });
	writeFileSync(join(home.path, "go"), "");
});

test("clear ends what does not run, says so, and asks first", async () => {
	const { home, client, json } = await open("max_concurrent: 1\n");
	await addAll(home, 3);
	await until(() => begun(home) === 1);
	await json("add", "--item", "A-7", "--", "true");
	const refused = await home.run(["clear"]);
	expect(refused).toMatchObject({ code: 2, out: "", err: expect.stringContaining("--yes") });
	expect(await json("clear", "--item", "A-7", "--yes")).toMatchObject({ cleared: [4] });
	expect(await statuses(client)).toEqual(["running", "queued", "queued", "cancelled"]);
	expect(await home.run(["clear", "--yes"], { env: { USER: "bo" } })).toMatchObject({ code: 0, err: "ended: 2 jobs\n" });
	expect(await statuses(client)).toEqual(["running", "cancelled", "cancelled", "cancelled"]);
	expect((await client.call("job.show", { id: 2 })).job.end_reason).toBe("cleared");
	const { events } = await client.call("job.history", { id: 2 });
	expect(events.at(-1)).toMatchObject({ kind: "ended", by: "bo" });
	writeFileSync(join(home.path, "go"), "");
	await until(async () => (await running(client)) === 0);
	expect((await client.call("job.show", { id: 1 })).job.status).toBe("succeeded");
});
