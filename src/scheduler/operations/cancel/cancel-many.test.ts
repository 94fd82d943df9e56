// A cancel of very many jobs goes in slices: no transaction reads or ends more than a slice, other calls run in between, and none of the jobs starts meanwhile.

import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../../../../test/make/folder.ts";
import type { Scheduler } from "../../../contracts/scheduler.ts";
import type { Changes, Store, StoreRead } from "../../../contracts/store.ts";
import { chance, localHost, systemClock } from "../../../host/local.ts";
import { openSqlite } from "../../../stores/sqlite/store.ts";
import { createScheduler } from "../../library/index.ts";

/** The most that one transaction has read and ended so far. */
type Most = { rows: number; reads: number; ended: number; transactions: number };

/** Called once, at the first read that it accepts, which is answered when `act` is done. */
let onRead: { when: (request: StoreRead) => boolean; act: () => Promise<unknown> } | null = null;

function counted(store: Store, most: Most): Store {
	let now = { rows: 0, reads: 0, ended: 0 };
	return {
		...store,
		begin(intent) {
			now = { rows: 0, reads: 0, ended: 0 };
			most.transactions++;
			return store.begin(intent);
		},
		read<R extends StoreRead>(request: R) {
			const reply = store.read(request);
			now.reads++;
			now.rows += Array.isArray(reply) ? reply.length : 1;
			most.reads = Math.max(most.reads, now.reads);
			most.rows = Math.max(most.rows, now.rows);
			if (!onRead?.when(request)) return reply;
			const { act } = onRead;
			onRead = null;
			return act().then(() => reply);
		},
		write(changes: Changes) {
			now.ended += changes.done.length;
			most.ended = Math.max(most.ended, now.ended);
			return store.write(changes);
		},
	};
}

/** More than `readAtOnce` (cancel.ts), and several slices. */
const MANY = 2_500;
/** Bounds of one transaction: a slice that is read, or a piece that is ended with what follows from it. */
const MOST_ROWS = 4_500;
const MOST_READS = 2_500;
const MOST_ENDED = 700;

const CONFIG = { parents: { max_descendants: 10_000 } };
let [most, sluice, file]: [Most, Scheduler, string] = [] as never;
beforeEach(async () => {
	most = { rows: 0, reads: 0, ended: 0, transactions: 0 };
	file = `${makeFolder()}/sluice.db`;
	const store = counted(openSqlite(file), most);
	sluice = await createScheduler(
		{ drive: "auto", join: { name: "here" }, config: CONFIG },
		{ store, clock: systemClock, host: localHost, chance },
	);
	return () => sluice.close();
});

const jobs = (shape: (at: number) => object) =>
	Array.from({ length: MANY }, (_, at) => ({ name: `j${at}`, command: ["true"], ...shape(at) }));
const SHAPES: Record<string, (at: number) => object> = {
	chain: (at) => (at === 0 ? {} : { after: [`j${at - 1}`] }),
	fan: (at) => (at === 0 ? {} : { after: ["j0"] }),
	"free jobs": () => ({}),
};

function expectSlices(): void {
	expect(most.rows).toBeLessThan(MOST_ROWS);
	expect(most.reads).toBeLessThan(MOST_READS);
	expect(most.ended).toBeLessThan(MOST_ENDED);
}

const startCounting = () => Object.assign(most, { rows: 0, reads: 0, ended: 0, transactions: 0 });
const left = async () => (await sluice.status()).queued_total;

