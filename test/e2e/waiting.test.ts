// Runs that wait for jobs, and a cancel of many: a real daemon, real processes, the real command inside them.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";

const LONG = { timeout: 180_000 };

/** A daemon whose runs find the command as `sluice` in their path. */
async function open(
	config: string,
): Promise<{ home: TestHome; client: Client; run(name: string, script: string, more?: object): Promise<number> }> {
	const home = new TestHome();
	home.make(config);
	const { client } = await home.up();
	writeFileSync(join(home.path, "sluice"), `#!/bin/sh\nexec "${process.execPath}" "${TestHome.command()}" "$@"\n`, { mode: 0o755 });
	const env = { PATH: `${home.path}:${process.env.PATH ?? ""}` };
	const run = async (name: string, script: string, more: object = {}) => {
		const { job } = (await client.call("job.add", { name, command: ["sh", "-c", script], env, cwd: home.path, ...more })) as {
			job: { id: number };
		};
		return job.id;
	};
	return { home, client, run };
}
const ended = async (client: Client, ids: (number | string)[]) => {
	await until(async () => (await client.call("job.wait", { ids })).done);
	return Promise.all(ids.map(async (id) => (await client.call("job.show", { id })).job.status));
};
const textOf = async (client: Client, id: number | string, stream: "stdout" | "stderr" = "stdout") =>
	(await client.call("job.logs", { id, stream })).text;

describe("runs that wait for jobs", () => {
	test("as many of them as there are slots end all the same, and status, why and list tell meanwhile", LONG, async () => {
		const { home, client, run } = await open("max_concurrent: 4\n");
		const names = ["a", "b", "c", "d"];
		const gate = join(home.path, "gate");
		for (const name of names)
			await run(
				`orch${name}`,
				`sluice add -q --name kid${name} -- sh -c 'until [ -e ${gate} ]; do sleep 0.05; done'; sluice wait -q kid${name}; echo waited: $?`,
			);
		await until(async () => (await client.call("scheduler.status", {})).lending === 4);
		await until(async () => (await client.call("scheduler.status", {})).running === 8);
		const { job } = await client.call("job.show", { id: "kida" });
		expect(await client.call("job.why", { id: "kida" })).toMatchObject({ job: { status: "running" }, waiters: [job.parent] });
		expect((await client.call("job.show", { id: "orcha" })).job).toMatchObject({ status: "running", waits_for: [job.id] });
		const list = await home.run(["list"]);
		expect(list.out).toContain(`waits for job ${job.id}, lends its slot`);
		expect((await home.run(["why", "orcha"])).out).toMatch(/is running for \S+, waits for job \d+, lends its slot\./);
		expect((await home.run(["status"])).out).toContain("Running: 4 of 4, 4 more wait for jobs and lend their slots");
		writeFileSync(gate, "");
		expect(
			await ended(
				client,
				names.map((name) => `orch${name}`),
			),
		).toEqual(["succeeded", "succeeded", "succeeded", "succeeded"]);
		expect(await textOf(client, "orcha")).toContain("waited: 0");
	});

	test("add --wait, add --follow and a wait for a stranger at a cap of one", LONG, async () => {
		const { client, run } = await open("max_concurrent: 1\n");
		await run(
			"parent",
			"sluice add -q --wait -- true; echo one: $?; sluice add --follow -- echo from below; echo two: $?; sluice wait -q stranger; echo three: $?",
		);
		await run("stranger", "echo here");
		expect(await ended(client, ["parent", "stranger"])).toEqual(["succeeded", "succeeded"]);
		expect(await textOf(client, "parent")).toMatch(/one: 0\n[\s\S]*from below\n[\s\S]*two: 0\nthree: 0\n/);
	});

	test("a circle is refused with exit code 4, its path and a way out", LONG, async () => {
		const { client, run } = await open("preset: loops\nmax_concurrent: 4\n");
		const parent = await run(
			"parent",
			"sluice add -q --wait -- true; echo child: $?; sluice add -q --wait --parent-gate none --lock db -- true; echo lock: $?; sluice add -q --wait --parent-gate none -- true; echo free: $?",
			{
				locks: ["db"],
			},
		);
		expect(await ended(client, [parent])).toEqual(["succeeded"]);
		const said = await textOf(client, parent);
		expect(said).toContain("child: 4\n");
		expect(said).toContain("lock: 4\n");
		expect(said).toContain("free: 0\n");
		const errors = await textOf(client, parent, "stderr");
		expect(errors).toMatch(new RegExp(`job ${parent} cannot wait for job (\\d+): job \\1 comes after job ${parent}`));
		expect(errors).toContain("--parent-gate none");
		expect(errors).toMatch(/job (\d+) is added and stays in the queue\n +do not add it again/);
		expect(errors).toMatch(new RegExp(`job (\\d+) needs lock db, which job ${parent} holds`));
	});

	test("a daemon that dies under a wait gives the slot back, and the next one lends it again", LONG, async () => {
		const { home, client, run } = await open("max_concurrent: 1\n");
		const gate = join(home.path, "gate");
		const again = `until sluice wait -q --timeout 60s kid; do sleep 0.1; done`;
		await run("parent", `sluice add -q --name kid -- sh -c 'until [ -e ${gate} ]; do sleep 0.05; done'; ${again}; echo waited`);
		await until(async () => (await client.call("scheduler.status", {})).lending === 1);
		await home.kill(home.daemons[0]!);
		const next = await home.up();
		await until(async () => (await next.client.call("scheduler.status", {})).lending === 1);
		writeFileSync(gate, "");
		expect(await ended(next.client, ["parent"])).toEqual(["succeeded"]);
		const { events } = await next.client.call("job.history", { id: "parent" });
		expect(events.filter(({ kind }) => kind.startsWith("wait_")).map(({ kind }) => kind)).toEqual([
			"wait_began",
			"wait_ended",
			"wait_began",
			"wait_ended",
		]);
	});
});

