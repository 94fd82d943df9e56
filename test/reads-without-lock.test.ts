// Reads take no write lock: another process that holds SQLite's does not hold them up, and what was to be written is written when it lets go.

import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Scheduler } from "../src/contracts/scheduler.ts";
import { type Changes, noChanges } from "../src/contracts/store.ts";
import { localHost, systemClock } from "../src/host/local.ts";
import { openScheduler } from "../src/open.ts";
import { openDatabase } from "../src/stores/sqlite/driver.ts";
import { openSqlite } from "../src/stores/sqlite/store.ts";
import { makeFolder } from "./make/folder.ts";

async function openBoth(): Promise<{ sluice: Scheduler; hold(): void; release(): void }> {
	const path = join(makeFolder(), "sluice.db");
	const sluice = await openScheduler({ path, preset: "kernel", clock: systemClock, host: localHost });
	const other = openDatabase(path);
	onTestFinished(async () => {
		other.close();
		await sluice.close();
	});
	return { sluice, hold: () => other.exec("BEGIN IMMEDIATE"), release: () => other.exec("ROLLBACK") };
}

test("every read answers while another process has the lock; a write waits for it", { timeout: 30_000 }, async () => {
	const { sluice, hold, release } = await openBoth();
	const { kernel } = sluice;
	const { pid } = await kernel.agent.create({ name: "researcher" });
	await kernel.ledger.grant({ pid, dim: "tokens", limit: 5 });
	const { sched_id } = await kernel.enqueue({ pid });
	const added = await sluice.add({ command: ["true"] });
	if (added.outcome !== "queued") throw new Error(added.outcome);
	hold();
	let isWritten = false;
	const writing = sluice.add({ command: ["true"] }).then((result) => {
		isWritten = true;
		return result;
	});
	expect(await kernel.get({ sched_id })).toMatchObject({ state: "queued" });
	expect(await kernel.list()).toMatchObject({ total: 1 });
	expect(await kernel.agent.get({ pid })).toMatchObject({ name: "researcher" });
	expect(await kernel.agent.list()).toHaveLength(1);
	expect(await kernel.ledger.get({ pid })).toHaveLength(1);
	expect(await kernel.ledger.listBreached()).toEqual([]);
	expect(await kernel.ledger.check({ pid, dim: "tokens", amount: 6 })).toEqual({ would_exceed: true });
	expect(await sluice.list()).toHaveLength(1);
	expect((await sluice.show(added.job.id)).status).toBe("queued");
	expect((await sluice.why(added.job.id)).reasons).not.toEqual([]);
	expect((await sluice.history(added.job.id)).map(({ kind }) => kind)).toEqual(["added"]);
	expect((await sluice.status()).queued_total).toBe(1);
	await Promise.all([sluice.locks(), sluice.batches(), sluice.artifacts(), sluice.graph(), sluice.forecast(), sluice.ledgers()]);
	expect(isWritten).toBe(false);
	release();
	expect((await writing).outcome).toBe("queued");
	expect(await sluice.list()).toHaveLength(2);
});

test("a read does not wait for what has fallen due: that is seen to once the lock is free", { timeout: 30_000 }, async () => {
	const path = join(makeFolder(), "sluice.db");
	let now = Date.UTC(2030, 0, 1);
	const clock = { now: () => now, monotonic: () => now };
	const sluice = await openScheduler({ path, clock, host: localHost, drive: "manual" });
	const other = openDatabase(path);
	onTestFinished(async () => {
		other.close();
		await sluice.close();
	});
	const added = await sluice.add({ command: ["true"], runnable_at: now + 1000 });
	if (added.outcome !== "queued") throw new Error(added.outcome);
	now += 2000;
	other.exec("BEGIN IMMEDIATE");
	expect((await sluice.show(added.job.id)).blocked).toBe(true);
	other.exec("ROLLBACK");
	expect((await sluice.show(added.job.id)).blocked).toBe(false);
});

test("a look sees one moment, and is outrun when it writes after another commit", () => {
	const path = join(makeFolder(), "sluice.db");
	const [one, other] = [openSqlite(path), openSqlite(path)];
	onTestFinished(() => {
		void one.close();
		void other.close();
	});
	const changes = (key: string): Changes => ({ ...noChanges(), records: [["meta", key, 1]] });
	void one.begin("look");
	void other.begin("change");
	void other.write(changes("a"));
	void other.commit();
	expect(one.read({ read: "records", kind: "meta", keys: ["a"] })).toEqual([]);
	expect(() => one.write(changes("b"))).toThrow(/busy/);
	void one.rollback();
	expect(one.begin("look")).toMatchObject({ fresh: false });
	expect(one.read({ read: "records", kind: "meta", keys: ["a", "b"] })).toEqual([["a", 1]]);
	void one.commit();
});
