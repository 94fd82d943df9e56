// How many reads locks cost when many jobs wait for one key: other callers wait for each read.

import { expect, onTestFinished, test } from "vitest";
import type { Store } from "../../contracts/store.ts";
import { chance, localHost, systemClock } from "../../host/local.ts";
import { openSqlite } from "../../stores/sqlite/store.ts";
import { createScheduler } from "../library/index.ts";

test.each(["exclusive", "shared"] as const)(
	"taking a key that hundreds of ready jobs of many levels want reads little (%s)",
	async (mode) => {
		const store = openSqlite(":memory:");
		let reads = 0;
		const counting = {
			...store,
			read: (request: Parameters<Store["read"]>[0]) => {
				reads++;
				return store.read(request);
			},
		} as Store;
		const sluice = await createScheduler({ drive: "manual" }, { store: counting, clock: systemClock, host: localHost, chance });
		onTestFinished(() => sluice.close());
		const jobs = Array.from({ length: 300 }, (_, n) => ({
			command: ["true"],
			priority: n % 30,
			locks: [{ key: "x", mode: n === 29 ? mode : ("exclusive" as const) }],
		}));
		await sluice.apply({ jobs });
		reads = 0;
		const [first, ...more] = await sluice.claim({ worker: "w", max: 4 });
		expect([first?.job.priority, more.length]).toEqual([29, 0]);
		expect(reads).toBeLessThan(60);
		// One of the evicted jobs comes next, and it is the best of them.
		await sluice.complete({ job: first?.job.id as number, token: first?.run.token as number, exit_kind: "completed" });
		const [next] = await sluice.claim({ worker: "w", max: 4 });
		expect(next?.job.priority).toBe(29);
	},
);

test("taking a shared lock neither re-parks nor reads the other ready sharers", async () => {
	const store = openSqlite(":memory:");
	const seen: string[] = [];
	const counting = {
		...store,
		read: (request: Parameters<Store["read"]>[0]) => {
			seen.push(request.read);
			return store.read(request);
		},
	} as Store;
	const sluice = await createScheduler({ drive: "manual" }, { store: counting, clock: systemClock, host: localHost, chance });
	onTestFinished(() => sluice.close());
	const shares = { command: ["true"], locks: ["x:shared"] };
	await sluice.apply({ jobs: [...Array.from({ length: 600 }, () => shares), { command: ["last"], locks: ["x"] }] });
	await sluice.claim({ worker: "w", max: 1 });
	seen.length = 0;
	const claimed = await sluice.claim({ worker: "w", max: 3 });
	expect(claimed).toHaveLength(3);
	expect(seen.filter((read) => read === "links" || read === "locks" || read === "buckets")).toEqual([]);
	expect((await sluice.why(601)).reasons[0]).toMatchObject({ code: "locks", holder: ["job:1", "job:2", "job:3", "job:4"] });
});

test("taking a lock exclusively re-parks all ready sharers, in pieces", async () => {
	const store = openSqlite(":memory:");
	const sluice = await createScheduler({ drive: "manual" }, { store, clock: systemClock, host: localHost, chance });
	onTestFinished(() => sluice.close());
	const shares = Array.from({ length: 500 }, () => ({ command: ["true"], locks: ["x:shared"] }));
	await sluice.apply({ jobs: [...shares, { command: ["alone"], priority: 9, locks: ["x"] }] });
	const [alone, ...others] = await sluice.claim({ worker: "w", max: 4 });
	expect([alone?.job.id, others.length]).toEqual([501, 0]);
	await sluice.tick();
	expect(await sluice.list({ status: ["queued"] })).toEqual([]);
	await sluice.complete({ job: 501, token: alone?.run.token as number, exit_kind: "completed" });
	await sluice.tick();
	expect((await sluice.claim({ worker: "w", max: 4 })).map(({ job }) => job.id)).toEqual([1, 2, 3, 4]);
});

test("the ends of many runs whose locks have waiters read for all of them at once", async () => {
	const store = openSqlite(":memory:");
	let reads = 0;
	const far = {
		...store,
		read: async (request: Parameters<Store["read"]>[0]) => {
			reads++;
			return store.read(request);
		},
	} as unknown as Store;
	const config = { max_concurrent: -1, safety_cap: 0 };
	const sluice = await createScheduler({ drive: "manual", config }, { store: far, clock: systemClock, host: localHost, chance });
	onTestFinished(() => sluice.close());
	const jobs = Array.from({ length: 200 }, (_, n) => ({ command: ["true"], priority: n % 3, locks: [`lock-${n % 50}`] }));
	await sluice.apply({ jobs });
	for (let round = 0; round < 4; round++) {
		const claimed = await sluice.claim({ worker: "w", max: 100 });
		expect(claimed).toHaveLength(50);
		reads = 0;
		await Promise.all(
			claimed.map(({ job, run }) => sluice.complete({ job: job.id, token: run.token, exit_kind: "completed", exit_code: 0 })),
		);
		expect(reads).toBeLessThan(8);
	}
});