test("cancel of a run and the eleven behind it starts none of them", LONG, async () => {
	const { home, client, run } = await open("max_concurrent: 1\nstop: {grace_int: 100ms, grace_term: 300ms}\n");
	const ids: number[] = [];
	for (let n = 0; n < 12; n++) ids.push(await run(`job${n}`, "sleep 60"));
	await until(async () => (await client.call("job.show", { id: ids[0]! })).job.run?.launched);
	expect((await home.run(["cancel", ...ids.map(String)])).code).toBe(0);
	expect(new Set(await ended(client, ids))).toEqual(new Set(["cancelled"]));
	const attempts = await Promise.all(ids.map(async (id) => (await client.call("job.show", { id })).job.attempt));
	expect(attempts).toEqual([1, ...Array.from({ length: 11 }, () => 0)]);
});

test("a delayed job starts when it is told to run now", LONG, async () => {
	const { home, client, run } = await open("max_concurrent: 1\n");
	const id = await run("later", "true", { runnable_at: new Date(Date.now() + 3_600_000).toISOString() });
	expect((await home.run(["run-now", "later"])).err).toMatch(/job \d+ \(later\) (?:goes before all others|starts now)/);
	expect(await ended(client, [id])).toEqual(["succeeded"]);
});

test("a frozen run says so, and a payload job that it waits for a worker", LONG, async () => {
	const { home, client, run } = await open("max_concurrent: 2\n");
	await ended(client, [await run("before", "true")]);
	const id = await run("ice", "sleep 60");
	await until(async () => (await client.call("job.show", { id })).job.run?.launched);
	await home.run(["pause", "--freeze"]);
	const why = (await home.run(["why", "ice"])).out;
	expect(why).toMatch(/is running for \S+, frozen\./);
	expect(why).toContain("let them go on: sluice resume");
	expect((await home.run(["status"])).out).toMatch(/Paused and frozen: by ann/);
	expect((await home.run(["list"])).out).toMatch(/for \S+, frozen/);
	expect((await home.run(["show", "ice"])).out).toMatch(/^frozen +yes/m);
	await home.run(["resume"]);
	expect((await home.run(["why", "ice"])).out).toContain("nothing holds it back");
	const { job } = (await client.call("job.add", { payload: { a: 1 }, name: "letter" })) as { job: { id: number } };
	expect((await home.run(["why", "letter"])).out).toContain("waits for a worker to claim it");
	const dry = (await home.run(["run", "--dry-run"])).out;
	expect(dry).toContain("Would start: nothing");
	expect(dry).toMatch(new RegExp(`${job.id} +waits for a worker to claim it`));
	expect((await home.run(["why", "letter"])).out).toMatch(/eta +unknown: waits for a worker to claim it/);
	await home.run(["cancel", "ice", "letter"]);
});
