// What others tell in their notices, end to end: nobody asks for what was told, and what was told is what is there.

import { describe, expect, onTestFinished, test } from "vitest";
import { makeJob } from "../../../test/make/job.ts";
import { admin, insist, newSchema, opened, urlOf, withServer, write } from "../../../test/make/stores/postgres-stores.ts";
import { until } from "../../../test/make/until.ts";
import { makeRow } from "../../../test/store-conformance.ts";
import type { Scheduler } from "../../contracts/scheduler.ts";
import { type Changes, noChanges, StaleTransaction, type Store } from "../../contracts/store.ts";
import { localHost } from "../../host/local.ts";
import { openScheduler } from "../../open.ts";

withServer();

const CAP = 4;
const pause = (ms: number) => new Promise<void>((resolve) => void localHost.after(ms, resolve));

describe("a store", () => {
	const adding = (id: number): Changes => ({
		...noChanges(),
		insert: [makeRow(makeJob({ id }))],
		specs: [[id, { version: 1, payload: id } as never]],
		events: [{ seq: id, at: 5, kind: "updated", job: id, by: "me", data: {} }],
		records: [
			["depth", "default", id],
			["meta", "ids", { job: id }],
		],
	});
	const add = (store: Store, id: number) => insist(store, async () => store.write(adding(id)));

	/** Two that know what is there. `heard`: notices of the first. */
	async function pair() {
		const schema = newSchema();
		const [one, other] = [await opened(urlOf(schema)), await opened(urlOf(schema))];
		let heard = 0;
		one.listen?.(() => heard++);
		for (let turn = 0; heard === 0; turn++) {
			await write(other, "up", turn);
			await pause(20);
		}
		for (const store of [other, one]) await insist(store, async () => store.read({ read: "next_due" }));
		const next = async (deed: () => Promise<unknown>) => {
			// Longer than notices are put off for.
			await pause(30);
			const before = heard;
			await deed();
			await until(() => heard > before);
		};
		return { schema, one, other, next };
	}

	test("does not ask for what was told: what it knows still holds", async () => {
		const { schema, one, other, next } = await pair();
		await next(() => add(other, 1));
		await next(() => add(other, 2));
		const begun = await one.begin();
		expect(begun).toMatchObject({ fresh: true });
		expect(begun.arrivals?.map(({ insert, specs }) => [insert[0]?.id, specs[0]?.[0]])).toEqual([
			[1, 1],
			[2, 2],
		]);
		await one.write({ ...noChanges(), records: [["usage", "global", 1]] });
		await one.commit();
		expect(await one.begin()).toEqual({ fresh: true, now: expect.any(Number) });
		await one.commit();
		const [row] = await admin(`SELECT counters, (SELECT count(*) FROM "${schema}".job) FROM "${schema}".head`);
		expect(row).toEqual(['[["depth","default",2],\n["meta","ids",{"job":2}],\n["usage","global",1]]', "2"]);
	});

	test("asks where something else has happened in between, and is outrun where it did not hear of it in time", async () => {
		const { one, other, next } = await pair();
		await next(() => add(other, 1));
		await next(() => write(other, "k", 1));
		expect(await insist(one, async () => one.read({ read: "records", kind: "depth", keys: ["default"] }))).toEqual([["default", 1]]);
		await next(() => add(other, 2));
		expect(await one.begin()).toMatchObject({ fresh: true });
		await add(other, 3);
		await one.write(adding(4));
		await expect(one.commit()).rejects.toThrow(StaleTransaction);
		await one.rollback();
		expect(await one.begin()).toMatchObject({ fresh: false });
		expect(await one.read({ read: "records", kind: "depth", keys: ["default"] })).toEqual([["default", 3]]);
		await one.commit();
	});
});