describe("no transaction takes more than a slice", () => {
	test.each(Object.keys(SHAPES))("cancel of the numbers of a %s", { timeout: 120_000 }, async (shape) => {
		await sluice.apply({ jobs: jobs(SHAPES[shape] as never) } as never);
		startCounting();
		const report = await sluice.cancelAll(Array.from({ length: MANY }, (_, at) => at + 1));
		expect(report).toMatchObject({ requested: [], ended: [], refused: [] });
		expect(report.cancelled).toHaveLength(MANY);
		expect(await left()).toBe(0);
		expectSlices();
	});

	test.each(["chain", "fan"])("cancel of the first of a %s with its subtree", { timeout: 120_000 }, async (shape) => {
		await sluice.apply({ jobs: jobs(SHAPES[shape] as never) } as never);
		startCounting();
		const { cancelled } = await sluice.cancel(1, { subtree: true });
		expect(cancelled).toHaveLength(MANY);
		expect(await left()).toBe(0);
		expectSlices();
	});

	test.each<[string, (at: number) => number]>([
		["children", () => 1],
		// Half of them are children of job 1, and each of those has a child.
		["grandchildren", (at) => (at < MANY / 2 ? 1 : at - MANY / 2 + 2)],
	])("cancel of a job with its %s", { timeout: 120_000 }, async (_, parentOf) => {
		await sluice.add({ command: ["true"] });
		const below = Array.from({ length: MANY }, (_, at) => ({ command: ["true"], parent: parentOf(at) }));
		await sluice.apply({ jobs: below.slice(0, MANY / 2) });
		await sluice.apply({ jobs: below.slice(MANY / 2) });
		startCounting();
		const { cancelled } = await sluice.cancel(1, { subtree: true });
		expect(cancelled).toHaveLength(MANY + 1);
		expect(await left()).toBe(0);
		expectSlices();
	});

	test("cancel of a job with children, more jobs after it, and a chain behind one of the children", { timeout: 120_000 }, async () => {
		await sluice.add({ command: ["true"] });
		await sluice.apply({ jobs: Array.from({ length: MANY / 2 }, () => ({ command: ["true"], parent: 1 })) });
		await sluice.apply({ jobs: Array.from({ length: MANY / 2 }, () => ({ command: ["true"], after: [1] })) });
		await sluice.apply({
			jobs: [
				{ name: "behind", command: ["true"], after: [MANY / 2 + 1] },
				{ command: ["true"], after: ["behind"] },
			],
		});
		startCounting();
		const { cancelled } = await sluice.cancel(1, { subtree: true });
		expect(cancelled).toHaveLength(MANY + 3);
		expect(await left()).toBe(0);
		expectSlices();
	});

	test("cancel of a small subtree in a long queue", { timeout: 120_000 }, async () => {
		await sluice.apply({ jobs: jobs(() => ({})) } as never);
		const tail = await sluice.add({ command: ["true"], after: [1] } as never);
		startCounting();
		expect((await sluice.cancel(1, { subtree: true })).cancelled).toEqual([1, (tail as { job: { id: number } }).job.id]);
		expect(await left()).toBe(MANY - 1);
		expectSlices();
	});

	test("clear of all waiting jobs", { timeout: 120_000 }, async () => {
		await sluice.apply({ jobs: jobs(() => ({})) } as never);
		startCounting();
		expect((await sluice.clear()).cleared).toHaveLength(MANY);
		expect(await left()).toBe(0);
		expectSlices();
	});
});

test.each<[string, (at: number) => object]>([
	["children", () => ({ parent: 1 })],
	["jobs after it", () => ({ after: [1] })],
	["a chain after it, its last job declared first", (at) => ({ after: [at === MANY - 1 ? 1 : `j${at + 1}`] })],
])("what another host adds below the subtree while it is read is cancelled as well: %s", { timeout: 120_000 }, async (_, shape) => {
	await sluice.apply({ jobs: Array.from({ length: MANY }, () => ({ command: ["true"] })) });
	const other = await createScheduler(
		{ drive: "manual", config: CONFIG },
		{ store: openSqlite(file), clock: systemClock, host: localHost, chance },
	);
	onTestFinished(() => other.close());
	onRead = {
		when: (request) => request.read === "active" && request.limit === 1_000,
		act: () => other.apply({ jobs: jobs(shape) } as never),
	};
	const { cancelled, ended } = await sluice.cancelAll([1], { subtree: true });
	expect(onRead).toBeNull();
	// The end of a job with a higher number may block one with a lower number before its piece comes.
	expect([...cancelled, ...ended]).toHaveLength(MANY + 1);
	expect(await left()).toBe(MANY - 1);
});

test("other calls are answered in between, a claim gets none of the jobs, and the report separates jobs that had ended or ran", {
	timeout: 120_000,
}, async () => {
	await sluice.apply({ jobs: jobs(SHAPES["free jobs"] as never) } as never);
	const [run] = await sluice.claim({ worker: "w", max: 1 });
	await sluice.cancel(MANY);
	const ids = Array.from({ length: MANY }, (_, at) => at + 1);
	startCounting();
	let over = false;
	const cancelling = sluice.cancelAll(ids, { reason: "late" }).finally(() => {
		over = true;
	});
	let between = 0;
	while (!over) {
		await sluice.status();
		if (!over) between++;
	}
	const report = await cancelling;
	expect(between).toBeGreaterThan(5);
	expect(report.requested).toEqual([run?.job.id]);
	expect(report.refused.map(({ job }) => job)).toEqual([MANY]);
	expect(report.cancelled).toHaveLength(MANY - 2);
	expect(await sluice.claim({ worker: "w", max: 5 })).toEqual([]);
	expectSlices();
});

test("a number that does not exist refuses the whole call before any job has ended", { timeout: 120_000 }, async () => {
	await sluice.apply({ jobs: jobs(SHAPES["free jobs"] as never) } as never);
	const ids = Array.from({ length: MANY + 1 }, (_, at) => at + 1);
	await expect(sluice.cancelAll(ids)).rejects.toMatchObject({ code: "not_found" });
	expect(await left()).toBe(MANY);
});
