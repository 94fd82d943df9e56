// Rollups of the engine: what is counted, what jobs waited for, what is kept, and what is refused.

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { FakeClock, FakeHost, MINUTE } from "../../../test/make/fakes.ts";
import { makeFolder } from "../../../test/make/folder.ts";
import { openStand, type Stand } from "../../../test/make/stand.ts";
import type { StatsFigures } from "../../core/rollups/stats.ts";

const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

async function total(t: Stand): Promise<StatsFigures> {
	return (await t.sluice.stats()).total;
}

describe("what is counted", () => {
	test("starts, ends by status, retries, cost, and the time that slots were held", async () => {
		const t = await openStand({ config: { max_concurrent: 2 } });
		const [good, bad, none] = [await t.add({ lane: "default" }), await t.add({ retry: { max: 1, base_ms: 1000 } }), await t.add()];
		await t.start(2);
		t.clock.pass(10 * MINUTE);
		await t.end(good, "completed", { exit_code: 0, usage: { cost_micro: 1_500_000, tokens: 40 } });
		await t.fail(bad, { usage: { cost_micro: 500_000 } });
		await t.sluice.cancel(none);
		await t.wait(5 * MINUTE);
		await t.start();
		t.clock.pass(MINUTE);
		await t.fail(bad);
		expect(await total(t)).toMatchObject({
			...{ started: 3, runs: 3, requeued: 1, retried: 1, retry_rate: 0.333 },
			...{ ended: 3, succeeded: 1, failed: 1, cancelled: 1 },
			...{ cost_micro: 2_000_000, tokens: 40, slot_ms: 21 * MINUTE, slots: 2 },
		});
	});

	test("by lane, agent, model, owner, repo and account", async () => {
		const t = await openStand({ config: { accounts: { work: {} }, lanes: { default: {}, code: {} } } });
		const one = await t.add({ lane: "code", agent: "claude", prompt: "x", model: "opus", owner: "ann", account: "work" });
		const two = await t.add({ owner: "bob" });
		await t.start();
		t.clock.pass(MINUTE);
		await t.end(one, "completed", { exit_code: 0, usage: { cost_micro: 9 } });
		await t.succeed(two);
		for (const [by, name] of [
			["lane", "code"],
			["agent", "claude"],
			["model", "opus"],
			["owner", "ann"],
			["account", "work"],
		] as const) {
			const { groups } = await t.sluice.stats({ by });
			expect([by, groups.map((group) => [group.name, group.total.started, group.total.ended, group.total.cost_micro])]).toEqual([
				by,
				[
					[name, 1, 1, 9],
					[by === "lane" ? "default" : by === "owner" ? "bob" : null, 1, 1, 0],
				],
			]);
		}
		expect((await t.sluice.stats({ by: "repo" })).groups).toMatchObject([{ name: null, total: { ended: 2 } }]);
	});

	test("what runs counts for the slots in use, before it ends; a run over several hours in each of them", async () => {
		const t = await openStand({ config: { max_concurrent: 1 } });
		const id = await t.add();
		await t.start();
		t.clock.pass(90 * MINUTE);
		expect((await t.sluice.stats({ bucket: "hour", since: t.clock.now() - 2 * HOUR })).series.slots_used.slice(-2)).toEqual([1, 1]);
		await t.succeed(id);
		expect((await t.sluice.stats({ bucket: "hour", since: t.clock.now() - 2 * HOUR })).series.slot_ms.slice(-2)).toEqual([HOUR, HOUR / 2]);
	});

	test("a run that waits for jobs lends its slot: that time is not counted", async () => {
		const t = await openStand({ config: { max_concurrent: 1 } });
		const [parent, child] = [await t.add(), await t.add()];
		await t.start();
		t.clock.pass(MINUTE);
		await t.sluice.beginWait(t.run(parent), [child]);
		await t.start();
		t.clock.pass(10 * MINUTE);
		await t.succeed(child);
		t.clock.pass(MINUTE);
		await t.succeed(parent);
		expect((await total(t)).slot_ms).toBe(12 * MINUTE);
	});

	test("neither kernel entries nor dry runs nor refused calls", async () => {
		const t = await openStand();
		await t.sluice.kernel.agent.create({ name: "a" });
		await t.sluice.kernel.enqueue({ agent_pid: 1, kind: "k", payload: {} } as never).catch(() => undefined);
		await t.sluice.kernel.claim({ worker_id: "w" } as never).catch(() => undefined);
		await t.add();
		await t.sluice.plan();
		await t.sluice.complete({ job: 1, token: 99, exit_kind: "completed" }).catch(() => undefined);
		expect(await total(t)).toMatchObject({ started: 0, ended: 0, runs: 0 });
	});
});

