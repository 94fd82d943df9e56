// Eight processes and one file: no job is claimed twice, none is lost, and caps hold at every instant.

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type EventRow, openScheduler, type Scheduler } from "../../src/index.ts";
import { SCHEMA_VERSION } from "../../src/stores/migrations/index.ts";
import { Child } from "../make/daemons/child.ts";
import { makeFolder } from "../make/folder.ts";
import { pragma } from "../make/stores/store-file.ts";

const PROCESSES = 8;
const JOBS = 10_000;
const LONG = 240_000;

type Race = { path: string; take: "payload" | "kernel" | "work"; max: (index: number) => number; config?: Record<string, unknown> };

/** All of them open the file first and begin together. */
async function line({ path, take, max, config = {} }: Race): Promise<Child[]> {
	const children = Array.from(
		{ length: PROCESSES },
		(_, index) => new Child("claimer", { path, worker: `worker-${index}`, take, max: max(index), config }),
	);
	for (const child of children) expect(await child.next()).toBe("ready");
	for (const child of children) child.send("go");
	return children;
}

async function gotBy(child: Child): Promise<number[]> {
	for (;;) {
		const message = await child.next<number | { got: number[] }>();
		if (typeof message === "object") return message.got;
	}
}

async function withFile<T>(path: string, use: (sluice: Scheduler) => Promise<T>, config: Record<string, unknown> = {}): Promise<T> {
	const sluice = await openScheduler({ path, drive: "manual", config });
	try {
		return await use(sluice);
	} finally {
		await sluice.close();
	}
}

const sorted = (ids: number[]) => [...ids].sort((a, b) => a - b);

async function eventsOf(sluice: Scheduler): Promise<EventRow[]> {
	await sluice.mark("custom:test:last");
	const found: EventRow[] = [];
	for await (const event of sluice.events()) {
		if (event.kind === "marked") return found;
		found.push(event);
	}
	return found;
}

describe("eight processes", () => {
	test(
		"open a file that is not there yet, all at once: one makes it, all can use it",
		async () => {
			for (let round = 0; round < 3; round++) {
				const path = join(makeFolder(), "sluice.db");
				const children = await line({ path, take: "payload", max: () => 1 });
				expect((await Promise.all(children.map(gotBy))).flat()).toEqual([]);
				expect(pragma(path, "user_version")).toBe(SCHEMA_VERSION);
			}
		},
		LONG,
	);

	test(
		"claim 10,000 jobs from one file: 10,000 distinct, none lost",
		async () => {
			const path = join(makeFolder(), "sluice.db");
			const config = { max_concurrent: -1, safety_cap: 0 };
			const jobs = Array.from({ length: JOBS }, (_, n) => ({ payload: { n } }));
			const added = await withFile(path, async (sluice) => (await sluice.apply({ jobs })).jobs);
			expect(added).toHaveLength(JOBS);

			// From one at a time to fifteen: small ones meet more often, large ones take more at once.
			const children = await line({ path, take: "payload", max: (index) => 1 + 2 * index, config });
			const got = await Promise.all(children.map(gotBy));
			expect(sorted(got.flat())).toEqual(added);
			expect(got.filter((some) => some.length > 0).length).toBeGreaterThan(1);

			// What the file says is what they were told.
			await withFile(path, async (sluice) => {
				const running = await sluice.list({ status: ["running"], limit: JOBS });
				got.forEach((some, index) => {
					const its = running.filter((job) => job.run?.worker === `worker-${index}`);
					expect(its.map((job) => job.id)).toEqual(sorted(some));
				});
				const tokens = new Set(running.map((job) => job.run?.token));
				expect(tokens.size).toBe(JOBS);
			});
		},
		LONG,
	);

	test(
		"claim 10,000 kernel entries from one file: 10,000 distinct, none lost",
		async () => {
			const path = join(makeFolder(), "sluice.db");
			const added = await withFile(path, async ({ kernel }) => {
				const { pid } = await kernel.agent.create({ name: "owner" });
				const calls = Array.from({ length: JOBS }, (_, n) => kernel.enqueue({ pid, priority: n % 3, payload: { n } }));
				return (await Promise.all(calls)).map((entry) => entry.sched_id);
			});
			const children = await line({ path, take: "kernel", max: (index) => 1 + 2 * index });
			const got = await Promise.all(children.map(gotBy));
			expect(sorted(got.flat())).toEqual(sorted(added));
			await withFile(path, async ({ kernel }) => {
				expect((await kernel.list({ state: "dispatched", limit: 1 })).total).toBe(JOBS);
				expect((await kernel.list({ state: "queued", limit: 1 })).total).toBe(0);
			});
		},
		LONG,
	);

	test(
		"run 1,000 jobs under caps: never more at once than a cap allows",
		async () => {
			const path = join(makeFolder(), "sluice.db");
			const config = { max_concurrent: 5, lanes: { default: {}, narrow: { max: 2 } }, resources: { build: 3 }, poll_interval: 10 };
			const jobs = Array.from({ length: 1000 }, (_, n) => ({
				payload: { n },
				lane: n % 2 === 0 ? "narrow" : "default",
				...(n % 3 === 0 ? { uses: { build: 2 } } : {}),
				...(n % 10 === 0 ? { locks: ["db"] } : {}),
			}));
			const added = await withFile(path, async (sluice) => (await sluice.apply({ jobs })).jobs, config);

			const children = await line({ path, take: "work", max: () => 3, config });
			let left = added.length;
			const got = await Promise.all(
				children.map(async (child) => {
					for (;;) {
						const message = await child.next<number | { got: number[] }>();
						if (typeof message === "object") return message.got;
						left--;
						if (left === 0) for (const one of children) one.send("stop");
					}
				}),
			);
			expect(sorted(got.flat())).toEqual(added);

			const events = await withFile(path, eventsOf, config);
			// Events are in the order of commits: replaying them shows what was true at each instant.
			const running = new Set<number>();
			const most = { all: 0, narrow: 0, build: 0, db: 0 };
			const started = new Map<number, number>();
			for (const { kind, job } of events) {
				if (job === null) continue;
				if (kind === "started") {
					running.add(job);
					started.set(job, (started.get(job) ?? 0) + 1);
				} else if (kind === "ended" || kind === "requeued") running.delete(job);
				const spec = [...running].map((id) => jobs[added.indexOf(id)]!);
				most.all = Math.max(most.all, spec.length);
				most.narrow = Math.max(most.narrow, spec.filter((one) => one.lane === "narrow").length);
				most.build = Math.max(most.build, 2 * spec.filter((one) => one.uses).length);
				most.db = Math.max(most.db, spec.filter((one) => one.locks).length);
			}
			expect(running.size).toBe(0);
			expect([...started.values()].every((times) => times === 1)).toBe(true);
			expect(started.size).toBe(1000);
			expect(most.all).toBeLessThanOrEqual(5);
			expect(most.narrow).toBeLessThanOrEqual(2);
			expect(most.build).toBeLessThanOrEqual(3);
			expect(most.db).toBeLessThanOrEqual(1);
			// And they did run side by side: else this would show nothing.
			expect(most.all).toBeGreaterThan(1);
		},
		LONG,
	);
});