describe("schedulers", () => {
	async function open(url: string, name: string): Promise<Scheduler> {
		const scheduler = await openScheduler({ url, join: { name }, config: { max_concurrent: CAP, safety_cap: 0 }, drive: "manual" });
		onTestFinished(() => scheduler.close());
		return scheduler;
	}

	test("one that has looked into the line before takes what was added since, in its order", async () => {
		const url = urlOf(newSchema());
		const [one, other] = [await open(url, "one"), await open(url, "other")];
		const done = async (scheduler: Scheduler, expected: unknown) => {
			const [claimed] = await scheduler.claim({ worker: "w", max: 1 });
			expect(claimed?.spec.payload).toBe(expected);
			const { job, run } = claimed as NonNullable<typeof claimed>;
			await scheduler.complete({ job: job.id, token: run.token, exit_kind: "completed", exit_code: 0 });
		};
		// The listeners are there when both have heard of something.
		await pause(200);
		for (let turn = 0; turn < 5; turn++) {
			await one.add({ payload: "own" });
			await done(one, "own");
			await pause(30);
			await other.status();
			await other.add({ payload: "later" });
			await pause(30);
			await other.add({ payload: "first", priority: 5 });
			await pause(30);
			await done(one, "first");
			await done(one, "later");
			await pause(30);
		}
	});

	test("one that was told of a job that waits for its lock wakes it when it gives the lock back", async () => {
		const url = urlOf(newSchema());
		const [one, other] = [await open(url, "one"), await open(url, "other")];
		const take = async (expected: unknown) => {
			const [claimed] = await one.claim({ worker: "w", max: 1 });
			expect(claimed?.spec.payload).toBe(expected);
			return claimed as NonNullable<typeof claimed>;
		};
		const end = ({ job, run }: Awaited<ReturnType<typeof take>>) =>
			one.complete({ job: job.id, token: run.token, exit_kind: "completed", exit_code: 0 });
		await pause(200);
		for (let turn = 0; turn < 5; turn++) {
			await one.add({ payload: "holds", locks: ["x"] });
			const held = await take("holds");
			await pause(30);
			await other.status();
			expect(await other.add({ payload: "waits", locks: ["x"] })).toMatchObject({ job: { status: "waiting_on_locks" } });
			await pause(30);
			await end(held);
			await end(await take("waits"));
			await pause(30);
		}
	});

	test("each remembers what the others have added as if it had read it", async () => {
		const url = urlOf(newSchema());
		const [one, other] = [await open(url, "one"), await open(url, "other")];
		const running: { scheduler: Scheduler; job: number; token: number }[] = [];
		let queued = 0;
		let seed = 7;
		const below = (n: number) => {
			seed = (seed * 48_271) % 2_147_483_647;
			return seed % n;
		};
		for (let turn = 0; turn < 80; turn++) {
			const scheduler = below(2) === 0 ? one : other;
			const deed = below(6);
			if (deed < 4) {
				queued++;
				await scheduler.add({ payload: { turn }, priority: below(3) });
				// Mostly told, sometimes put off: both ways have to come out the same.
				await pause(below(4) === 0 ? 0 : 15);
			} else if (deed === 4) {
				const max = 1 + below(2);
				const claimed = await scheduler.claim({ worker: "w", max });
				// Nobody overlooks one that has come.
				expect(claimed.length).toBe(Math.min(max, CAP - running.length, queued));
				queued -= claimed.length;
				for (const { job, run } of claimed) {
					running.push({ scheduler, job: job.id, token: run.token });
				}
			} else {
				const ended = running.shift();
				if (ended) await ended.scheduler.complete({ job: ended.job, token: ended.token, exit_kind: "completed", exit_code: 0 });
			}
		}
		const reader = await open(url, "reader");
		const counted = async (scheduler: Scheduler) => {
			const { queued_total, running } = await scheduler.status();
			return { queued_total, running, jobs: (await scheduler.list({ limit: 1_000 })).map(({ id, status }) => `${id} ${status}`).sort() };
		};
		const truth = await counted(reader);
		expect(truth.jobs.length).toBeGreaterThan(20);
		for (const scheduler of [one, other]) expect(await counted(scheduler)).toEqual(truth);
		// Whoever goes on takes them in the same order as one that has read everything anew.
		const order: number[] = [];
		const taken = new Set(running.map(({ job }) => job));
		for (const { job, token, scheduler } of running) await scheduler.complete({ job, token, exit_kind: "completed", exit_code: 0 });
		for (let turn = 0; ; turn++) {
			const scheduler = [one, other, reader][turn % 3] as Scheduler;
			const [claimed] = await scheduler.claim({ worker: "w", max: 1 });
			if (!claimed) break;
			expect(taken.has(claimed.job.id)).toBe(false);
			taken.add(claimed.job.id);
			order.push(claimed.job.id);
			await scheduler.complete({ job: claimed.job.id, token: claimed.run.token, exit_kind: "completed", exit_code: 0 });
		}
		expect(order.length).toBe(truth.queued_total);
	});
});