describe("waits by cause", () => {
	const waitsOf = async (t: Stand) => (await t.sluice.stats()).waits;

	test("what a job was parked with, then what held its bucket, then its turn", async () => {
		const t = await openStand({ config: { max_concurrent: 1 } });
		const first = await t.add();
		const second = await t.add({ runnable_at: t.clock.now() + 5 * MINUTE });
		await t.start();
		await t.wait(5 * MINUTE);
		await t.wait(10 * MINUTE);
		await t.succeed(first);
		await t.sluice.pause({});
		await t.wait(20 * MINUTE);
		await t.sluice.resume({});
		expect(await t.start()).toEqual([second]);
		expect(await waitsOf(t)).toEqual({ paused: 20 * MINUTE, capacity: 10 * MINUTE, delayed: 5 * MINUTE });
	});

	test("a predecessor, a lock, an approval", async () => {
		const t = await openStand({ config: { max_concurrent: 9 } });
		const first = await t.add({ locks: [{ key: "db" }] });
		await t.start();
		const second = await t.add({ after: [first] });
		const third = await t.add({ locks: [{ key: "db" }] });
		const fourth = await t.add({ requires_approval: true });
		await t.wait(MINUTE);
		await t.succeed(first);
		await t.sluice.approve(fourth);
		expect(await t.start()).toEqual([third, second, fourth]);
		expect(await waitsOf(t)).toEqual({ dependencies: MINUTE, locks: MINUTE, approval: MINUTE });
	});

	test("a job that ends without a start has waited, too; a retry begins a new wait", async () => {
		const t = await openStand({ config: { max_concurrent: 1 } });
		const id = await t.add({ requires_approval: true });
		await t.wait(MINUTE);
		await t.sluice.cancel(id);
		t.clock.pass(HOUR);
		await t.sluice.retry(id);
		await t.wait(MINUTE);
		await t.sluice.approve(id);
		await t.start();
		expect(await waitsOf(t)).toEqual({ approval: 2 * MINUTE });
	});
});

describe("what is kept", () => {
	/** A job that runs for a minute, now. */
	async function one(t: Stand): Promise<void> {
		await t.add();
		const [id] = await t.start(1);
		t.clock.pass(MINUTE);
		await t.succeed(id as number);
	}

	test("the sums stay the same while hours are packed into hours and days", async () => {
		const t = await openStand({ config: { max_concurrent: 1, timezone: "Europe/Berlin" } });
		for (let count = 0; count < 60; count++) {
			await one(t);
			t.clock.pass(23 * HOUR);
			expect((await t.sluice.stats({ since: t.clock.now() - 300 * DAY, bucket: "day" })).total).toMatchObject({
				started: count + 1,
				succeeded: count + 1,
				slot_ms: (count + 1) * MINUTE,
			});
		}
		const days = await t.sluice.stats({ since: t.clock.now() - 300 * DAY, bucket: "day" });
		expect(days.series.ended.filter((count) => count === 1).length).toBeGreaterThan(54);
		const hours = await t.sluice.stats({ since: t.clock.now() - 30 * DAY, bucket: "hour" });
		expect(Math.max(...hours.series.ended)).toBe(1);
	});

	test("a year, and no longer", async () => {
		const t = await openStand();
		for (let count = 0; count < 30; count++) {
			await one(t);
			t.clock.pass(DAY);
		}
		t.clock.pass(330 * DAY);
		// Each pass drops a few days: a clock that is ahead for a moment must not cost the history.
		for (let count = 0; count < 80; count++) {
			await one(t);
			t.clock.pass(HOUR);
		}
		const found = await t.sluice.stats({ since: t.clock.now() - 365 * DAY });
		expect(found.known_since).toBeGreaterThan(t.clock.now() - 369 * DAY);
		expect(found.total.ended).toBeGreaterThan(99);
	});

	test("survives a restart, and the end of a run that a restart came between", async () => {
		const t = await openStand({ path: join(makeFolder(), "sluice.db") });
		const id = await t.add();
		await t.start();
		t.clock.pass(MINUTE);
		const again = await t.reopen();
		await again.sluice.complete({ ...t.run(id), exit_kind: "completed", exit_code: 0 });
		expect(await total(again)).toMatchObject({ started: 1, ended: 1, slot_ms: MINUTE });
	});

	test("gc forgets jobs, not what was counted of them", async () => {
		const t = await openStand();
		await one(t);
		t.clock.pass(DAY);
		expect(await t.sluice.gc({ days: 0 })).toMatchObject({ deleted: 1 });
		expect((await total(t)).ended).toBe(1);
	});

	test("thousands of owners take a few hundred cells", async () => {
		const t = await openStand({ config: { max_concurrent: -1, safety_cap: 0 } });
		for (let count = 0; count < 700; count++) await t.add({ owner: `o${count}` });
		const started = await t.start(1000);
		for (const id of started) await t.succeed(id);
		const found = await t.sluice.stats({ by: "owner" });
		expect(found.total).toMatchObject({ started: 700, succeeded: 700 });
		expect(found.groups.some(({ name, total: { ended } }) => name === "(other)" && ended > 300)).toBe(true);
	});
});

describe("what is refused", () => {
	test.each([
		[{ since: 5, until: 5 }, "since"],
		[{ by: "colour" }, "by"],
		[{ bucket: "week" }, "bucket"],
		[{ since: 0 }, "since"],
		[{ since: -1 }, "since"],
		[{ sinse: 1 }, "sinse"],
	])("%j", async (options, field) => {
		const t = await openStand();
		await expect(t.sluice.stats(options as never)).rejects.toMatchObject({ field });
	});

	test("hours of a time that has only days", async () => {
		const t = await openStand();
		const since = t.clock.now() - 100 * DAY;
		await expect(t.sluice.stats({ since, bucket: "hour" })).rejects.toThrow("bucket: hours are kept for 31 days");
	});
});

test("a fresh store: zeros, and no time of which anything is known", async () => {
	const t = await openStand({ clock: new FakeClock(), host: new FakeHost() });
	expect(await t.sluice.stats()).toMatchObject({ known_since: null, total: { ended: 0, utilisation: null }, groups: [] });
});
