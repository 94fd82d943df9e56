// Behind a pooler with transaction pooling: each transaction may have another server connection than the one before.

import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../../../test/make/folder.ts";
import { dumpDatabase, dumpFile } from "../../../test/make/stores/dumped.ts";
import { openPooler, type Pooler } from "../../../test/make/stores/pooler.ts";
import { type Server, startServer } from "../../../test/make/stores/postgres-server.ts";
import type { Scheduler } from "../../contracts/scheduler.ts";
import { StaleTransaction, type Store } from "../../contracts/store.ts";
import { checkDatabase } from "../../daemon/service/database-checks.ts";
import { moveStore } from "../../daemon/service/move-store.ts";
import { localHost, systemClock } from "../../host/local.ts";
import { openScheduler } from "../../open.ts";
import { addressOf } from "../address.ts";
import { openSnapshots } from "./snapshots.ts";

let server: Server;
let pooler: Pooler;
let admin: pg.Client;
beforeAll(async () => {
	server = await startServer();
	admin = new pg.Client({ connectionString: server.url() });
	await admin.connect();
	pooler = await openPooler(server.port);
});
afterAll(async () => {
	await admin?.end();
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

const member = (at: string): Store => {
	const store = openSnapshots(addressOf(at), {
		patienceMs: 20_000,
		name: "member",
		monotonic: systemClock.monotonic,
		after: localHost.after,
	});
	onTestFinished(async () => void (await store.close()));
	return store;
};
/** As the engine does it: again for as long as the transaction is stale. */
async function eventsIn(store: Store): Promise<number> {
	for (;;) {
		try {
			await store.begin();
			const events = await store.read({ read: "events", since: 0, limit: 1000 });
			const [ids] = await store.read({ read: "records", kind: "meta", keys: ["ids"] });
			await store.commit();
			// Time for the answer, after which the pooler may give the connection to another client.
			await admin.query("SELECT 1");
			// Both reads are of one moment.
			expect(ids).toMatchObject(["ids", { seq: events.at(-1)?.seq }]);
			return events.length;
		} catch (error) {
			await store.rollback();
			if (!(error instanceof StaleTransaction)) throw error;
		}
	}
}

test("a leader works past it, members read through it", async () => {
	const scheduler = await openScheduler({ url: url("pooled", direct()), join: { name: "a" } });
	onTestFinished(() => scheduler.close());
	const [before, one, two] = [pooler.switched(), member(url("pooled")), member(url("pooled"))];
	let isWorking = true;
	const working = work(scheduler, "a").finally(() => {
		isWorking = false;
	});
	for (let round = 0; isWorking || round < ROUNDS; round++) for (const store of [one, two]) await eventsIn(store);
	expect(await working).toHaveLength(ROUNDS);
	expect(pooler.switched() - before).toBeGreaterThan(3);
	expect(await eventsIn(one)).toBe(await eventsIn(two));
});

test("one that tells the server's own process is seen through when a prepared statement is not there", async () => {
	const other = await openPooler(server.port, { tells: "the server's" });
	onTestFinished(() => other.close());
	const scheduler = await openScheduler({ url: url("told", direct()), join: { name: "a" } });
	onTestFinished(() => scheduler.close());
	await work(scheduler, "a");
	const store = member(`postgres://sluice@127.0.0.1:${other.port}/postgres?schema=told`);
	const events = new Set<number>();
	for (let round = 0; round < 2 * ROUNDS || other.switched() <= 3; round++) events.add(await eventsIn(store));
	expect(events.size).toBe(1);
});

test("no process leads through it, and the check-up says so", async () => {
	const leader = async (more: string) =>
		(await checkDatabase(url("checked", more), systemClock.now)).find(({ name }) => name === "database leader");
	expect(await leader("")).toMatchObject({ ok: false, hint: expect.stringContaining("direct=") });
	expect(await leader(direct())).toMatchObject({ ok: true });
	await expect(openScheduler({ url: url("checked") })).rejects.toMatchObject({ code: "store", hint: expect.stringContaining("direct=") });
});

test("a store is moved through it", async () => {
	const path = join(makeFolder(), "a.db");
	const scheduler = await openScheduler({ path, join: { name: "a" } });
	await work(scheduler, "a");
	await scheduler.close();
	await moveStore({ from: path, to: url("moved"), check: false, replace: false, again: false });
	expect(await dumpDatabase(server.url(), "moved")).toEqual(dumpFile(path));
});