test("a job that becomes ready and starts in one transaction leaves no link to its locks after its end", async () => {
	const store = openSqlite(":memory:");
	const sluice = await createScheduler({ drive: "manual" }, { store, clock: systemClock, host: localHost, chance });
	onTestFinished(() => sluice.close());
	const [, [claimed]] = await Promise.all([sluice.add({ command: ["true"], locks: ["x"] }), sluice.claim({ worker: "w" })]);
	expect(claimed?.job.id).toBe(1);
	await sluice.complete({ job: 1, token: claimed?.run.token as number, exit_kind: "completed" });
	expect(await store.read({ read: "links", key: "x", role: "wants", after: 0, limit: 10 })).toEqual([]);
});

test("a claim with room for one job reads only a few, and nothing without room", async () => {
	const store = openSqlite(":memory:");
	let documents = 0;
	const far = {
		...store,
		read: async (request: Parameters<Store["read"]>[0]) => {
			if (request.read === "jobs") documents += request.ids.length;
			return store.read(request);
		},
	} as unknown as Store;
	const sluice = await createScheduler(
		{ drive: "manual", config: { max_concurrent: 1 } },
		{ store: far, clock: systemClock, host: localHost, chance },
	);
	onTestFinished(() => sluice.close());
	await sluice.apply({ jobs: Array.from({ length: 400 }, () => ({ command: ["true"] })) });
	documents = 0;
	expect(await sluice.claim({ worker: "w", max: 100 })).toHaveLength(1);
	expect(documents).toBeLessThanOrEqual(16);
	documents = 0;
	expect(await sluice.claim({ worker: "w", max: 100 })).toHaveLength(0);
	expect(documents).toBe(0);
});

test("each holder has a record, by which a later process finds it among thousands of jobs that want another lock", async () => {
	const store = openSqlite(":memory:");
	const written: string[] = [];
	const reads: string[] = [];
	const noting = {
		...store,
		read: (request: Parameters<Store["read"]>[0]) => {
			reads.push(request.read);
			return store.read(request);
		},
		write: (changes: Parameters<Store["write"]>[0]) => {
			for (const [kind, key, value] of [...changes.records, ...changes.fresh])
				if (kind === "lock") written.push(`${key} ${JSON.stringify(value)}`);
			return store.write(changes);
		},
	} as Store;
	const parts = { store: noting, clock: systemClock, host: localHost, chance };
	const first = await createScheduler({ drive: "manual" }, parts);
	await first.add({ command: ["true"], locks: ["own"] });
	reads.length = 0;
	const [claimed] = await first.claim({ worker: "w", max: 1 });
	// No other job is affected, and the cache knows that the lock is free: taking it reads nothing.
	expect(reads.filter((read) => read === "locks" || read === "records" || read === "links")).toEqual([]);
	expect(written.splice(0)).toEqual(['own {"holders":[[1,"exclusive"]]}']);
	await first.apply({ jobs: Array.from({ length: 2500 }, () => ({ command: ["true"], locks: ["crowd"] })) });

	const sluice = await createScheduler({ drive: "manual" }, parts);
	onTestFinished(() => sluice.close());
	expect(await sluice.locks()).toEqual([{ key: "own", holders: [{ job: 1, mode: "exclusive" }], reserved_for: null }]);
	const added = await sluice.add({ command: ["true"], locks: ["crowd", "own"] });
	expect(added).toMatchObject({ job: { status: "waiting_on_locks" } });
	const { id } = (added as { job: { id: number } }).job;
	expect(JSON.stringify((await sluice.why(id)).reasons)).toContain("own");
	expect(written).toEqual([]);
	await sluice.complete({ job: 1, token: claimed?.run.token as number, exit_kind: "completed" });
	expect(written.splice(0)).toEqual(["own null"]);
	expect((await sluice.show(id)).status).toBe("queued");
	await sluice.claim({ worker: "w", max: 1 });
	expect(written).toEqual(['crowd {"holders":[[2,"exclusive"]]}']);
});
