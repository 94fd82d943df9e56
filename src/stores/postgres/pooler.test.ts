// Behind a pooler with transaction pooling: each transaction may have another server connection than the one before.

import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../../../test/make/folder.ts";
import { dumpDatabase, dumpFile } from "../../../test/make/stores/dumped.ts";
import { openPooler, type Pooler } from "../../../test/make/stores/pooler.ts";
import { type Server, startServer } from "../../../test/make/stores/postgres-server.ts";
import type { Scheduler } from "../../contracts/scheduler.ts";
import { moveStore } from "../../daemon/service/move-store.ts";
import { systemClock } from "../../host/local.ts";
import { openScheduler } from "../../open.ts";
import { checkDatabase } from "./checks.ts";

let server: Server;
let pooler: Pooler;
beforeAll(async () => {
	server = await startServer();
	pooler = await openPooler(server.port);
});
afterAll(() => {
	pooler?.close();
	server?.end();
});

const url = (schema: string, more = "") => `postgres://sluice@127.0.0.1:${pooler.port}/postgres?schema=${schema}${more}`;
const direct = () => `&direct=127.0.0.1:${server.port}`;
const ROUNDS = 20;

async function work(scheduler: Scheduler, host: string): Promise<number[]> {
	const done: number[] = [];
	for (let round = 0; round < ROUNDS; round++) {
		await scheduler.add({ command: ["true"], locks: ["one"] });
		const [claimed] = await scheduler.claim({ worker: host, max: 1, host });
		if (!claimed) continue;
		await scheduler.complete({ job: claimed.job.id, token: claimed.run.token, exit_kind: "completed", exit_code: 0 });
		done.push(claimed.job.id);
	}
	return done;
}

test("three schedulers at once: every job is done once, one lock for all", async () => {
	const schedulers: Scheduler[] = [];
	for (const name of ["a", "b", "c"]) {
		const scheduler = await openScheduler({ url: url("pooled", direct()), join: { name } });
		onTestFinished(() => scheduler.close());
		schedulers.push(scheduler);
	}
	const before = pooler.switched();
	const done = (await Promise.all(schedulers.map((one, index) => work(one, "abc"[index] as string)))).flat();
	expect(new Set(done).size).toBe(done.length);
	const status = await (schedulers[0] as Scheduler).status();
	expect(status.queued_total + done.length).toBe(3 * ROUNDS);
	expect(pooler.switched() - before).toBeGreaterThan(ROUNDS);
});

test("one that tells the server's own process is seen through, too, when what was prepared is not there", async () => {
	const other = await openPooler(server.port, { tells: "the server's" });
	onTestFinished(() => other.close());
	const at = `postgres://sluice@127.0.0.1:${other.port}/postgres?schema=told${direct()}`;
	const scheduler = await openScheduler({ url: at, join: { name: "a" } });
	onTestFinished(() => scheduler.close());
	expect(await work(scheduler, "a")).toHaveLength(ROUNDS);
	expect(other.switched()).toBeGreaterThan(ROUNDS);
});

test("the check-up says whether notices come through", async () => {
	const notices = async (more: string) =>
		(await checkDatabase(url("checked", more), systemClock.now)).find(({ name }) => name === "database notices");
	expect(await notices("")).toMatchObject({ ok: false, hint: expect.stringContaining("direct=") });
	expect(await notices(direct())).toMatchObject({ ok: true });
});

test("a store is moved through it", async () => {
	const path = join(makeFolder(), "a.db");
	const scheduler = await openScheduler({ path, join: { name: "a" } });
	await work(scheduler, "a");
	await scheduler.close();
	await moveStore({ from: path, to: url("moved"), check: false, replace: false, again: false });
	expect(await dumpDatabase(server.url(), "moved")).toEqual(dumpFile(path));
});
